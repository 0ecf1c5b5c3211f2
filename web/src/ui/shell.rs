//! Draws the frame around the pages of a run: the bar with the run's name, the band with its status, and the links to
//! its pages.

use leptos::html::Nav;
use leptos::prelude::*;
use prosescope_core::pages::view::{Overview, RunPart};

use super::band::Band;
use super::bar_end::bar_end;
use super::clock;
use super::finder::Seek;
use super::follow::Following;
use super::icons;
use super::load::{TroubleNote, Waiting, ask_by};
use super::pages;
use super::parts::live;
use super::state::{App, Desk, ShownRun};
use crate::protocol::{Request, Trouble};
use crate::route::{Page, Route};
use crate::text::words;

/// Draws a run and its pages. Another run gets a new component.
#[component]
pub(crate) fn RunShell(
    /// The path of the run to draw, in the open source.
    place: String,
    /// The run's id or path in the address.
    key: String,
) -> impl IntoView {
    let app = App::get();
    app.shown_last.set_value(Some(place.clone()));
    let overview = Request::Page {
        place: place.clone(),
        page: prosescope_core::pages::session::pages::Page::Overview,
    };
    let known = app.known(&overview);
    // Only the first time, the other answers for the run's first screen are requested with it.
    let is_first = StoredValue::new(known.is_none());
    let renewed = overview.clone();
    let answer = ask_by(known, {
        let place = place.clone();
        move || {
            let (place, overview) = (place.clone(), overview.clone());
            let first = is_first.try_update_value(std::mem::take) == Some(true);
            async move {
                if first {
                    app.learn(place).await?;
                }
                app.ask(overview).await
            }
        }
    });
    clock::renew(answer, renewed);
    let late = |overview: &Overview| {
        let gates = overview.pending_gates.iter();
        gates.filter(|gate| gate.overdue).count()
    };
    let run = ShownRun {
        late_gates: Memo::new(move |_| {
            answer.with(|overview| overview.as_ref()?.as_ref().ok().map(late))
        }),
        key: Memo::new(move |_| key.clone()),
        place: Memo::new(move |_| place.clone()),
        overview: answer.into(),
    };
    provide_context(run);
    let page = Memo::new(move |_| match &*app.route.read() {
        Route::Run { page, .. } => *page,
        _ => Page::Trace,
    });
    // A database of agents has no trace, so the page of agents is opened instead.
    Effect::new(move || {
        let only_agents = run.overview.with(|overview| {
            let overview = overview.as_ref().and_then(|answer| answer.as_ref().ok());
            overview.is_some_and(Overview::is_of_agents)
        });
        if only_agents && app.route.read_untracked().is_trace() {
            app.put(run.page(Page::Agents));
        }
    });
    Effect::new(move || {
        let name = run
            .overview
            .with(|o| Some(name_of(program_or_id(o.as_ref()?.as_ref().ok()?))));
        app.entitle(&match name {
            Some(name) => format!("{name} — {}", page.get().title()),
            None => "Prosescope".to_owned(),
        });
    });
    // The error is a memo, so that the page is redrawn only if the error changes, not with each new row of the run.
    let trouble = Memo::new(move |_| {
        let trouble = |answer: &Result<Overview, Trouble>| answer.as_ref().err().cloned();
        run.overview
            .with(|answer| answer.as_ref().and_then(trouble))
    });
    // Until the overview is known, the page does not know whether the trace has times, and would draw it twice.
    let is_read = Memo::new(move |_| run.overview.with(Option::is_some));
    view! {
        <div class="app" class:stale=move || run.overview.with(|o| matches!(o, Some(Ok(o)) if o.stale))>
            <RunBar/>
            <Band/>
            <Pages page/>
            <main id="main" tabindex="-1" class=move || format!("page page-{}", page.get().word())>
                <h2 class="away">{move || page.get().title()}</h2>
                {live(move || match trouble.get() {
                    Some(trouble) => view! { <TroubleNote trouble/> }.into_any(),
                    None if !is_read.get() => view! { <Waiting/> }.into_any(),
                    None => pages::draw(page.get()),
                })}
            </main>
        </div>
    }
}

/// Returns the path of the run's program, or the run's id if no program is recorded.
fn program_or_id(overview: &Overview) -> &str {
    overview.program.as_deref().unwrap_or(&overview.run)
}

/// The status of a run that is recorded as running but has given no sign of life for long.
pub(super) const SILENT: &str = "running, silent";

/// Returns a program's name without its folder and extension.
pub(super) fn name_of(program: &str) -> String {
    let last = program.rsplit('/').next().unwrap_or(program);
    last.strip_suffix(".prose").unwrap_or(last).to_owned()
}

#[component]
fn RunBar() -> impl IntoView {
    let app = App::get();
    let run = ShownRun::get();
    let several = move || {
        app.desk
            .with(|desk| matches!(desk, Desk::Open(list) if list.runs.len() > 1))
    };
    // Until the run is read, these facts come from the list of runs.
    let facts = move || {
        let (program, id, about) = match run.overview.get() {
            Some(Ok(overview)) => (overview.program, overview.run, overview.label),
            Some(Err(_)) => return None,
            None => {
                let line = run.line()?;
                (line.program, line.id, line.place)
            }
        };
        let name = name_of(program.as_deref().unwrap_or(&id));
        Some(view! {
            <b class="name" title=program.unwrap_or_default()>{name}</b>
            <span class="id mono" title=about>{id}</span>
        })
    };
    let above = move || {
        // The folder of a nested run is in `imports/` of its parent.
        let place = run.place.get();
        let (above, _) = place.rsplit_once("imports/")?;
        let above = above.trim_end_matches('/').to_owned();
        Some(view! {
            <a class="up" href=Route::page(&above, Page::Imports).to_string() title=above.clone()>
                {icons::left()}<span>"Importing run"</span>
            </a>
        })
    };
    view! {
        <header class="bar run-bar">
            <a class="brand" href="#/" title="All runs (g)" aria-label="All runs">{icons::mark()}</a>
            {move || several().then(|| view! {
                <a class="up" href="#/" title="The list of runs (g)">{icons::left()}<span>"Runs"</span></a>
            })}
            {above}
            {facts}
            <span class="grow"></span>
            <Seek key="/"/>
            <Following/>
            {bar_end(app, Some(Signal::derive(move || vec![run.place.get()])))}
        </header>
    }
}

#[component]
fn Pages(page: Memo<Page>) -> impl IntoView {
    let run = ShownRun::get();
    let count = move |of: Page| {
        run.overview.with(|overview| {
            let overview = overview.as_ref()?.as_ref().ok()?;
            Some(match of {
                Page::Trace => overview.trace_nodes,
                Page::Bindings => overview.bindings,
                Page::Agents => overview.agents,
                // If gates are waiting, only waiting gates are counted, because the user may have to decide them.
                Page::Gates if !overview.pending_gates.is_empty() => {
                    overview.pending_gates.len() as u32
                }
                Page::Gates => overview.gates,
                Page::Imports => overview.imports,
                Page::Files => overview.files + overview.tables,
                _ => return None,
            })
        })
    };
    // The link to an empty page is hidden, unless that page is open or its content could not be read.
    let of_agents = move || {
        let overview = run.overview.read();
        matches!(&*overview, Some(Ok(overview)) if overview.is_of_agents())
    };
    let is_offered = move |of: Page| match of {
        // A store of agents has no trace, no program and no values.
        Page::Trace | Page::Program | Page::Bindings | Page::State if of_agents() => {
            page.get() == of
        }
        Page::Agents | Page::Gates | Page::Imports => {
            page.get() == of || count(of).is_some_and(|n| n > 0) || is_unread(run, of)
        }
        _ => true,
    };
    let all = Memo::new(move |_| {
        let offered = Page::ALL.into_iter().filter(|of| is_offered(*of));
        offered.collect::<Vec<_>>()
    });
    let app = App::get();
    Effect::new(move || app.offered.set(all.get()));
    let tone = move |of: Page| {
        let waits = run.overview.with(|overview| {
            let overview = overview.as_ref().and_then(|answer| answer.as_ref().ok());
            overview.is_some_and(|overview| !overview.pending_gates.is_empty())
        });
        match of {
            Page::Gates if waits => "n wait-words",
            _ => "n",
        }
    };
    // On a narrow screen, the row of links scrolls sideways. This effect keeps the link of the open page visible.
    let nav = NodeRef::<Nav>::new();
    Effect::new(move || {
        page.track();
        request_animation_frame(move || {
            // The user may have closed the run before this callback runs.
            let Some(nav) = nav.try_get_untracked().flatten() else {
                return;
            };
            let here = nav.query_selector("[aria-current]").ok().flatten();
            let to = web_sys::ScrollIntoViewOptions::new();
            to.set_block(web_sys::ScrollLogicalPosition::Nearest);
            to.set_inline(web_sys::ScrollLogicalPosition::Center);
            if let Some(here) = here {
                here.scroll_into_view_with_scroll_into_view_options(&to);
            }
        });
    });
    view! {
        <nav class="pages" aria-label="Pages" node_ref=nav>
            {Page::ALL.map(|of| {
                // The key is a memo, so that the link is redrawn only if it appears, disappears or has another key. A
                // focused link thus keeps the focus.
                let key = Memo::new(move |_| all.with(|all| of.key(all).filter(|_| all.contains(&of))));
                live(move || key.get().map(|key| {
                let to = run.page(of).to_string();
                let words = match of {
                    Page::Issues => live(move || view! { <span class=found(run).1>{found(run).0}</span> }),
                    _ => live(move || view! {
                        <span>{of.title()}</span>
                        {count(of).filter(|n| *n > 0).map(|n| view! {
                            <span class=tone(of)>{words::count(n.into())}</span>
                        })}
                    }),
                };
                view! {
                    <a href=to class:found=of == Page::Issues title=format!("{} ({key})", of.title()) aria-keyshortcuts=key.to_string()
                        aria-current=move || (page.get() == of).then_some("page")>{words}</a>
                }
            }))})}
        </nav>
    }
}

/// Returns whether the content of a page could not be read. Such a page may have content even if its count is 0.
fn is_unread(run: ShownRun, page: Page) -> bool {
    let part = match page {
        Page::Agents => RunPart::Agents,
        Page::Gates => RunPart::Gates,
        Page::Imports => RunPart::Imports,
        _ => return false,
    };
    run.overview
        .with(|overview| matches!(overview, Some(Ok(overview)) if overview.is_unread(part)))
}

/// Returns the words for the number of issues (`2 errors, 1 note`), and the CSS class for them.
fn found(run: ShownRun) -> (String, &'static str) {
    run.overview.with(|overview| {
        let Some(Ok(overview)) = overview else {
            return (String::new(), "faint");
        };
        let counts = overview.issues;
        let words = [
            (counts.error, "error", "errors"),
            (counts.warning, "warning", "warnings"),
            (counts.note, "note", "notes"),
        ];
        let words = words.into_iter().filter(|(many, ..)| *many > 0);
        let words: Vec<String> = words
            .map(|(many, one, all)| words::counted(many.into(), one, all))
            .collect();
        match (words.is_empty(), counts.error > 0) {
            (true, _) => ("No issues found".to_owned(), "faint"),
            (false, true) => (words.join(", "), "bad-words"),
            (false, false) => (words.join(", "), "soft"),
        }
    })
}
