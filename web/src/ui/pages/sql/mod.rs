//! Draws the page for SQL queries: a field for the query, the available tables, and the answer.
//!
//! A separate worker runs the queries, so that a slow query blocks no other request and can be stopped.

mod answer;
mod field;
mod tables;

use std::cell::RefCell;
use std::sync::Arc;

use leptos::html::Textarea;
use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::model::database::query::ROWS;
use prosescope_core::pages::view::{QueryTables, QueryView};

use crate::protocol::{Request, Trouble};
use crate::ui::load::{LoadState, ask};
use crate::ui::state::{App, ShownRun};

thread_local! {
    /// The text that was in the query field when the user left the page.
    static DRAFT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The state that all parts of the SQL page share. It is cheap to copy.
#[derive(Clone, Copy)]
struct Lens {
    app: App,
    run: ShownRun,
    /// The text in the query field.
    sql: RwSignal<String>,
    field: NodeRef<Textarea>,
    shown: RwSignal<SqlContent>,
    /// Whether the run was reread after the query was sent, so that the answer is out of date.
    is_old: RwSignal<bool>,
    /// The number of the current query. Sending or stopping a query increases it, so that late answers are recognised
    /// and ignored.
    number: StoredValue<u32>,
}

/// The content below the query field.
#[derive(Clone)]
enum SqlContent {
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
            run: ShownRun::get(),
            sql: RwSignal::new(DRAFT.with_borrow(Clone::clone)),
            field: NodeRef::new(),
            shown: RwSignal::new(SqlContent::Nothing),
            is_old: RwSignal::new(false),
            number: StoredValue::new(0),
        }
    }

    fn is_running(self) -> bool {
        matches!(*self.shown.read(), SqlContent::Running)
    }

    /// Runs the query in the query field. Does nothing while another query runs.
    fn ask(self) {
        if matches!(*self.shown.read_untracked(), SqlContent::Running) {
            return;
        }
        let sql = self.sql.get_untracked();
        let this = self.next();
        self.is_old.set(false);
        self.shown.set(SqlContent::Running);
        let request = Request::Query {
            place: self.run.place(),
            sql,
            limit: ROWS,
        };
        spawn_local(async move {
            let got = self.app.query::<QueryView>(&request).await;
            // The number differs if the user stopped this query or left the page. The answer is then ignored.
            if self.number.try_get_value() != Some(this) {
                return;
            }
            if self.is_old.get_untracked() {
                self.app.stop_query();
            }
            self.shown.set(match got {
                Ok(view) => SqlContent::Answer(Arc::new(view)),
                Err(trouble) => SqlContent::Trouble(trouble),
            });
        });
    }

    /// Stops the running query.
    fn stop(self) {
        self.next();
        self.app.stop_query();
        self.shown.set(SqlContent::Stopped);
    }

    fn next(self) -> u32 {
        let next = self.number.get_value() + 1;
        self.number.set_value(next);
        next
    }
}

/// Draws the page of SQL queries.
pub(super) fn draw() -> AnyView {
    let lens = Lens::new();
    let known: LoadState<QueryTables> = ask(move || Request::QueryTables {
        place: lens.run.place(),
    });
    Effect::new(move || DRAFT.with_borrow_mut(|draft| lens.sql.read().clone_into(draft)));
    // The SQL worker keeps the state of the run that it read for its first query. When the run is reread, the worker
    // is stopped, so that the next query starts a new worker.
    let edition = lens.app.follow.edition;
    Effect::new(move |before: Option<()>| {
        edition.track();
        if before.is_some() {
            lens.is_old.set(true);
            // A running query is not stopped; its answer is from the earlier state of the run.
            if !matches!(*lens.shown.read_untracked(), SqlContent::Running) {
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
