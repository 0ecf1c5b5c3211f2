//! A workflow: its thread (messages, runs with their events, questions), and what is kept beside that.

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
use super::load::{Answer, ask, loaded};
use super::parts::{Empty, Pill, live};
use super::state::App;
use super::workflows::{short_id, spoken};
use crate::protocol::{EventCounts, Request};
use crate::route::{InThread, Route, Tab};
use crate::text::words;

/// The workflow that is shown.
#[derive(Clone, Copy)]
struct Shown {
    /// The database.
    place: StoredValue<String>,
    /// Its id.
    id: StoredValue<String>,
    answer: Answer<Option<WorkflowPage>>,
    counts: Answer<EventCounts>,
    /// Hashes of what is unfolded.
    unfolded: RwSignal<BTreeSet<u64>>,
    /// The event that is open, and the run in whose list; `None`: in that of all.
    open_event: RwSignal<Option<(i64, Option<String>)>>,
    /// What stays as it is when a page is drawn anew, because something was recorded.
    kept: StoredValue<Kept>,
}

/// What a person did on the pages of a workflow.
#[derive(Default)]
struct Kept {
    /// How many parts of the thread are shown, where more than at first.
    parts: usize,
    /// What was selected and scrolled to.
    reached: Option<InThread>,
    /// The thread was drawn before.
    is_begun: bool,
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

    /// A link to something in the thread.
    fn item(self, at: InThread) -> Route {
        Route::thread(&self.place.read_value(), &self.id.read_value(), &at)
    }

    /// What is selected in the thread.
    fn selected(self) -> Memo<Option<InThread>> {
        let route = App::get().route;
        Memo::new(move |_| route.read().selected().and_then(InThread::parse))
    }

    /// Something of the page, once it is there.
    fn of_page<T>(self, of: impl Fn(&WorkflowPage) -> T) -> Option<T> {
        self.answer
            .with(|answer| Some(of(answer.as_ref()?.as_ref().ok()?.as_ref()?)))
    }

    /// What it is called: its first message, else its id.
    fn title(self) -> String {
        let title = self.of_page(|page| page.title.clone()).flatten();
        title.unwrap_or_else(|| format!("Workflow {}", self.id.with_value(|id| short_id(id))))
    }

    /// How many events it has, or a run of it; `None` while that is not known.
    fn count_of(self, run: Option<&str>) -> Option<u64> {
        self.counts.with(|counts| {
            let counts = counts.as_ref()?.as_ref().ok()?;
            Some(match run {
                None => counts.all,
                Some(run) => counts.by_run.get(run).copied().unwrap_or_default(),
            })
        })
    }

    /// Whether one of its runs has this id.
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

    /// Whether it is drawn for the first time, and something of this kind is so.
    fn is_first(self, also: bool) -> bool {
        let before = self
            .kept
            .try_update_value(|kept| std::mem::replace(&mut kept.is_begun, true));
        also && before == Some(false)
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
    // Counting reads an index of all events: the page does not wait for it.
    let counts = ask::<EventCounts>({
        let (place, id) = (place.clone(), id.clone());
        move || Request::EventCounts {
            place: place.clone(),
            id: id.clone(),
        }
    });
    let shown = Shown {
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
    let title = Memo::new(move |_| shown.title());
    let status = Memo::new(move |_| shown.of_page(|page| page.status.clone()));
    let status = move || {
        status
            .get()
            .map(|status| view! { <Pill status=status.clone() words=spoken(&status)/> })
    };
    view! {
        <header class="bar">
            <a class="brand" href="#/" title="All that is open (g)" aria-label="All that is open">{icons::mark()}</a>
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
    let shown = Shown::get();
    let count = move |of: Tab| match of {
        Tab::Thread => shown.of_page(|page| page.thread.len()),
        Tab::Data => None,
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
