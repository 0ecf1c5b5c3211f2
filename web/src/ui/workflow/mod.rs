//! A workflow: a conversation, its runs, their events, and what is kept beside them.

mod conversation;
mod data;
mod events;
mod runs;
mod shown;

use std::collections::BTreeSet;

use leptos::prelude::*;
use prosescope_workflow::page::WorkflowPage;

use super::bar_end::bar_end;
use super::follow::Following;
use super::icons;
use super::load::{Answer, ask, loaded};
use super::parts::{Empty, Pill, live};
use super::state::App;
use super::workflows::{short_id, spoken};
use crate::protocol::Request;
use crate::route::{Route, Tab};
use crate::text::words;

/// The workflow that is shown.
#[derive(Clone, Copy)]
struct Shown {
    /// The database.
    place: StoredValue<String>,
    /// Its id.
    id: StoredValue<String>,
    answer: Answer<Option<WorkflowPage>>,
    /// What stays as it is when a page is drawn anew, because something was recorded.
    kept: StoredValue<Kept>,
}

/// What a person did on the pages of a workflow.
#[derive(Default)]
struct Kept {
    /// Hashes of the values that are unfolded.
    unfolded: BTreeSet<u64>,
    /// How many runs are shown, where more than at first.
    runs: usize,
    /// The run that was scrolled to.
    scrolled_to: Option<String>,
}

impl Shown {
    /// The one of this page.
    fn get() -> Shown {
        expect_context()
    }

    /// A link to a page.
    fn tab(self, tab: Tab) -> Route {
        Route::workflow(&self.place.read_value(), &self.id.read_value(), tab)
    }

    /// A link to something on a page.
    fn item(self, of: Tab, selected: impl ToString) -> Route {
        match self.tab(of) {
            Route::Workflow { place, id, tab, .. } => Route::Workflow {
                place,
                id,
                tab,
                item: Some(selected.to_string()),
            },
            other => other,
        }
    }
}

/// A workflow and its pages. Made anew for another one.
#[component]
pub(crate) fn WorkflowShell(
    /// The database.
    place: String,
    /// Its id.
    id: String,
) -> impl IntoView {
    let app = App::get();
    let answer = ask::<Option<WorkflowPage>>({
        let (place, id) = (place.clone(), id.clone());
        move || Request::Workflow {
            place: place.clone(),
            id: id.clone(),
        }
    });
    let shown = Shown {
        place: StoredValue::new(place),
        id: StoredValue::new(id),
        answer,
        kept: StoredValue::default(),
    };
    provide_context(shown);
    let tab = Memo::new(move |_| match &*app.route.read() {
        Route::Workflow { tab, .. } => *tab,
        _ => Tab::Conversation,
    });
    Effect::new(move || {
        let id = shown.id.with_value(|id| short_id(id));
        document().set_title(&format!("Workflow {id} — {}", tab.get().title()));
    });
    view! {
        <div class="app">
            <Bar/>
            <Tabs tab/>
            <main id="main" tabindex="-1" class=move || format!("page page-{} of-workflow", tab.get().word())>
                {live(move || {
                    let tab = tab.get();
                    loaded(answer, move |page| match page {
                        None => missing(),
                        Some(page) => match tab {
                            Tab::Conversation => conversation::draw(page),
                            Tab::Runs => runs::draw(page),
                            Tab::Events => events::draw(&page),
                            Tab::Data => data::draw(page),
                        },
                    })
                })}
            </main>
        </div>
    }
}

fn missing() -> AnyView {
    view! { <Empty what="No such workflow" why="The database has no workflow with this id: it may be of another file, or removed."/> }
        .into_any()
}

#[component]
fn Bar() -> impl IntoView {
    let app = App::get();
    let shown = Shown::get();
    let list = shown.place.with_value(|place| Route::Workflows {
        place: place.clone(),
    });
    let id = shown.id.get_value();
    let status = move || {
        let status = shown
            .answer
            .with(|answer| Some(answer.as_ref()?.as_ref().ok()?.as_ref()?.status.clone()));
        status.map(|status| view! { <Pill status=status.clone() words=spoken(&status)/> })
    };
    view! {
        <header class="bar">
            <a class="brand" href="#/" title="All that is open (g)" aria-label="All that is open">{icons::mark()}</a>
            <a class="up" href=list.to_string() title="The list of workflows">{icons::left()}<span>"Workflows"</span></a>
            <b class="name mono" title=id.clone()>{short_id(&id)}</b>
            {live(status)}
            <span class="grow"></span>
            <Following/>
            {bar_end(app, Some(Signal::derive(move || vec![shown.place.get_value()])))}
        </header>
    }
}

#[component]
fn Tabs(tab: Memo<Tab>) -> impl IntoView {
    let shown = Shown::get();
    let count = move |of: Tab| {
        shown.answer.with(|answer| {
            let page = answer.as_ref()?.as_ref().ok()?.as_ref()?;
            Some(match of {
                Tab::Conversation => page.messages.len(),
                Tab::Runs => page.runs.len(),
                Tab::Events | Tab::Data => return None,
            })
        })
    };
    view! {
        <nav class="pages" aria-label="Pages">
            {Tab::ALL.iter().zip('1'..).map(|(of, key)| {
                let of = *of;
                view! {
                    <a href=shown.tab(of).to_string() title=format!("{} ({key})", of.title())
                        aria-current=move || (tab.get() == of).then_some("page")>
                        <span>{of.title()}</span>
                        {live(move || count(of).filter(|n| *n > 0).map(|n| view! {
                            <span class="n">{words::count(n as u64)}</span>
                        }))}
                    </a>
                }
            }).collect_view()}
        </nav>
    }
}
