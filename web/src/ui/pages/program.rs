//! Draws the page of the program, with the executions of each line.

use leptos::prelude::*;
use prosescope_core::pages::view::{
    NodeRef, ProgramLine, ProgramView, PropertyView, RunPart, icon,
};

use super::node_link;
use crate::protocol::Request;
use crate::route::Page;
use crate::text::words;
use crate::ui::detail::{self, Beside};
use crate::ui::list::{Cursor, Mark, Pages, Rows, Stretch};
use crate::ui::load::{ask, loaded};
use crate::ui::parts::{Empty, EmptyPart, Pill, binding_links, tone_class};
use crate::ui::state::{App, ShownRun};

/// The facts about the program as a whole: its path, where its source was found, and a remark. Empty texts if unknown.
#[derive(Debug, Clone, Default, PartialEq)]
struct About {
    path: String,
    from: String,
    note: String,
}

/// Draws the page of the program.
pub(super) fn draw() -> AnyView {
    let (app, run) = (App::get(), ShownRun::get());
    let about = RwSignal::new(About::default());
    let pages = Pages::new(move |from, len| async move {
        let request = Request::Program {
            place: run.place(),
            from: from as u32,
            len,
        };
        let view: ProgramView = app.ask(request).await?;
        let new = About {
            path: view.path.unwrap_or_default(),
            from: view.source_from.unwrap_or_default(),
            note: view.note.unwrap_or_default(),
        };
        // `try_` methods are used, because the user may have left the page.
        if about.try_get_untracked().is_some_and(|old| old != new) {
            about.try_set(new);
        }
        Ok(Stretch {
            rows: view.lines,
            total: view.total.into(),
        })
    });
    pages.want(0..1);
    let selected = detail::selected();
    let cursor = Cursor::new();
    // The list begins at the line that failed, or at which the run stands.
    let line = run.overview.with_untracked(|overview| {
        let overview = overview.as_ref()?.as_ref().ok()?;
        overview.line()
    });
    if let Some(line) = line.filter(|_| selected.read_untracked().is_none()) {
        cursor.go(u64::from(line).saturating_sub(1));
    }
    Effect::new(move || {
        if let Some(line) = selected.get().and_then(|item| item.parse::<u64>().ok()) {
            cursor.go(line.saturating_sub(1));
        }
    });
    let on_key = detail::opening(Page::Program, selected, |_, line: &ProgramLine| {
        line.line.to_string()
    });
    let mark = move |line: &ProgramLine| Mark {
        selected: selected
            .get()
            .is_some_and(|item| item == line.line.to_string()),
        ..Mark::default()
    };
    // Only whether the list is empty is tracked. Otherwise the list would be drawn anew, and lose the focus, with each
    // added row.
    let nothing = Memo::new(move |_| pages.total.get() == Some(0));
    let list = move || {
        if nothing.get() {
            return view! { <EmptyPart part=RunPart::Program what="No program in this run" why=about.get().note/> }
                .into_any();
        }
        view! {
            <Rows pages height=22.0 label="Program" class="program-rows" cursor draw=draw_line mark on_key/>
        }
        .into_any()
    };
    view! {
        <div class="tools">
            <span class="mono soft cut">{move || about.get().path}</span>
            <span class="faint">{move || {
                let from = about.get().from;
                if from.is_empty() { from } else { format!("from {from}") }
            }}</span>
            {move || pages.total.get().filter(|n| *n > 0).map(|n| view! { <span class="faint">{words::counted(n, "line", "lines")}</span> })}
        </div>
        {move || {
            let note = about.get().note;
            (!note.is_empty() && pages.total.get() != Some(0)).then(|| view! { <p class="aside">{words::first_upper(&note)}"."</p> })
        }}
        <Beside list=list.into_any() open=selected.into() label="Line" draw=open/>
    }
    .into_any()
}

fn draw_line(_: u64, line: &ProgramLine) -> AnyView {
    let class = match line.role.as_str() {
        "comment" => "src comment",
        "property" => "src property",
        "continuation" => "src continuation",
        _ => "src",
    };
    let happened = !line.status.is_empty();
    let mark = if happened { icon(&line.status) } else { "" };
    let title = line.annotation.clone();
    let tone = tone_class(&line.status);
    view! {
        <span role="gridcell" class="no">{line.line}</span>
        <span role="gridcell" class=format!("sign {}", if happened { tone } else { "" }) title=title.clone() aria-label=title.clone()>{mark}</span>
        <span role="gridcell" class=class title=line.text.clone()>{line.text.clone()}</span>
        <span role="gridcell" class="notes">
            {line.position.then(|| view! { <span class="here">"here"</span> })}
            {line.bindings.first().map(|binding| view! { <code class="wide">"→ "{binding.name.clone()}</code> })}
            {happened.then(|| view! { <span class=format!("said {tone}")>{title}</span> })}
        </span>
    }
    .into_any()
}

fn open(item: String) -> AnyView {
    let run = ShownRun::get();
    let Ok(number) = item.parse::<u32>() else {
        return view! { <Empty what="Nothing there" why="That is not a line number."/> }.into_any();
    };
    let answer = ask(move || Request::Program {
        place: run.place(),
        from: number.saturating_sub(1),
        len: 1,
    });
    loaded(answer, move |view: ProgramView| {
        match view.lines.into_iter().next() {
            Some(line) => view! { <Line line/> }.into_any(),
            None => view! { <Empty what="Nothing there" why="The program has no such line."/> }
                .into_any(),
        }
    })
}

#[component]
fn Line(line: ProgramLine) -> impl IntoView {
    let run = ShownRun::get();
    let nodes = line.nodes.clone();
    let answer = ask(move || Request::Nodes {
        place: run.place(),
        nodes: nodes.clone(),
    });
    let rest = line.node_count.saturating_sub(line.nodes.len() as u32);
    let nothing = line.nodes.is_empty();
    view! {
        <p class="faint">"Line "{line.line}{(!line.kind.is_empty()).then(|| format!(" · {}", line.kind))}</p>
        <h2 class="statement">{match line.text.trim() {
            "" => "An empty line".into_any(),
            text => view! { <code>{text.to_owned()}</code> }.into_any(),
        }}</h2>
        {(!line.status.is_empty()).then(|| view! {
            <p class="line-up"><Pill status=line.status.clone() words=line.annotation.clone()/></p>
        })}
        {line.guessed.then(|| view! { <p class="aside">"Some rows below may belong to another line: their recorded text is shortened or reworded."</p> })}
        {stated(&line.properties)}
        {(!line.bindings.is_empty()).then(|| view! {
            <h3>"Values written here"</h3>
            {binding_links(&line.bindings)}
        })}
        <h3>"What ran here"</h3>
        {if nothing {
            view! { <p class="faint">"Nothing is recorded for this line."</p> }.into_any()
        } else {
            view! {
                {loaded(answer, move |nodes: Vec<NodeRef>| view! {
                    <ul class="nodes">{nodes.iter().map(|node| view! { <li>{node_link(node)}</li> }).collect_view()}</ul>
                }.into_any())}
            }
            .into_any()
        }}
        {(rest > 0).then(|| view! { <p class="faint">"and "{words::count(rest.into())}" more"</p> })}
    }
}

/// Draws the properties of a statement, as written in the program; `None` if the statement has no properties.
pub(super) fn stated(properties: &[PropertyView]) -> Option<impl IntoView + use<>> {
    (!properties.is_empty()).then(|| {
        let pairs = properties.iter().map(|property| {
            view! { <dt>{property.name.clone()}</dt><dd>{property.text.clone()}</dd> }
        });
        view! { <dl class="pairs">{pairs.collect_view()}</dl> }
    })
}
