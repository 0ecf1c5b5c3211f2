//! Runs the search of the finder. It sends short requests for one run after the other, until all are
//! searched or the text changes.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::pages::view::SearchedRun;

use crate::protocol::{Request, Trouble};
use crate::text::words;
use crate::ui::state::App;

/// The pause in typing after which the search starts.
const REST: Duration = Duration::from_millis(150);

/// The kinds of texts that are searched, in words for the user.
pub(super) const KINDS: &str =
    "statements, errors, prompts, values, memories, gates, names of files, other tables";

/// A search: the matches so far, and the progress.
#[derive(Clone, Copy)]
pub(super) struct Search {
    /// The matches in each searched run.
    pub(super) found: RwSignal<Vec<SearchedRun>>,
    /// The progress of the search.
    pub(super) state: RwSignal<SearchState>,
    /// The number of the current search. Answers to earlier searches are ignored.
    number: StoredValue<u32>,
}

/// The progress of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum SearchState {
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
            if let SearchState::Busy(words) = state {
                *state = SearchState::Done(format!("Stopped. {words}"));
            }
        });
    }

    /// Starts a search in the runs at these paths of the open source, and drops the previous search.
    pub(super) fn begin(self, app: App, text: String, places: Vec<String>) {
        self.stop();
        let number = self.number.get_value();
        let text = text.trim().to_owned();
        self.found.set(Vec::new());
        if text.is_empty() || places.is_empty() {
            self.state.set(SearchState::Idle);
            return;
        }
        self.state.set(SearchState::Busy("Reading …".to_owned()));
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

    async fn go_on(self, app: App, number: u32, text: String, places: Vec<String>) {
        let (many, mut left) = (places.len(), Vec::new());
        for (at, place) in places.into_iter().enumerate() {
            loop {
                let request = Request::Search {
                    place: place.clone(),
                    text: text.clone(),
                };
                let answer: Result<SearchedRun, Trouble> = app.ask(request).await;
                if !self.is_current(number) {
                    return;
                }
                let found = match answer {
                    Ok(found) => found,
                    Err(trouble) => {
                        left.push(format!("{place}: {}", trouble.cause));
                        break;
                    }
                };
                self.state
                    .set(SearchState::Busy(progress(at, many, &found)));
                let is_done = found.done;
                self.found.update(|all| match all.get_mut(at) {
                    Some(before) if *before != found => *before = found,
                    Some(_) => {}
                    None => {
                        all.resize(at, SearchedRun::default());
                        all.push(found);
                    }
                });
                if is_done {
                    break;
                }
            }
        }
        let done = self.found.with_untracked(|found| done(found, &left, &text));
        self.state.set(SearchState::Done(done));
    }
}

fn progress(at: usize, many: usize, run: &SearchedRun) -> String {
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

fn done(found: &[SearchedRun], left: &[String], text: &str) -> String {
    let groups = found.iter().flat_map(|run| &run.groups);
    let lines = groups
        .map(|group| group.hits.len() as u64 + group.more)
        .sum();
    let count = match lines {
        0 => format!("No match for “{text}”. Searched: {KINDS}"),
        _ => words::counted(lines, "line", "lines"),
    };
    let (mut skipped, mut more) = (left.to_vec(), 0);
    for run in found {
        let of = run.skipped.iter();
        skipped.extend(of.map(|skipped| format!("{} ({})", skipped.place, skipped.why)));
        more += u64::from(run.more_skipped);
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
