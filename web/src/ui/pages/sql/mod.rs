//! Questions in SQL: a field, what can be asked beside it, and the answer.
//!
//! A worker of its own answers, so that a question that takes long stops nothing else, and can be stopped.

mod answer;
mod asked;
mod field;
mod tables;

use std::sync::Arc;

use leptos::html::Textarea;
use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::database::query::ROWS;
use prosescope_core::view::{QueryTables, QueryView};

use crate::protocol::{Request, Trouble};
use crate::ui::load::{Answer, ask};
use crate::ui::state::{App, Run};

/// What the parts of the page share; cheap to copy.
#[derive(Clone, Copy)]
struct Lens {
    app: App,
    run: Run,
    /// What is in the field.
    sql: RwSignal<String>,
    field: NodeRef<Textarea>,
    /// Questions of this tab, the newest first.
    history: RwSignal<Vec<String>>,
    shown: RwSignal<Shown>,
    /// Whether the run was read anew since the answer.
    is_old: RwSignal<bool>,
    /// Grows with each question, and when one is stopped: late answers are not shown.
    number: StoredValue<u32>,
}

/// What is shown below the field.
#[derive(Clone)]
enum Shown {
    Nothing,
    Running,
    Stopped,
    Answer(Arc<QueryView>),
    Trouble(Trouble),
}

impl Lens {
    fn new() -> Lens {
        Lens {
            app: App::get(),
            run: Run::get(),
            sql: RwSignal::new(asked::draft()),
            field: NodeRef::new(),
            history: RwSignal::new(asked::all()),
            shown: RwSignal::new(Shown::Nothing),
            is_old: RwSignal::new(false),
            number: StoredValue::new(0),
        }
    }

    fn is_running(self) -> bool {
        matches!(*self.shown.read(), Shown::Running)
    }

    /// Asks what is in the field.
    fn ask(self) {
        if matches!(*self.shown.read_untracked(), Shown::Running) {
            return;
        }
        let sql = self.sql.get_untracked();
        if !sql.trim().is_empty() {
            self.history.set(asked::remember(&sql));
        }
        let this = self.next();
        self.is_old.set(false);
        self.shown.set(Shown::Running);
        let request = Request::Query {
            place: self.run.place(),
            sql,
            limit: ROWS,
        };
        spawn_local(async move {
            let got = self.app.query::<QueryView>(&request).await;
            // Stopped since, or the page was left.
            if self.number.try_get_value() != Some(this) {
                return;
            }
            if self.is_old.get_untracked() {
                self.app.stop_query();
            }
            self.shown.set(match got {
                Ok(view) => Shown::Answer(Arc::new(view)),
                Err(trouble) => Shown::Trouble(trouble),
            });
        });
    }

    /// Leaves off the question that is being answered.
    fn stop(self) {
        self.next();
        self.app.stop_query();
        self.shown.set(Shown::Stopped);
    }

    fn next(self) -> u32 {
        let next = self.number.get_value() + 1;
        self.number.set_value(next);
        next
    }
}

/// Draws the page.
pub(super) fn draw() -> AnyView {
    let lens = Lens::new();
    let known: Answer<QueryTables> = ask(move || Request::QueryTables {
        place: lens.run.place(),
    });
    Effect::new(move || asked::keep(&lens.sql.read()));
    // What the worker has read is as old as its first question.
    let edition = lens.app.follow.edition;
    Effect::new(move |before: Option<()>| {
        edition.track();
        if before.is_some() {
            lens.is_old.set(true);
            // What is being answered is answered of what was read before.
            if !matches!(*lens.shown.read_untracked(), Shown::Running) {
                lens.app.stop_query();
            }
        }
    });
    on_cleanup(move || lens.app.stop_query());
    view! {
        <div class="tools">
            <span class="soft">"Read-only: the file is never changed."</span>
        </div>
        <div class="sql">
            {field::draw(lens, known)}
            {tables::draw(lens, known)}
            {answer::draw(lens)}
        </div>
    }
    .into_any()
}
