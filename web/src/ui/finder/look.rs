//! The search behind the finder: asks run by run, a moment at a time, until all is read or something else is looked for.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::view::SearchedRun;

use crate::protocol::Request;
use crate::text::words;
use crate::ui::state::App;

/// How long typing must rest before values are read.
const REST: Duration = Duration::from_millis(150);

/// What was found so far.
#[derive(Clone, Copy)]
pub(super) struct Look {
    /// Run by run.
    pub(super) found: RwSignal<Vec<SearchedRun>>,
    /// How far it is.
    pub(super) state: RwSignal<State>,
    /// Counts searches; answers to an earlier one are not shown.
    number: StoredValue<u32>,
}

/// How far a search is.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum State {
    /// Nothing is looked for.
    #[default]
    Idle,
    /// It goes on; how far, in words.
    Busy(String),
    /// All was read, or what was not, in words.
    Done(String),
}

impl Look {
    pub(super) fn new() -> Look {
        Look {
            found: RwSignal::default(),
            state: RwSignal::default(),
            number: StoredValue::new(0),
        }
    }

    /// Leaves off; what was found stays.
    pub(super) fn stop(self) {
        self.number.update_value(|number| *number += 1);
        self.state.update(|state| {
            if let State::Busy(words) = state {
                *state = State::Done(format!("Stopped. {words}"));
            }
        });
    }

    /// Looks for a text in the runs of these places, in place of what was looked for before.
    pub(super) fn begin(self, app: App, text: String, places: Vec<String>) {
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
                if self.is(number) {
                    spawn_local(self.go_on(app, number, text, places));
                }
            },
            REST,
        );
    }

    /// Whether this search is still wanted; the finder may be gone.
    fn is(self, number: u32) -> bool {
        self.number.try_get_value() == Some(number)
    }

    async fn go_on(self, app: App, number: u32, text: String, places: Vec<String>) {
        let (many, mut left) = (places.len(), Vec::new());
        for (at, place) in places.into_iter().enumerate() {
            loop {
                let question = Request::Search {
                    place: place.clone(),
                    text: text.clone(),
                };
                let answer: Result<SearchedRun, _> = app.ask(question).await;
                if !self.is(number) {
                    return;
                }
                let run = match answer {
                    Ok(run) => run,
                    Err(trouble) => {
                        left.push(format!("{place}: {}", trouble.cause));
                        break;
                    }
                };
                self.state.set(State::Busy(progress(at, many, &run)));
                let is_done = run.done;
                self.found.update(|found| match found.get_mut(at) {
                    Some(before) if *before != run => *before = run,
                    Some(_) => {}
                    None => {
                        found.resize(at, SearchedRun::default());
                        found.push(run);
                    }
                });
                if is_done {
                    break;
                }
            }
        }
        let done = self.found.with_untracked(|found| done(found, &left));
        self.state.set(State::Done(done));
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

fn done(found: &[SearchedRun], left: &[String]) -> String {
    let lines = |run: &SearchedRun| {
        let groups = run.groups.iter();
        let lines = groups.map(|group| group.hits.len() as u64 + group.more);
        lines.sum::<u64>()
    };
    let count = words::counted(found.iter().map(lines).sum(), "line", "lines");
    let skipped: Vec<String> = found
        .iter()
        .flat_map(|run| &run.skipped)
        .map(|skipped| format!("{} ({})", skipped.place, skipped.why))
        .chain(left.iter().cloned())
        .collect();
    let more: u32 = found.iter().map(|run| run.more_skipped).sum();
    match skipped.as_slice() {
        [] => format!("{count}."),
        [one] if more == 0 => format!("{count}. Not searched: {one}."),
        [first, rest @ ..] => format!(
            "{count}. Not searched: {first}, and {} more.",
            rest.len() as u64 + u64::from(more)
        ),
    }
}
