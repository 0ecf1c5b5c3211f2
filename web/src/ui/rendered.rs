//! Draws Markdown as a tree of HTML elements and text nodes, so that no HTML in a run's text is interpreted.

use leptos::attr::custom::custom_attribute;
use leptos::prelude::*;

use crate::text::markdown::{ContainerKind, RenderedPart, RenderedText, render};

/// The maximum number of bytes of a text that are rendered. The rest is shown only as raw text.
const MOST: usize = 200_000;

/// The length in bytes of the longest cell of a table that stays on one line, such as a date.
const SHORT: usize = 20;

/// Draws a text as Markdown.
#[component]
pub(crate) fn Markdown(
    /// The Markdown text.
    text: String,
) -> impl IntoView {
    let end = text.floor_char_boundary(MOST);
    let RenderedText { parts, cut } = render(text.get(..end).unwrap_or_default());
    let rest = (cut || end < text.len()).then(|| {
        view! { <p class="faint">"Only the beginning is shown. Choose “Raw” to see the whole text."</p> }
    });
    view! { <div class="prose">{draw(parts)}{rest}</div> }
}

fn draw(parts: Vec<RenderedPart>) -> Vec<AnyView> {
    parts.into_iter().map(one).collect()
}

fn one(part: RenderedPart) -> AnyView {
    match part {
        RenderedPart::Text(text) => text.into_any(),
        RenderedPart::Code(text) => view! { <code>{text}</code> }.into_any(),
        RenderedPart::Block(language, text) => {
            let language = (!language.is_empty()).then_some(language);
            view! { <pre tabindex="0" title=language>{text}</pre> }.into_any()
        }
        RenderedPart::Break => view! { <br/> }.into_any(),
        RenderedPart::Rule => view! { <hr/> }.into_any(),
        RenderedPart::Tick(done) => {
            let (mark, word) = if done {
                ("☑", "done")
            } else {
                ("☐", "open")
            };
            view! { <span class="tick" role="img" aria-label=word>{mark}</span> }.into_any()
        }
        RenderedPart::Link(address, parts) => {
            let title = address.clone();
            view! { <a href=address title=title target="_blank" rel="noopener noreferrer">{draw(parts)}</a> }
                .into_any()
        }
        RenderedPart::Node(kind, parts) => node(kind, parts),
    }
}

fn node(kind: ContainerKind, parts: Vec<RenderedPart>) -> AnyView {
    let is_short = matches!(&*parts, [RenderedPart::Text(text)] if text.len() <= SHORT);
    let inside = match kind {
        ContainerKind::Table => return table(parts),
        _ => draw(parts),
    };
    match kind {
        ContainerKind::Paragraph => view! { <p dir="auto">{inside}</p> }.into_any(),
        ContainerKind::Heading(level) => {
            // The levels begin at 3, because levels 1 and 2 are the page's own headings.
            let shown = u32::from(level) + 2;
            view! { <p class=format!("h h{level}") dir="auto" role="heading" {..custom_attribute("aria-level", shown.min(6))}>{inside}</p> }.into_any()
        }
        ContainerKind::Quote => view! { <blockquote dir="auto">{inside}</blockquote> }.into_any(),
        ContainerKind::List => view! { <ul dir="auto">{inside}</ul> }.into_any(),
        ContainerKind::Numbered(first) => {
            view! { <ol dir="auto" start=first.to_string()>{inside}</ol> }.into_any()
        }
        ContainerKind::Item => view! { <li dir="auto">{inside}</li> }.into_any(),
        ContainerKind::Emphasis => view! { <em>{inside}</em> }.into_any(),
        ContainerKind::Strong => view! { <strong>{inside}</strong> }.into_any(),
        ContainerKind::Struck => view! { <s>{inside}</s> }.into_any(),
        ContainerKind::Row => view! { <tr>{inside}</tr> }.into_any(),
        ContainerKind::Cell => {
            view! { <td dir="auto" class:short=is_short>{inside}</td> }.into_any()
        }
        ContainerKind::Table | ContainerKind::Plain => view! { <span>{inside}</span> }.into_any(),
    }
}

fn table(rows: Vec<RenderedPart>) -> AnyView {
    let mut rows = rows.into_iter();
    let head = rows.next().map(|row| {
        let cells = match row {
            RenderedPart::Node(ContainerKind::Row, cells) => cells,
            other => vec![other],
        };
        let cells = cells.into_iter().map(|cell| match cell {
            RenderedPart::Node(ContainerKind::Cell, parts) => {
                view! { <th dir="auto">{draw(parts)}</th> }.into_any()
            }
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
