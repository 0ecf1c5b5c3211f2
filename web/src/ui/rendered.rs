//! Draws Markdown as a tree of HTML elements and text nodes, so that no HTML in a run's text is interpreted.

use leptos::attr::custom::custom_attribute;
use leptos::prelude::*;

use crate::text::markdown::{Kind, Part, Rendered, render};

/// The maximum number of bytes of a text that are rendered. The rest is shown only as raw text.
const MOST: usize = 200_000;

/// Draws a text as Markdown.
#[component]
pub(crate) fn Markdown(
    /// The Markdown text.
    text: String,
) -> impl IntoView {
    let end = text.floor_char_boundary(MOST);
    let Rendered { parts, cut } = render(text.get(..end).unwrap_or_default());
    let rest = (cut || end < text.len()).then(|| {
        view! { <p class="faint">"Only the beginning is shown. Choose “Raw” to see the whole text."</p> }
    });
    view! { <div class="prose">{draw(parts)}{rest}</div> }
}

fn draw(parts: Vec<Part>) -> Vec<AnyView> {
    parts.into_iter().map(one).collect()
}

fn one(part: Part) -> AnyView {
    match part {
        Part::Text(text) => text.into_any(),
        Part::Code(text) => view! { <code>{text}</code> }.into_any(),
        Part::Block(language, text) => {
            let language = (!language.is_empty()).then_some(language);
            view! { <pre tabindex="0" title=language>{text}</pre> }.into_any()
        }
        Part::Break => view! { <br/> }.into_any(),
        Part::Rule => view! { <hr/> }.into_any(),
        Part::Tick(done) => {
            let (mark, word) = if done {
                ("☑", "done")
            } else {
                ("☐", "open")
            };
            view! { <span class="tick" role="img" aria-label=word>{mark}</span> }.into_any()
        }
        Part::Link(address, parts) => {
            let title = address.clone();
            view! { <a href=address title=title target="_blank" rel="noopener noreferrer">{draw(parts)}</a> }
                .into_any()
        }
        Part::Node(kind, parts) => node(kind, parts),
    }
}

fn node(kind: Kind, parts: Vec<Part>) -> AnyView {
    let inside = match kind {
        Kind::Table => return table(parts),
        _ => draw(parts),
    };
    match kind {
        Kind::Paragraph => view! { <p dir="auto">{inside}</p> }.into_any(),
        Kind::Heading(level) => {
            // The levels begin at 3, because levels 1 and 2 are the page's own headings.
            let shown = u32::from(level) + 2;
            view! { <p class=format!("h h{level}") dir="auto" role="heading" {..custom_attribute("aria-level", shown.min(6))}>{inside}</p> }.into_any()
        }
        Kind::Quote => view! { <blockquote dir="auto">{inside}</blockquote> }.into_any(),
        Kind::List => view! { <ul dir="auto">{inside}</ul> }.into_any(),
        Kind::Numbered(first) => {
            view! { <ol dir="auto" start=first.to_string()>{inside}</ol> }.into_any()
        }
        Kind::Item => view! { <li dir="auto">{inside}</li> }.into_any(),
        Kind::Emphasis => view! { <em>{inside}</em> }.into_any(),
        Kind::Strong => view! { <strong>{inside}</strong> }.into_any(),
        Kind::Struck => view! { <s>{inside}</s> }.into_any(),
        Kind::Row => view! { <tr>{inside}</tr> }.into_any(),
        Kind::Cell => view! { <td dir="auto">{inside}</td> }.into_any(),
        Kind::Table | Kind::Plain => view! { <span>{inside}</span> }.into_any(),
    }
}

fn table(rows: Vec<Part>) -> AnyView {
    let mut rows = rows.into_iter();
    let head = rows.next().map(|row| {
        let cells = match row {
            Part::Node(Kind::Row, cells) => cells,
            other => vec![other],
        };
        let cells = cells.into_iter().map(|cell| match cell {
            Part::Node(Kind::Cell, parts) => view! { <th dir="auto">{draw(parts)}</th> }.into_any(),
            other => view! { <th>{one(other)}</th> }.into_any(),
        });
        view! { <thead><tr>{cells.collect_view()}</tr></thead> }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Table">
            <table>{head}<tbody>{draw(rows.collect())}</tbody></table>
        </div>
    }
    .into_any()
}
