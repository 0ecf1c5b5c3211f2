//! Draws the panel for sharing runs, beside the page. The panel lists the texts that would be replaced, and the page
//! marks these texts.
//!
//! `wishes` draws the user's choices, and `hits` the replacements. Both only change [`Sheet::wishes`]; each change
//! scans the runs again.

mod hits;
mod wishes;

use std::rc::Rc;

use js_sys::Array;
use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::record::render::text::escape;
use prosescope_share::file::SharedForm;
use prosescope_share::wishes::Wishes;
use wasm_bindgen::prelude::*;

use super::icons;
use super::parts::{live, save_blob};
use super::state::{App, Desk};
use crate::protocol::{LookedThrough, Request, Trouble};
use crate::route::{Page, Route};
use crate::script;
use crate::text::words;

/// The warning below the button that saves the file.
const PROMISE: &str = "No tool finds every secret: check the list above and the marks in the pages before you send the file. This page sends nothing.";

/// The state of the panel for sharing: the runs to share, and the user's choices. It is cheap to copy.
#[derive(Clone, Copy)]
struct Sheet {
    app: App,
    /// The paths of the runs or databases of workflows in the open source.
    places: StoredValue<Vec<String>>,
    wishes: RwSignal<Wishes>,
    form: RwSignal<SharedForm>,
    /// The result of the last scan.
    looked: RwSignal<Option<LookedThrough>>,
    trouble: RwSignal<Option<Trouble>>,
    doing: RwSignal<Option<Doing>>,
    /// The message about the last saved file.
    saved: RwSignal<Option<String>>,
    /// The number of the last request; answers to earlier requests are ignored.
    asked: StoredValue<u32>,
    /// The item of the trace's row that was open when the user opened the panel; `None` if no row was open.
    row: StoredValue<Option<String>>,
    /// Whether the shared copy opens at the row in `row`.
    opens: RwSignal<bool>,
}

/// The work in progress, in words, and how much of it is finished.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Doing {
    words: &'static str,
    /// The finished part of the work, from 0 to 1.
    part: f64,
}

/// Draws the button that opens the panel for sharing.
#[component]
pub(crate) fn ShareButton(
    /// The paths of the runs or databases of workflows to share.
    places: Signal<Vec<String>>,
) -> impl IntoView {
    let app = App::get();
    view! {
        <button class="share-open" title="Save a copy to share" disabled=move || places.read().is_empty()
            on:click=move |_| app.sharing.set(Some(places.get_untracked()))>
            {icons::share()}<span>"Share…"</span>
        </button>
    }
}

/// Returns the paths of all open runs and databases of workflows.
pub(crate) fn everything(app: App) -> Signal<Vec<String>> {
    Signal::derive(move || {
        let runs = match &*app.desk.read() {
            Desk::Open(list) => list.runs.iter().map(|run| run.place.clone()).collect(),
            _ => Vec::new(),
        };
        let workflows = app.workflows.get().into_iter().map(|of| of.place);
        runs.into_iter().chain(workflows).collect()
    })
}

/// Draws the panel for sharing while [`App::sharing`] is set.
#[component]
pub(crate) fn Share() -> impl IntoView {
    let app = App::get();
    // If the source is closed, the panel is closed, too.
    Effect::new(move || {
        if !matches!(*app.desk.read(), Desk::Open(_)) {
            app.sharing.set(None);
        }
    });
    live(move || app.sharing.get().map(|places| draw(app, places)))
}

fn draw(app: App, places: Vec<String>) -> AnyView {
    let row = match &*app.route.read_untracked() {
        Route::Run {
            page: Page::Trace,
            item: Some(item),
            ..
        } if places.len() == 1 => Some(item.clone()),
        _ => None,
    };
    let title = match places.len() {
        1 => "Share this run".to_owned(),
        n => format!("Share {}", words::counted(n as u64, "run", "runs")),
    };
    let sheet = Sheet {
        app,
        places: StoredValue::new(places),
        wishes: RwSignal::default(),
        form: RwSignal::default(),
        looked: RwSignal::new(None),
        trouble: RwSignal::new(None),
        doing: RwSignal::new(None),
        saved: RwSignal::new(None),
        asked: StoredValue::new(0),
        row: StoredValue::new(row),
        opens: RwSignal::new(true),
    };
    Effect::new(move || {
        sheet.wishes.track();
        sheet.look();
    });
    on_cleanup(move || {
        app.stop_sharing();
        mark(&[]);
    });
    let selected = selection();
    let shut = move || {
        app.sharing.set(None);
        crate::ui::keys::focus(".share-open");
    };
    request_animation_frame(|| {
        crate::ui::keys::focus("#share-title");
    });
    view! {
        <aside class="share" role="dialog" aria-labelledby="share-title" on:keydown=move |event| {
            if event.key() == "Escape" {
                event.stop_propagation();
                shut();
            }
        }>
            <header>
                <h2 id="share-title" tabindex="-1">{title}</h2>
                <button class="icon" aria-label="Close" on:click=move |_| shut()>{icons::close()}</button>
            </header>
            <div class="share-body">
                {wishes::draw(sheet, selected)}
                {hits::draw(sheet)}
                {size(sheet)}
            </div>
            {foot(sheet)}
        </aside>
    }
    .into_any()
}

/// Draws the size of the copy and its largest parts.
fn size(sheet: Sheet) -> AnyView {
    live(move || {
        let looked = sheet.looked.get()?;
        let parts = &looked.report.parts;
        let more = parts.len().saturating_sub(3);
        let largest = parts.iter().take(3).map(|part| {
            let path = part.path.clone();
            view! { <li><span title=path.clone()>{escape(&path, false).into_owned()}</span><b>{words::bytes(part.bytes)}</b></li> }
        });
        Some(view! {
            <section>
                <h3>"Size"</h3>
                <ul class="share-parts">
                    {largest.collect_view()}
                    {(more > 0).then(|| view! { <li><span>{words::counted(more as u64, "smaller part", "smaller parts")}</span></li> })}
                    <li><span>"All parts, before packing"</span><b>{words::bytes(looked.report.bytes)}</b></li>
                </ul>
            </section>
        })
    })
}

/// Draws the choice of the file's form, the button that saves the file, and the warning.
fn foot(sheet: Sheet) -> AnyView {
    let forms = [
        (
            SharedForm::Html,
            "Page",
            "One HTML file that contains the run and the viewer: opens in any browser, offline",
        ),
        (
            SharedForm::Zip,
            "Zip",
            "The run's files in a zip: smaller than a page, opens in this viewer and with prosescope",
        ),
        (SharedForm::Db, "Database", "The run's state.db alone"),
    ];
    let choose = forms.map(|(form, name, about)| {
        view! {
            <label title=about>
                <input type="radio" name="share-form" prop:checked=move || sheet.form.get() == form
                    on:change=move |_| sheet.form.set(form)/>
                <span>{name}</span>
            </label>
        }
    });
    view! {
        <footer>
            {live(move || sheet.trouble.get().map(|trouble| view! {
                <p class="bad-words" role="alert">{trouble.cause}" "{trouble.next}</p>
            }))}
            {live(move || sheet.saved.get().map(|saved| view! { <p class="ok-words" role="status">{saved}</p> }))}
            <fieldset class="share-form"><legend class="away">"Form"</legend>{choose}</fieldset>
            {sheet.row.get_value().map(|_| view! {
                <label class="check"><input type="checkbox" prop:checked=sheet.opens
                    on:change=move |event| sheet.opens.set(event_target_checked(&event))/>
                    "Open the shared page on the row that is open now"</label>
            })}
            {live(move || match sheet.doing.get() {
                Some(doing) => view! {
                    <div class="share-doing" role="status">
                        <span>{doing.words}</span>
                        <progress prop:value=doing.part max="1">{format!("{:.0} %", doing.part * 100.0)}</progress>
                        <button on:click=move |_| sheet.stop()>"Cancel"</button>
                    </div>
                }.into_any(),
                None => view! {
                    <button class="primary" disabled=move || sheet.looked.read().is_none() on:click=move |_| sheet.save()>
                        {icons::download()}<span>"Save the file"</span>
                    </button>
                }.into_any(),
            })}
            <p class="faint">{PROMISE}</p>
        </footer>
    }
    .into_any()
}

impl Sheet {
    /// Scans the runs with the present choices.
    fn look(self) {
        let request = Request::LookToShare {
            places: self.places.get_value(),
            wishes: self.wishes.get_untracked(),
        };
        let number = self.begin("Scanning the run");
        spawn_local(async move {
            let watch = self.watch(number);
            let looked = self.app.look_to_share(&request, watch).await;
            if let Some(looked) = self.ended(number, looked) {
                mark(&looked.texts);
                self.looked.set(Some(looked));
            }
        });
    }

    /// Makes the shared file, and lets the browser save it.
    fn save(self) {
        let form = self.form.get_untracked();
        let opens = self.row.get_value().filter(|_| self.opens.get_untracked());
        let request = Request::Share {
            places: self.places.get_value(),
            wishes: Wishes {
                opens,
                ..self.wishes.get_untracked()
            },
            form,
        };
        let run = self.looked.with_untracked(|looked| {
            let runs = looked.as_ref().map(|looked| looked.report.runs.clone());
            runs.unwrap_or_default().into_iter().next()
        });
        let name = file_name(run.as_deref(), self.places.read_value().len(), form);
        let number = self.begin("Making the file, and scanning it again");
        spawn_local(async move {
            let watch = self.watch(number);
            let shared = self.app.share(&request, watch).await;
            let Some(blob) = self.ended(number, shared) else {
                return;
            };
            let size = words::bytes(blob.size() as u64);
            match save_blob(&blob, &name) {
                Some(()) => self.saved.set(Some(format!("{name} was saved: {size}."))),
                None => self.trouble.set(Some(Trouble::new(
                    "The browser refused the download.",
                    "Allow downloads for this page.",
                ))),
            }
        });
    }

    /// Stops the work in progress.
    fn stop(self) {
        self.asked.update_value(|asked| *asked += 1);
        self.app.stop_sharing();
        self.doing.set(None);
    }

    fn begin(self, words: &'static str) -> u32 {
        if self.doing.read_untracked().is_some() {
            // The earlier request is stopped, because the worker would otherwise finish it first.
            self.app.stop_sharing();
        }
        self.trouble.set(None);
        self.saved.set(None);
        self.doing.set(Some(Doing { words, part: 0.0 }));
        self.asked.update_value(|asked| *asked += 1);
        self.asked.get_value()
    }

    /// Returns the answer to a request. If the request failed, shows the error and returns `None`. If a newer request
    /// was sent, ignores the answer.
    fn ended<T>(self, number: u32, answer: Result<T, Trouble>) -> Option<T> {
        if !self.is_last(number) {
            return None;
        }
        self.doing.set(None);
        answer
            .map_err(|trouble| self.trouble.set(Some(trouble)))
            .ok()
    }

    /// Returns whether the request with this number is the newest, and the panel is still open.
    fn is_last(self, number: u32) -> bool {
        self.asked.try_get_value() == Some(number)
    }

    fn watch(self, number: u32) -> Rc<dyn Fn(f64)> {
        Rc::new(move |part| {
            if self.is_last(number) {
                self.doing.update(|doing| {
                    if let Some(doing) = doing {
                        doing.part = part;
                    }
                });
            }
        })
    }
}

/// Returns the name of the file to save: the run's id, or `3 runs`, with the extension. Unsafe characters are replaced
/// by `_`, because a run's id may contain any character.
fn file_name(run: Option<&str>, runs: usize, form: SharedForm) -> String {
    let stem: String = match (run, runs) {
        (Some(run), 1) => run.chars().take(80).collect(),
        _ => format!("{runs} runs"),
    };
    let plain = |c: char| match c.is_alphanumeric() || matches!(c, '-' | '_' | ' ' | '.') {
        true => c,
        false => '_',
    };
    let stem: String = stem.chars().map(plain).collect();
    let stem = stem.trim_matches(['.', ' ']);
    let stem = if stem.is_empty() { "run" } else { stem };
    format!("{stem}.{}", form.word())
}

/// Marks the texts that would be replaced wherever the pages show them. A browser without highlights shows no marks.
fn mark(texts: &[String]) {
    let texts: Array = texts.iter().map(|text| JsValue::from_str(text)).collect();
    script::call("prosescopeMarkLeaving", &texts);
}

/// Returns the text that the user selected on the page, as a suggestion of a further text to replace. Returns an empty
/// text for a long selection.
fn selection() -> String {
    let selection = window().get_selection().ok().flatten();
    let text = selection.map_or_else(String::new, |of| of.to_string().into());
    let text = text.trim();
    match text.contains('\n') || text.len() > 200 {
        true => String::new(),
        false => text.to_owned(),
    }
}
