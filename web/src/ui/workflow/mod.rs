//! Draws a workflow: its thread (messages, runs with their events, questions), and the data that it keeps beside the
//! thread.

mod data;
mod events;
mod run;
mod shown;
mod thread;

use std::collections::BTreeSet;

use leptos::prelude::*;
use prosescope_workflow::page::WorkflowPage;

use super::bar_end::bar_end;
use super::finder::Seek;
use super::follow::Following;
use super::icons;
use super::load::{LoadState, ask, loaded};
use super::parts::{Empty, Pill, live};
use super::state::App;
use super::workflows::{short_id, spoken};
use crate::protocol::{EventCounts, Request};
use crate::route::{InThread, Route, Tab};
use crate::text::words;

/// The workflow that the page shows. It is cheap to copy.
#[derive(Clone, Copy)]
struct ShownWorkflow {
    /// The path of the database that the workflow is read from.
    place: StoredValue<String>,
    id: StoredValue<String>,
    answer: LoadState<Option<WorkflowPage>>,
    counts: LoadState<EventCounts>,
    /// The keys ([`shown::hash_of`]) of the parts that are unfolded.
    unfolded: RwSignal<BTreeSet<u64>>,
    /// The id of the open event, and the run in whose list it is open; a run of `None` means the list of all events.
    open_event: RwSignal<Option<(i64, Option<String>)>>,
    /// The state that is kept when a page is redrawn because the workflow has changed.
    kept: StoredValue<PageMemory>,
}

/// The state of the pages of a workflow that outlives a redrawing.
#[derive(Default)]
struct PageMemory {
    /// The number of parts that the thread shows; 0 until it shows more than at first.
    parts: usize,
    /// The selected item to which the page has already scrolled.
    reached: Option<InThread>,
    /// Whether the thread was drawn before.
    is_begun: bool,
}

impl ShownWorkflow {
    /// Returns the shown workflow from the context of the component.
    fn get() -> ShownWorkflow {
        expect_context()
    }

    /// Returns a route to a page of the workflow.
    fn tab(self, tab: Tab) -> Route {
        Route::workflow(&self.place.read_value(), &self.id.read_value(), tab)
    }

    /// Returns a route to an item in the thread.
    fn item(self, at: InThread) -> Route {
        Route::thread(&self.place.read_value(), &self.id.read_value(), &at)
    }

    /// Returns the selected item in the thread.
    fn selected(self) -> Memo<Option<InThread>> {
        let route = App::get().route;
        Memo::new(move |_| route.read().selected().and_then(InThread::parse))
    }

    /// Returns a value that `of` takes from the workflow; `None` until the workflow has arrived.
    fn of_page<T>(self, of: impl Fn(&WorkflowPage) -> T) -> Option<T> {
        self.answer
            .with(|answer| Some(of(answer.as_ref()?.as_ref().ok()?.as_ref()?)))
    }

    /// Returns the workflow's title: its first message, or `Workflow` and the id.
    fn title(self) -> String {
        let title = self.of_page(|page| page.title.clone()).flatten();
        title.unwrap_or_else(|| format!("Workflow {}", self.id.with_value(|id| short_id(id))))
    }

    /// Returns the number of events of a run, or of the whole workflow for `None`. Returns `None` until the numbers
    /// have arrived.
    fn count_of(self, run: Option<&str>) -> Option<u64> {
        self.counts.with(|counts| {
            let counts = counts.as_ref()?.as_ref().ok()?;
            Some(match run {
                None => counts.all,
                Some(run) => counts.by_run.get(run).copied().unwrap_or_default(),
            })
        })
    }

    /// Returns whether a run of the workflow has this id.
    fn has_run(self, id: &str) -> bool {
        self.answer.with_untracked(|answer| match answer {
            Some(Ok(Some(page))) => page.runs.iter().any(|run| run.id == id),
            _ => false,
        })
    }

    fn unfold(self, hash: u64) {
        if !self.unfolded.read_untracked().contains(&hash) {
            self.unfolded.update(|unfolded| {
                unfolded.insert(hash);
            });
        }
    }

    /// Returns whether the page is drawn for the first time, and `also` is true. Records that the page was drawn.
    fn is_first(self, also: bool) -> bool {
        let before = self
            .kept
            .try_update_value(|kept| std::mem::replace(&mut kept.is_begun, true));
        also && before == Some(false)
    }
}

/// Draws a workflow and its pages. Another workflow gets a new component.
#[component]
pub(crate) fn WorkflowShell(
    /// The path of the database that contains the workflow to draw.
    place: String,
    /// The id of the workflow to draw.
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
    // The numbers of events are requested separately, because counting reads an index of all events. The page is shown
    // meanwhile.
    let counts = ask::<EventCounts>({
        let (place, id) = (place.clone(), id.clone());
        move || Request::EventCounts {
            place: place.clone(),
            id: id.clone(),
        }
    });
    let shown = ShownWorkflow {
        place: StoredValue::new(place),
        id: StoredValue::new(id),
        answer,
        counts,
        unfolded: RwSignal::default(),
        open_event: RwSignal::new(None),
        kept: StoredValue::default(),
    };
    provide_context(shown);
    let tab = Memo::new(move |_| match &*app.route.read() {
        Route::Workflow { tab, .. } => *tab,
        _ => Tab::Thread,
    });
    Effect::new(move || {
        document().set_title(&format!("{} — {}", shown.title(), tab.get().title()));
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
                            Tab::Thread => thread::draw(page),
                            Tab::Data => data::draw(page),
                        },
                    })
                })}
            </main>
        </div>
    }
}

fn missing() -> AnyView {
    view! { <Empty what="No such workflow" why="The database has no workflow with this id. The workflow may be in another file, or was removed."/> }
        .into_any()
}

#[component]
fn Bar() -> impl IntoView {
    let app = App::get();
    let shown = ShownWorkflow::get();
    let list = shown.place.with_value(|place| Route::Workflows {
        place: place.clone(),
    });
    let id = shown.id.get_value();
    let title = Memo::new(move |_| shown.title());
    let status = Memo::new(move |_| shown.of_page(|page| page.status.clone()));
    let status = move || {
        status
            .get()
            .map(|status| view! { <Pill status=status.clone() words=spoken(&status)/> })
    };
    view! {
        <header class="bar">
            <a class="brand" href="#/" title="All runs (g)" aria-label="All runs">{icons::mark()}</a>
            <a class="up" href=list.to_string() title="The list of workflows">{icons::left()}<span>"Workflows"</span></a>
            <b class="name" dir="auto" title=title>{title}</b>
            <span class="id mono" title=id.clone()>{short_id(&id)}</span>
            {live(status)}
            <span class="grow"></span>
            <Seek key="/"/>
            <Following/>
            {bar_end(app, Some(Signal::derive(move || vec![shown.place.get_value()])))}
        </header>
    }
}

#[component]
fn Tabs(tab: Memo<Tab>) -> impl IntoView {
    let shown = ShownWorkflow::get();
    let count = move |of: Tab| match of {
        Tab::Thread => shown.of_page(|page| page.thread.len()),
        Tab::Data => None,
    };
    view! {
        <nav class="pages" aria-label="Pages">
            {Tab::ALL.iter().zip('1'..).map(|(of, key)| {
                let of = *of;
                view! {
                    <a href=shown.tab(of).to_string() title=format!("{} ({key})", of.title()) aria-keyshortcuts=key.to_string()
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
