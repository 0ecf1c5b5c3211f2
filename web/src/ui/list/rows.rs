//! Draws a long list, and moves through the list by keyboard.
//!
//! The list as a whole has the focus, and its attribute `aria-activedescendant` contains the id of the current row. A
//! row itself cannot have the focus, because rows are removed while the user scrolls.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use leptos::attr::custom::custom_attribute;
use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;

use super::Pages;
use crate::text::window;
use crate::ui::follow::{Carry, Stand, on_cleanup_local};
use crate::ui::load::{TroubleNote, Waiting};
use crate::ui::parts::live;
use crate::ui::state::{App, Move, print_now};

/// The maximum number of printed rows. A longer list prints a note with its length.
const PRINTED: u64 = 5000;

/// The height in pixels for which rows are drawn until the list is measured, so that most lists draw their rows once.
const UNMEASURED: f64 = 800.0;

/// The number of lists drawn so far, not counting main lists. The ids of rows contain the list's number, so that they
/// are unique.
static LISTS: AtomicU32 = AtomicU32::new(0);

/// The ARIA role of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListRole {
    /// A table of rows.
    Grid,
    /// A tree of rows.
    Tree,
}

/// A command that the list passes to its page. The list handles moving and scrolling itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListCommand {
    /// Open the row.
    Enter,
    /// The row has become the current row.
    Moved,
    /// Fold, or go to the parent.
    Left,
    /// Unfold, or go to the first child.
    Right,
    /// Go to the next failure.
    NextFailure,
    /// Go to the previous failure.
    PreviousFailure,
    /// Fold or unfold nodes that succeeded.
    FoldWell,
    /// Mark the row for a command on several rows.
    Mark,
    /// Zoom the axis to the row.
    Fill,
}

/// The current row of a list.
#[derive(Clone, Copy)]
pub(crate) struct Cursor {
    /// The index of the current row.
    pub(crate) at: RwSignal<u64>,
    /// Counts the times that the cursor was moved. At each move, the list scrolls to the cursor's row.
    reveal: RwSignal<u32>,
    /// The index of the first visible row.
    top: StoredValue<u64>,
    /// The change to apply when the rows of the reread list arrive; `None` if no change is pending.
    carry: StoredValue<Option<Carry>>,
}

impl Cursor {
    /// Returns whether the cursor's page was removed. An answer that arrives after the removal must be ignored.
    pub(crate) fn is_gone(self) -> bool {
        self.at.is_disposed()
    }

    /// Creates a cursor at the first row.
    pub(crate) fn new() -> Cursor {
        Cursor {
            at: RwSignal::new(0),
            reveal: RwSignal::new(0),
            top: StoredValue::new(0),
            carry: StoredValue::new(None),
        }
    }

    /// Returns the cursor's row and the first visible row.
    pub(crate) fn stand(self) -> Stand {
        Stand {
            at: self.at.get_untracked(),
            top: self.top.get_value(),
        }
    }

    /// Stores how the cursor and the scroll position move with their rows. The change is applied when the new rows
    /// arrive.
    pub(crate) fn carry(self, carry: Carry) {
        self.carry.set_value(Some(carry));
    }

    /// Returns the cursor's row and the number of its moves. If two marks are equal, the cursor was not moved in
    /// between.
    pub(crate) fn mark(self) -> (u64, u32) {
        (
            self.at.try_get_untracked().unwrap_or_default(),
            self.reveal.try_get_untracked().unwrap_or_default(),
        )
    }

    /// Goes to a row and scrolls to it, unless the cursor was moved before.
    pub(crate) fn begin(self, row: u64) {
        if !self.has_moved() {
            self.go(row);
        }
    }

    /// Returns whether the cursor was ever moved. Before its first move, no row is marked as current, and a step down
    /// goes to the first row.
    pub(crate) fn has_moved(self) -> bool {
        self.reveal.get_untracked() > 0
    }

    fn is_at(self, row: u64) -> bool {
        self.reveal.get() > 0 && self.at.get() == row
    }

    /// Goes to a row and scrolls to it.
    pub(crate) fn go(self, row: u64) {
        self.at.set(row);
        self.reveal.update(|n| *n += 1);
    }
}

/// Draws a long list.
#[component]
pub(crate) fn Rows<T, D, M>(
    /// The list's rows.
    pages: Pages<T>,
    /// The height of a row, in pixels. It must equal the height in the CSS.
    height: f64,
    /// The label for screen readers.
    #[prop(into)]
    label: String,
    /// The list's CSS class.
    class: &'static str,
    /// The list's role.
    #[prop(default = ListRole::Grid)]
    kind: ListRole,
    /// The cursor: the current row.
    cursor: Cursor,
    /// The cells of the head row: the names of the columns.
    #[prop(optional)]
    head: Option<AnyView>,
    /// Draws the cells of a row, given its index and the row.
    draw: D,
    /// Returns a row's position in the tree, and whether the row is selected.
    mark: M,
    /// Handles a command of the list: the command, the index of the current row, and the row if it is loaded.
    on_key: Callback<(ListCommand, u64, Option<T>)>,
    /// Whether the keys `j`, `k` and others move in this list from anywhere on the page.
    #[prop(default = true)]
    main: bool,
) -> impl IntoView
where
    T: Clone + PartialEq + Send + Sync + 'static,
    D: Fn(u64, &T) -> AnyView + Send + Sync + Copy + 'static,
    M: Fn(&T) -> Mark + Send + Sync + Copy + 'static,
{
    let app = App::get();
    let scroller = NodeRef::<Div>::new();
    let list = DrawnList {
        pages,
        cursor,
        on_key,
        height,
        // A page has one main list, but may have several other lists. Their rows need different ids.
        name: StoredValue::new(match main {
            true => class.to_owned(),
            false => format!("{class}-{}", LISTS.fetch_add(1, Ordering::Relaxed)),
        }),
        scroller,
        top: RwSignal::new(0.0),
        seen: seen_height(scroller),
        is_open: Memo::new(move |_| {
            let row = pages.get(cursor.at.get());
            row.as_ref().map(mark).is_some_and(|mark| mark.selected)
        }),
    };
    let total = move || pages.total.get().unwrap_or(0);
    let printed = move || main && app.printing.get();
    let shown = list.shown(printed);
    // Before the first answer, the number of rows is unknown. A note then shows that the list is loading, instead of
    // placeholder rows.
    let waiting = Memo::new(move |_| pages.total.get().is_none() && pages.trouble.get().is_none());
    list.keep_in_view();
    if main {
        on_cleanup_local(app.list_keys(move |step| list.on_move(step)));
    }
    let row = move |index: u64| list.row(index, draw, mark);
    view! {
        <div
            class=format!("rows {class}") style=("--row", format!("{height}px")) data-list=main.then_some("") tabindex="0" node_ref=scroller
            role=match kind { ListRole::Grid => "grid", ListRole::Tree => "treegrid" }
            aria-label=label
            aria-rowcount=move || total() + 1
            aria-activedescendant=move || {
                let at = cursor.at.get();
                (total() > 0 && cursor.is_at(at)).then(|| list.name.with_value(|name| row_id(name, at)))
            }
            on:scroll=move |_| {
                if let Some(element) = scroller.get_untracked() {
                    list.scrolled(&element);
                }
            }
            on:keydown=move |event| list.on_keydown(&event)
        >
            {head.map(|head| view! { <div class="row head" role="row" aria-rowindex="1">{head}</div> })}
            {live(move || pages.trouble.get().map(|trouble| view! { <TroubleNote trouble/> }))}
            {live(move || waiting.get().then(|| view! { <Waiting/> }))}
            {live(move || (printed() && total() > PRINTED).then(|| view! {
                <p class="printed">{format!("The first {PRINTED} of {} rows", total())}</p>
            }))}
            <div class="rows-body" role="rowgroup" style:height=move || format!("{}px", total() as f64 * height)>
                <For each=move || shown.get() key=|index| *index children=row/>
            </div>
        </div>
    }
}

/// The state of a drawn list. It is cheap to copy.
struct DrawnList<T: 'static> {
    pages: Pages<T>,
    cursor: Cursor,
    on_key: Callback<(ListCommand, u64, Option<T>)>,
    height: f64,
    /// The beginning of the ids of the list's rows.
    name: StoredValue<String>,
    /// The element that scrolls, its scroll position, and its visible height in pixels.
    scroller: NodeRef<Div>,
    top: RwSignal<f64>,
    seen: ReadSignal<f64>,
    /// Whether the cursor's row is the open item. If so, the first step down goes to the row below it.
    is_open: Memo<bool>,
}

impl<T> Clone for DrawnList<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DrawnList<T> {}

impl<T: Clone + PartialEq + Send + Sync + 'static> DrawnList<T> {
    /// Returns the range of the rows to draw, and requests these rows. Starts printing when they have arrived.
    fn shown(self, printed: impl Fn() -> bool + Copy + Send + Sync + 'static) -> Memo<Range<u64>> {
        // If the list is redrawn in an existing element, that element may already be scrolled. Its position is read when
        // its height is known: earlier, the browser would lay out the page for it.
        Effect::new(move || {
            let element = self.scroller.get_untracked();
            if let Some(element) = element.filter(|_| self.seen.get() > 0.0) {
                self.scrolled(&element);
            }
        });
        let total = move || self.pages.total.get().unwrap_or(0);
        let shown = Memo::new(move |_| match printed() {
            true => 0..total().min(PRINTED),
            false => {
                let seen = Some(self.seen.get()).filter(|seen| *seen > 0.0);
                window::visible(
                    total(),
                    self.height,
                    self.top.get(),
                    seen.unwrap_or(UNMEASURED),
                )
            }
        });
        Effect::new(move || {
            self.pages.track();
            if printed() && self.pages.has(shown.get()) {
                print_now();
            }
        });
        // Requests the visible rows again whenever they change.
        Effect::new(move || {
            self.pages.track();
            self.pages.want(shown.get());
        });
        shown
    }

    /// Scrolls to the cursor when the cursor moves, and corrects both when the rows change.
    fn keep_in_view(self) {
        Effect::new(move || {
            self.cursor.reveal.track();
            // The list scrolls only when its height and number of rows are known, which may be later than the move of
            // the cursor.
            if self.seen.get() > 0.0 && self.pages.total.get().is_some() {
                self.reveal(self.cursor.at.get_untracked());
            }
        });
        // New rows above the visible rows push them down. The list scrolls by the same distance, so that the visible
        // rows stay in place.
        Effect::new(move || {
            self.pages.track_renewed();
            let carry = self.cursor.carry.try_update_value(Option::take);
            let Some(carry) = carry.flatten() else { return };
            if let Some((from, to)) = carry.at
                && self.cursor.at.get_untracked() == from
                && from != to
            {
                self.cursor.at.set(to);
            }
            let element = self.scroller.get_untracked();
            if let Some(element) = element.filter(|e| carry.down != 0 && e.scroll_top() > 0) {
                // The list can scroll only after it is drawn with its new length.
                request_animation_frame(move || {
                    if self.cursor.is_gone() {
                        return;
                    }
                    let down = (carry.down as f64 * self.height) as i32;
                    element.set_scroll_top(element.scroll_top() + down);
                    self.scrolled(&element);
                });
            }
        });
        // After rows are folded, the cursor's index may be past the end. The cursor then goes to the last row.
        Effect::new(move || {
            if let Some(total) = self.pages.total.get() {
                let last = total.saturating_sub(1);
                if self.cursor.at.get_untracked() > last {
                    self.cursor.at.set(last);
                }
            }
        });
    }

    /// Stores the element's scroll position.
    fn scrolled(self, element: &web_sys::HtmlDivElement) {
        let to = f64::from(element.scroll_top());
        self.top.set(to);
        self.cursor.top.set_value((to / self.height) as u64);
    }

    fn reveal(self, row: u64) {
        let Some(element) = self.scroller.get_untracked() else {
            return;
        };
        let top = f64::from(element.scroll_top());
        let to = window::reveal(row, self.height, top, self.seen.get_untracked());
        if let Some(to) = to {
            element.set_scroll_top(to as i32);
            self.scrolled(&element);
        }
    }

    /// Passes a command to the page.
    fn tell(self, key: ListCommand) {
        let at = self.cursor.at.get_untracked();
        let row = self.pages.peek(at);
        self.on_key.run((key, at, row));
    }

    fn step(self, to: u64) {
        let total = self.pages.total.get_untracked().unwrap_or(0);
        self.cursor.go(to.min(total.saturating_sub(1)));
        self.tell(ListCommand::Moved);
    }

    /// Returns the row to which a step down goes.
    fn below(self) -> u64 {
        let is_marked = self.cursor.has_moved() || self.is_open.get_untracked();
        self.cursor.at.get_untracked() + u64::from(is_marked)
    }

    fn on_keydown(self, event: &KeyboardEvent) {
        if event.ctrl_key() || event.meta_key() || event.alt_key() || from_inside(event) {
            return;
        }
        let at = || self.cursor.at.get_untracked();
        let page = || {
            ((self.seen.get_untracked() / self.height) as u64)
                .saturating_sub(1)
                .max(1)
        };
        match event.key().as_str() {
            "ArrowDown" => self.step(self.below()),
            "ArrowUp" => self.step(at().saturating_sub(1)),
            "PageDown" => self.step(at() + page()),
            "PageUp" => self.step(at().saturating_sub(page())),
            "Home" => self.step(0),
            "End" => self.step(u64::MAX),
            "ArrowLeft" => self.tell(ListCommand::Left),
            "ArrowRight" => self.tell(ListCommand::Right),
            "Enter" | " " => {
                self.cursor.go(at());
                self.tell(ListCommand::Enter);
            }
            _ => return,
        }
        event.prevent_default();
    }

    /// Executes a step for a key that was pressed anywhere on the page.
    fn on_move(self, step: Move) {
        if let Some(element) = self.scroller.get_untracked() {
            // An error is ignored: a list that cannot take the focus still goes to the row.
            let _ = element.focus();
        }
        match step {
            Move::Down => self.step(self.below()),
            Move::Up => self.step(self.cursor.at.get_untracked().saturating_sub(1)),
            Move::NextFailure => self.tell(ListCommand::NextFailure),
            Move::PreviousFailure => self.tell(ListCommand::PreviousFailure),
            Move::FoldWell => self.tell(ListCommand::FoldWell),
            Move::Mark => self.tell(ListCommand::Mark),
            Move::Fill => self.tell(ListCommand::Fill),
        }
    }

    fn row(
        self,
        index: u64,
        draw: impl Fn(u64, &T) -> AnyView + Send + Sync + Copy + 'static,
        mark: impl Fn(&T) -> Mark + Send + Sync + Copy + 'static,
    ) -> impl IntoView {
        let content = Memo::new(move |_| self.pages.get(index));
        let marked = Memo::new(move |_| content.read().as_ref().map(mark).unwrap_or_default());
        let current = move || self.cursor.is_at(index);
        let open = move |event: MouseEvent| {
            if is_link(&event) {
                return;
            }
            self.cursor.go(index);
            self.tell(ListCommand::Enter);
        };
        view! {
            <div
                class="row" role="row" id=self.name.with_value(|name| row_id(name, index))
                class:current=current
                class=("selected", move || marked.read().selected)
                class=("fresh", move || marked.read().fresh)
                aria-label=move || marked.read().label.clone()
                aria-rowindex=index + 2
                aria-selected=move || current().to_string()
                {..custom_attribute("aria-level", move || marked.read().level)}
                aria-expanded=move || marked.read().expanded.map(|e| e.to_string())
                aria-posinset=move || marked.read().place.map(|(n, _)| n)
                aria-setsize=move || marked.read().place.map(|(_, of)| of)
                style:transform=format!("translateY({}px)", index as f64 * self.height)
                on:click=open
            >
                {live(move || match content.read().as_ref() {
                    Some(row) => draw(index, row),
                    None => view! { <span class="bone" role="gridcell"></span> }.into_any(),
                })}
            </div>
        }
    }
}

/// The attributes of a row for screen readers and CSS: its position in the tree, and its state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The row's label for screen readers. `None` makes them read the cells in sequence.
    pub(crate) label: Option<String>,
    /// The row's level in the tree, from 1; `None` in a list without levels.
    pub(crate) level: Option<u32>,
    /// Whether the row's children are shown; `None` if the row has no children.
    pub(crate) expanded: Option<bool>,
    /// The row's position among its siblings, from 1, and the number of siblings.
    pub(crate) place: Option<(u32, u32)>,
    /// Whether the row is the open item.
    pub(crate) selected: bool,
    /// Whether the row was added by the last rereading.
    pub(crate) fresh: bool,
}

fn row_id(class: &str, index: u64) -> String {
    format!("{class}-{index}")
}

/// Returns whether a click was on a link or a button inside the row.
fn is_link(event: &MouseEvent) -> bool {
    let target = event
        .target()
        .and_then(|t| t.dyn_into::<web_sys::Element>().ok());
    target.is_some_and(|t| t.closest("a, button").ok().flatten().is_some())
}

/// Returns whether a key was pressed in a button or link inside of the list. That element handles the key itself.
fn from_inside(event: &KeyboardEvent) -> bool {
    event.target() != event.current_target()
}

/// Returns a signal with the visible height of an element in pixels, without the head row.
fn seen_height(of: NodeRef<Div>) -> ReadSignal<f64> {
    let (seen, set_seen) = signal(0.0);
    Effect::new(move || {
        let Some(element) = of.get() else { return };
        let measured = element.clone();
        let on_resize = Closure::<dyn FnMut()>::new(move || {
            let head = measured.query_selector(".head").ok().flatten();
            let head = head.map_or(0, |head| head.client_height());
            set_seen.try_set(f64::from(measured.client_height() - head).max(0.0));
        });
        if let Ok(observer) = web_sys::ResizeObserver::new(on_resize.as_ref().unchecked_ref()) {
            observer.observe(&element);
            let kept = StoredValue::new_local(Some((observer, on_resize)));
            on_cleanup(move || {
                kept.try_update_value(|kept| {
                    if let Some((observer, _)) = kept.take() {
                        observer.disconnect();
                    }
                });
            });
        }
    });
    seen
}
