//! Runs the search of the finder. It sends short requests for one run or workflow after the other, until all are
//! searched or the text changes.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::view::SearchedRun;
use prosescope_workflow::search;

use crate::protocol::{Request, Trouble};
use crate::text::words;
use crate::ui::state::App;

/// The pause in typing after which the search starts.
const REST: Duration = Duration::from_millis(150);

/// A run or a workflow to search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Where {
    /// A run, by its path in the open source.
    Run(String),
    /// A workflow, by the path of its database and the workflow's id.
    Workflow(String, String),
}

impl Where {
    /// Returns the kinds of texts that are searched, in words for the user.
    pub(super) fn kinds(&self) -> &'static str {
        match self {
            Where::Run(_) => {
                "statements, errors, prompts, values, memories, gates, names of files, other tables"
            }
            Where::Workflow(..) => "messages, questions, runs, events, data",
        }
    }
}

/// The matches in one run or workflow.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Found {
    /// The matches in a run.
    Run(SearchedRun),
    /// The matches in a workflow, with the path of its database and the workflow's id.
    Workflow(String, String, search::Found),
}

impl Found {
    fn is_done(&self) -> bool {
        match self {
            Found::Run(run) => run.done,
            Found::Workflow(.., found) => found.done,
        }
    }

    /// Returns the number of matching lines.
    fn lines(&self) -> u64 {
        let lines = |hits: usize, more: u64| hits as u64 + more;
        match self {
            Found::Run(run) => {
                let groups = run.groups.iter();
                groups
                    .map(|group| lines(group.hits.len(), group.more))
                    .sum()
            }
            Found::Workflow(.., found) => {
                let groups = found.groups.iter();
                groups
                    .map(|group| lines(group.hits.len(), group.more))
                    .sum()
            }
        }
    }
}

/// A search: the matches so far, and the progress.
#[derive(Clone, Copy)]
pub(super) struct Search {
    /// The matches in each searched run or workflow.
    pub(super) found: RwSignal<Vec<Found>>,
    /// The progress of the search.
    pub(super) state: RwSignal<State>,
    /// The number of the current search. Answers to earlier searches are ignored.
    number: StoredValue<u32>,
}

/// The progress of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum State {
    /// No search is in progress.
    #[default]
    Idle,
    /// The search continues; the text describes its progress.
    Busy(String),
    /// The search is finished. The text describes the result, and what was not searched.
    Done(String),
}

impl Search {
    pub(super) fn new() -> Search {
        Search {
            found: RwSignal::default(),
            state: RwSignal::default(),
            number: StoredValue::new(0),
        }
    }

    /// Stops the search; the matches so far stay.
    pub(super) fn stop(self) {
        self.number.update_value(|number| *number += 1);
        self.state.update(|state| {
            if let State::Busy(words) = state {
                *state = State::Done(format!("Stopped. {words}"));
            }
        });
    }

    /// Starts a search in the given runs or workflow, and drops the previous search.
    pub(super) fn begin(self, app: App, text: String, places: Vec<Where>) {
        self.stop();
        let number = self.number.get_value();
        let text = text.trim().to_owned();
        self.found.set(Vec::new());
        if text.is_empty() || places.is_empty() {
            self.state.set(State::Idle);
            return;
        }
        self.state.set(State::Busy("Reading …".to_owned()));
        set_timeout(
            move || {
                if self.is_current(number) {
                    spawn_local(self.go_on(app, number, text, places));
                }
            },
            REST,
        );
    }

    /// Returns whether the search with this number is still current. A search is not current any more if another
    /// search has started or the finder is closed.
    fn is_current(self, number: u32) -> bool {
        self.number.try_get_value() == Some(number)
    }

    async fn go_on(self, app: App, number: u32, text: String, places: Vec<Where>) {
        let (many, mut left) = (places.len(), Vec::new());
        let kinds = places.first().map_or("", Where::kinds);
        for (at, place) in places.into_iter().enumerate() {
            loop {
                let answer = ask(app, &place, &text).await;
                if !self.is_current(number) {
                    return;
                }
                let found = match answer {
                    Ok(found) => found,
                    Err(trouble) => {
                        let (Where::Run(place) | Where::Workflow(place, _)) = place;
                        left.push(format!("{place}: {}", trouble.cause));
                        break;
                    }
                };
                self.state.set(State::Busy(progress(at, many, &found)));
                let is_done = found.is_done();
                self.found.update(|all| match all.get_mut(at) {
                    Some(before) if *before != found => *before = found,
                    Some(_) => {}
                    None => {
                        all.resize(at, Found::Run(SearchedRun::default()));
                        all.push(found);
                    }
                });
                if is_done {
                    break;
                }
            }
        }
        let done = self
            .found
            .with_untracked(|found| done(found, &left, &text, kinds));
        self.state.set(State::Done(done));
    }
}

async fn ask(app: App, place: &Where, text: &str) -> Result<Found, Trouble> {
    let text = text.to_owned();
    match place.clone() {
        Where::Run(place) => app
            .ask(Request::Search { place, text })
            .await
            .map(Found::Run),
        Where::Workflow(place, id) => {
            let (at, of) = (place.clone(), id.clone());
            let found = app.ask(Request::SearchWorkflow { place, id, text }).await;
            found.map(|found| Found::Workflow(at, of, found))
        }
    }
}

fn progress(at: usize, many: usize, found: &Found) -> String {
    let run = match found {
        Found::Run(run) => run,
        Found::Workflow(.., found) => {
            return format!("{} read", words::counted(found.events, "event", "events"));
        }
    };
    let read = format!(
        "{} of {} read",
        words::bytes(run.read),
        words::bytes(run.of.max(run.read))
    );
    match many {
        1 => read,
        _ => format!("Run {} of {many}: {read}", at + 1),
    }
}

fn done(found: &[Found], left: &[String], text: &str, kinds: &str) -> String {
    let lines = found.iter().map(Found::lines).sum();
    let count = match lines {
        0 => format!("No match for “{text}”. Searched: {kinds}"),
        _ => words::counted(lines, "line", "lines"),
    };
    let (mut skipped, mut more) = (left.to_vec(), 0);
    for found in found {
        match found {
            Found::Run(run) => {
                let of = run.skipped.iter();
                skipped.extend(of.map(|skipped| format!("{} ({})", skipped.place, skipped.why)));
                more += u64::from(run.more_skipped);
            }
            Found::Workflow(.., found) if found.cut > 0 => skipped.push(format!(
                "the rest of {}",
                words::counted(found.cut, "long text", "long texts")
            )),
            Found::Workflow(..) => {}
        }
    }
    match skipped.as_slice() {
        [] => format!("{count}."),
        [one] if more == 0 => format!("{count}. Not searched: {one}."),
        [first, rest @ ..] => format!(
            "{count}. Not searched: {first}, and {} more.",
            rest.len() as u64 + more
        ),
    }
}
