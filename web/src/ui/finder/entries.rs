//! Builds the entries of the finder, the dialog behind Ctrl K: pages, runs and commands whose names match, and lines
//! of a run that contain the typed text.

use leptos::prelude::*;
use prosescope_core::pages::view::{HitKind, RunList, SearchHit, SearchedRun};

use crate::route::{Page, Route, Tab};
use crate::ui::commands::COMMANDS;
use crate::ui::state::{App, Desk, key};

/// The maximum number of runs that are listed because their names match.
const RUNS: usize = 8;

/// The number of characters to show before a match in a wide window.
const BEFORE: usize = 64;

/// The number of characters to show before a match in a narrow window, as on a phone.
const BEFORE_NARROW: usize = 18;

/// The width below which a window is narrow, in pixels.
const NARROW: f64 = 700.0;

/// A line of the finder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FinderLine {
    /// The heading of the entry's group.
    pub(super) group: String,
    /// The entry's text.
    pub(super) text: String,
    /// The range of characters that match the search text; `None` for an entry found by its name.
    pub(super) mark: Option<(usize, usize)>,
    /// The second text of the line: the place that contains the match, the id of a run, or the key for a command.
    pub(super) more: String,
    /// The action when the user selects the entry.
    pub(super) act: Act,
}

/// The action of an entry.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Act {
    /// Goes to a route. With a line number, also marks the searched text, which is in that line of a long value.
    Go(Route, Option<u64>),
    /// Executes the command with this index in [`COMMANDS`].
    Command(usize),
}

/// Returns the pages, runs and commands whose names contain each word of the text. An empty text matches all of them.
pub(super) fn named(app: App, text: &str) -> Vec<FinderLine> {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let fits = |name: &str| {
        let name = name.to_lowercase();
        words.iter().all(|word| name.contains(word.as_str()))
    };
    let entry = |group: &str, text: &str, more: &str, act: Act| FinderLine {
        group: group.to_owned(),
        text: text.to_owned(),
        mark: None,
        more: more.to_owned(),
        act,
    };
    let mut all = Vec::new();
    if let Route::Run { run, .. } = &*app.route.read_untracked() {
        let offered = app.offered.read_untracked();
        all.extend(offered.iter().map(|page| {
            let go = Act::Go(Route::page(run, *page), None);
            let key = page.key(&offered).unwrap_or_default();
            entry("Pages", page.title(), &key, go)
        }));
    }
    if let Route::Workflow { place, id, .. } = &*app.route.read_untracked() {
        all.extend(Tab::ALL.into_iter().zip('1'..).map(|(tab, key)| {
            let go = Act::Go(Route::workflow(place, id, tab), None);
            entry("Pages", tab.title(), &key.to_string(), go)
        }));
        let place = place.clone();
        let go = Act::Go(Route::Workflows { place }, None);
        all.push(entry("Pages", "All workflows", "", go));
    }
    all.retain(|page| fits(&page.text));
    if let Desk::Open(list) = &*app.desk.read_untracked() {
        let runs = list.runs.iter().filter(|run| {
            let name = format!("{} {} {}", program(run), run.id, run.status);
            list.runs.len() > 1 && fits(&name)
        });
        all.extend(runs.take(RUNS).map(|run| {
            let go = Act::Go(Route::page(&key(list, run), Page::Trace), None);
            let more = format!("{} · {}", run.id, run.status);
            entry("Runs", program(run), &more, go)
        }));
    }
    let commands = COMMANDS.iter().enumerate();
    let commands = commands.filter(|(_, of)| fits(of.name) && (of.can)(app));
    all.extend(commands.map(|(at, of)| entry("Commands", of.name, of.key, Act::Command(at))));
    all
}

fn program(run: &prosescope_core::pages::view::RunSummary) -> &str {
    run.program.as_deref().unwrap_or(&run.id)
}

/// Returns the number of characters to show before a match.
fn before() -> usize {
    let width = window().inner_width().ok().and_then(|width| width.as_f64());
    match width {
        Some(width) if width < NARROW => BEFORE_NARROW,
        _ => BEFORE,
    }
}

/// Returns the heading of a group: `Values`, or `Values, and 3 more lines` if some lines are not listed.
fn titled(what: &str, more: u64) -> String {
    match more {
        0 => what.to_owned(),
        more => format!("{what}, and {more} more lines"),
    }
}

/// Returns the matches in a run. If `several` runs are searched, each heading contains the name of the run.
pub(super) fn hits(list: &RunList, found: &SearchedRun, several: bool) -> Vec<FinderLine> {
    let Some(run) = list.runs.iter().find(|run| run.place == found.run) else {
        return Vec::new();
    };
    let (key, name) = (key(list, run), program(run));
    let before = before();
    let mut all = Vec::new();
    for group in &found.groups {
        let what = kind(group.kind);
        let title = match several {
            true => titled(&format!("{what} of {name} {}", run.id), group.more),
            false => titled(what, group.more),
        };
        all.extend(group.hits.iter().map(|hit| {
            let range = (hit.range.0 as usize, hit.range.1 as usize);
            let (text, mark) = around(&hit.text, range, before);
            // For a match in a statement, only the row's number is added. The rest of [`SearchHit::place`] would repeat
            // the statement.
            let own = hit
                .place
                .split_once(' ')
                .filter(|(id, _)| id.starts_with('#'));
            let own = own.filter(|_| group.kind == HitKind::Statements);
            FinderLine {
                group: title.clone(),
                text,
                mark: Some(mark),
                more: own.map_or(hit.place.as_str(), |(id, _)| id).to_owned(),
                act: Act::Go(route(&key, group.kind, hit), Some(hit.text_line)),
            }
        }));
    }
    all
}

/// Cuts off the beginning of a line so that the match in it is visible. Returns the line, and the range of the match in
/// the new line.
fn around(line: &str, (from, to): (usize, usize), before: usize) -> (String, (usize, usize)) {
    let skipped = from.saturating_sub(before);
    if skipped < 2 {
        return (line.to_owned(), (from, to));
    }
    // The visible part begins at the beginning of a word, if a word begins before the match.
    let mut before = line.chars().take(from).skip(skipped);
    let skipped = match before.position(char::is_whitespace) {
        Some(blank) => skipped + blank + 1,
        None => skipped,
    };
    let rest: String = line.chars().skip(skipped).collect();
    let shift = |at: usize| at - skipped + 1;
    (format!("…{rest}"), (shift(from), shift(to)))
}

fn route(run: &str, kind: HitKind, hit: &SearchHit) -> Route {
    let item = |page, item: String| Route::item(run, page, item);
    match hit {
        SearchHit {
            gate: Some(gate), ..
        } => item(Page::Gates, gate.clone()),
        SearchHit {
            binding: Some(at), ..
        } => item(Page::Bindings, at.to_string()),
        SearchHit {
            agent: Some(at), ..
        } => item(Page::Agents, at.to_string()),
        // The program page shows a long prompt completely. A row of the trace has only its first lines.
        SearchHit {
            line: Some(line), ..
        } if kind == HitKind::Prompts => item(Page::Program, line.to_string()),
        SearchHit { id: Some(id), .. } => item(Page::Trace, id.to_string()),
        SearchHit {
            node: Some(node), ..
        } => item(Page::Trace, format!("~{node}")),
        SearchHit {
            line: Some(line), ..
        } => item(Page::Program, line.to_string()),
        SearchHit {
            file: Some(file), ..
        } => item(Page::Files, format!("file:{file}")),
        SearchHit {
            table: Some(table), ..
        } => item(Page::Files, format!("table:{table}")),
        _ => Route::page(run, Page::Trace),
    }
}

fn kind(kind: HitKind) -> &'static str {
    match kind {
        HitKind::Statements => "Statements",
        HitKind::Errors => "Errors",
        HitKind::Prompts => "Prompts",
        HitKind::Values => "Values",
        HitKind::Memories => "Memories",
        HitKind::Gates => "Gates",
        HitKind::Files => "Files",
        HitKind::Tables => "Other tables",
    }
}
