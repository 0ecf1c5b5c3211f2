//! Draws the page of issues in a run's records, each with its place and the way to fix it.

use leptos::prelude::*;
use prosescope_core::model::issue::Severity;
use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::{IssueView, IssuesView, RuleView};

use crate::route::Page;
use crate::text::words;
use crate::ui::detail::{self, Beside};
use crate::ui::list::{Cursor, Mark, Pages, Rows};
use crate::ui::load::{ask_page, loaded};
use crate::ui::pages::coded;
use crate::ui::parts::{Empty, Go};
use crate::ui::state::ShownRun;

/// Draws the page of issues.
pub(super) fn draw() -> AnyView {
    let answer = ask_page(pages::Page::Issues);
    let cursor = Cursor::new();
    loaded(answer, move |view: IssuesView| {
        view! { <List view cursor/> }.into_any()
    })
}

#[component]
fn List(view: IssuesView, cursor: Cursor) -> impl IntoView {
    let counts = view.counts;
    if view.issues.is_empty() {
        return view! {
            <Empty what="Nothing found" why="Reading found no issues. `prosescope check` checks more."/>
        }
        .into_any();
    }
    let parts = [
        (counts.error, "error", "errors"),
        (counts.warning, "warning", "warnings"),
        (counts.note, "note", "notes"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(n, ..)| *n > 0)
        .map(|(n, one, many)| words::counted(n.into(), one, many))
        .collect();
    let selected = detail::selected();
    let issues: Vec<(usize, IssueView)> = view.issues.iter().cloned().enumerate().collect();
    let all = StoredValue::new(view.issues);
    provide_context(all);
    provide_context(StoredValue::new(view.rules));
    let on_key = detail::opening(Page::Issues, selected, |at, _: &(usize, IssueView)| {
        (at + 1).to_string()
    });
    if let Some(n) = selected
        .get_untracked()
        .and_then(|item| item.parse::<u64>().ok())
    {
        cursor.begin(n.saturating_sub(1));
    }
    let mark = move |(n, _): &(usize, IssueView)| Mark {
        selected: selected
            .get()
            .is_some_and(|item| item == (n + 1).to_string()),
        ..Mark::default()
    };
    let list = view! {
        <Rows pages=Pages::of(issues) height=52.0 label="Issues" class="issue-rows" cursor draw=row mark on_key/>
    };
    view! {
        <div class="tools"><span class="soft">{parts.join(", ")}</span></div>
        <Beside list=list.into_any() open=selected.into() label="Issue" draw=open/>
    }
    .into_any()
}

/// Draws the severity of an issue: an icon and a word.
pub(super) fn severity(of: Severity) -> AnyView {
    let (class, mark, word) = match of {
        Severity::Error => ("pill bad", "✗", "error"),
        Severity::Warning => ("pill wait", "!", "warning"),
        Severity::Note => ("pill quiet", "i", "note"),
    };
    view! { <span class=class><i aria-hidden="true">{mark}</i><span>{word}</span></span> }
        .into_any()
}

fn row(_: u64, (_, issue): &(usize, IssueView)) -> AnyView {
    let (what, hint) = (issue.issue.message.clone(), issue.issue.hint.clone());
    let second = if issue.place.is_empty() {
        hint.clone()
    } else {
        format!("{} · {hint}", issue.place)
    };
    view! {
        <span role="gridcell">{severity(issue.issue.severity)}</span>
        <span role="gridcell" class="two" title=format!("{what}\n{hint}")><span>{coded(&what)}</span><small>{coded(&second)}</small></span>
        <span role="gridcell" class="wide mono faint cut" title=issue.issue.rule.clone()>{issue.issue.rule.clone()}</span>
    }
    .into_any()
}

fn open(item: String) -> AnyView {
    let run = ShownRun::get();
    let all: StoredValue<Vec<IssueView>> = expect_context();
    let at = item.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    let Some(issue) = at.and_then(|at| all.with_value(|all| all.get(at).cloned())) else {
        return view! { <Empty what="Nothing there" why="No issue has that number."/> }.into_any();
    };
    let found = issue.issue;
    let rules: StoredValue<Vec<RuleView>> = expect_context();
    let rule = rules.with_value(|all| all.iter().find(|r| r.name == found.rule).cloned());
    let rule = rule.map(|rule| {
        view! {
            <dt>"What it means"</dt><dd>{coded(&rule.meaning)}</dd>
            <dt>"Why is this bad"</dt><dd>{coded(&rule.why)}</dd>
            <dt>"What to do"</dt><dd>{coded(&rule.fix)}</dd>
        }
    });
    let row = found
        .location
        .row
        .filter(|_| found.location.table.as_deref() == Some("execution"));
    let node = issue.node.map(|node| {
        let item = row.map_or_else(|| format!("~{node}"), |id| id.to_string());
        view! { <li><Go to=run.item(Page::Trace, item)>"The row in the trace"</Go></li> }
    });
    let binding = issue.binding.map(|binding| {
        view! { <li><Go to=run.item(Page::Bindings, binding)>"The value"</Go></li> }
    });
    let table = found.location.table.clone().map(|table| {
        view! { <li><Go to=run.item(Page::Files, format!("table:{table}"))>"Table "<code>{table.clone()}</code></Go></li> }
    });
    let file = found.location.file.clone().filter(|_| found.location.table.is_none()).map(|file| {
        view! { <li><Go to=run.item(Page::Files, format!("file:{file}"))>"File "<code>{file.clone()}</code></Go></li> }
    });
    view! {
        <p class="line-up">{severity(found.severity)}<code class="faint">{found.rule.clone()}</code></p>
        <h2 class="says">{coded(&found.message)}</h2>
        {(!found.hint.is_empty()).then(|| view! { <p>{coded(&found.hint)}</p> })}
        <dl class="pairs"><dt>"Where"</dt><dd>{if issue.place.is_empty() { "the run as a whole".to_owned() } else { issue.place }}</dd>{rule}</dl>
        <ul class="links">{node}{binding}{table}{file}</ul>
    }
    .into_any()
}
