//! What can be gone to: pages, runs and commands by their names, and places where the text was found.

use leptos::prelude::*;
use prosescope_core::view::{Hit, HitKind, RunList, SearchedRun};

use crate::route::{Page, Route};
use crate::ui::state::{App, Desk, key};

/// Runs that are offered by name at once.
const RUNS: usize = 8;

/// Characters that are shown before a match.
const BEFORE: usize = 64;

/// The same in a narrow window, as a telephone's.
const BEFORE_NARROW: usize = 18;

/// A window of fewer pixels is narrow.
const NARROW: f64 = 700.0;

/// A line of the finder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    /// What it stands under.
    pub(super) group: String,
    /// What it says.
    pub(super) text: String,
    /// Which characters of it are the text that was looked for.
    pub(super) mark: Option<(usize, usize)>,
    /// Where it is, or a key that does the same.
    pub(super) more: String,
    /// What it does.
    pub(super) act: Act,
}

/// What an entry does.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Act {
    /// Goes there; of a hit, the text is marked, which is in this line of what is opened.
    Go(Route, Option<u64>),
    /// Lets a person choose files.
    Files,
    /// Lets a person choose a folder.
    Folder,
    /// Lists the keys.
    Help,
}

/// What is offered by its name: all of it without a text, else what has each of its words.
pub(super) fn named(app: App, text: &str) -> Vec<Entry> {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let fits = |name: &str| {
        let name = name.to_lowercase();
        words.iter().all(|word| name.contains(word.as_str()))
    };
    let entry = |group: &str, text: &str, more: &str, act: Act| Entry {
        group: group.to_owned(),
        text: text.to_owned(),
        mark: None,
        more: more.to_owned(),
        act,
    };
    let mut all = Vec::new();
    if let Route::Run { run, .. } = &*app.route.read_untracked() {
        all.extend(Page::ALL.into_iter().map(|page| {
            let go = Act::Go(Route::page(run, page), None);
            entry("Pages", page.title(), &page.key().to_string(), go)
        }));
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
    let commands = [
        ("Open files", "Ctrl O", Act::Files),
        ("Open a folder", "", Act::Folder),
        ("All runs", "g", Act::Go(Route::Home, None)),
        ("Keys", "?", Act::Help),
    ];
    let commands = commands.into_iter().filter(|(name, ..)| fits(name));
    all.extend(commands.map(|(name, keys, act)| entry("Commands", name, keys, act)));
    all
}

fn program(run: &prosescope_core::view::RunSummary) -> &str {
    run.program.as_deref().unwrap_or(&run.id)
}

/// The hits of a run; with several runs, each group says whose it is.
pub(super) fn hits(list: &RunList, found: &SearchedRun, several: bool) -> Vec<Entry> {
    let Some(run) = list.runs.iter().find(|run| run.place == found.run) else {
        return Vec::new();
    };
    let (key, name) = (key(list, run), program(run));
    let width = window().inner_width().ok().and_then(|width| width.as_f64());
    let before = match width {
        Some(width) if width < NARROW => BEFORE_NARROW,
        _ => BEFORE,
    };
    let mut all = Vec::new();
    for group in &found.groups {
        let what = kind(group.kind);
        let more = match group.more {
            0 => String::new(),
            more => format!(", and {more} more lines"),
        };
        let title = match several {
            true => format!("{what} of {name} {}{more}", run.id),
            false => format!("{what}{more}"),
        };
        all.extend(group.hits.iter().map(|hit| {
            let range = (hit.range.0 as usize, hit.range.1 as usize);
            let (text, mark) = around(&hit.text, range, before);
            // A statement is its own place.
            let own = hit
                .place
                .split_once(' ')
                .filter(|(id, _)| id.starts_with('#'));
            let own = own.filter(|_| group.kind == HitKind::Statements);
            Entry {
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

/// A line from so many characters before the match on, so that the window shows it; with the match's place in it.
fn around(line: &str, (from, to): (usize, usize), before: usize) -> (String, (usize, usize)) {
    let skipped = from.saturating_sub(before);
    if skipped < 2 {
        return (line.to_owned(), (from, to));
    }
    // From the beginning of a word on, where one begins before the match.
    let mut before = line.chars().take(from).skip(skipped);
    let skipped = match before.position(char::is_whitespace) {
        Some(blank) => skipped + blank + 1,
        None => skipped,
    };
    let rest: String = line.chars().skip(skipped).collect();
    let shift = |at: usize| at - skipped + 1;
    (format!("…{rest}"), (shift(from), shift(to)))
}

fn route(run: &str, kind: HitKind, hit: &Hit) -> Route {
    let item = |page, item: String| Route::item(run, page, item);
    match hit {
        Hit {
            gate: Some(gate), ..
        } => item(Page::Gates, gate.clone()),
        Hit {
            binding: Some(at), ..
        } => item(Page::Bindings, at.to_string()),
        Hit {
            agent: Some(at), ..
        } => item(Page::Agents, at.to_string()),
        // A prompt is read whole in the program; a row has its first lines.
        Hit {
            line: Some(line), ..
        } if kind == HitKind::Prompts => item(Page::Program, line.to_string()),
        Hit { id: Some(id), .. } => item(Page::Trace, id.to_string()),
        Hit {
            node: Some(node), ..
        } => item(Page::Trace, format!("~{node}")),
        Hit {
            line: Some(line), ..
        } => item(Page::Program, line.to_string()),
        Hit {
            file: Some(file), ..
        } => item(Page::Files, format!("file:{file}")),
        Hit {
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
