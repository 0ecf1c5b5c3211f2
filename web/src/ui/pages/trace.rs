//! Draws the page of the trace: all executions of a run as a tree, and the detail of the open row.

mod ahead;
mod axis;
mod chosen;
mod map;
mod node;
mod row;
mod work;

use std::ops::Deref;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::pages::session::pages::{TraceChoice, TraceOrder};
use prosescope_core::pages::view::{Bar, NodeRef, RunPart, TreeRow};
use prosescope_desk::first;

use super::failures;
use super::item_of_row as item_of;
use crate::protocol::{Folded, Folds, Request, RevealedNode, TraceWindow, Trouble};
use crate::route::Page;
use crate::text::words;
use crate::ui::detail::{self, Beside};
use crate::ui::follow::{Carry, KeptItems, ListKeeper, Stand, on_cleanup_local};
use crate::ui::list::{Cursor, ListCommand, ListRole, Mark, Pages, Rows, Stretch};
use crate::ui::parts::{Empty, EmptyPart, is_small};
use crate::ui::state::{App, ShownRun};
use axis::{About, Axis};
use chosen::Choose;

/// The height of a row, in pixels. Narrow and touch screens use [`TALL_ROW`], because the bar is below the text there.
const ROW: f64 = 24.0;
const TALL_ROW: f64 = 42.0;

/// A row of the tree with its bar, if its times are recorded.
#[derive(Debug, Clone, PartialEq)]
struct TreeLine {
    row: TreeRow,
    bar: Option<Bar>,
}

impl Deref for TreeLine {
    type Target = TreeRow;

    fn deref(&self) -> &TreeRow {
        &self.row
    }
}

/// The tree of rows, its cursor, and the selected item. It is cheap to copy.
#[derive(Clone, Copy)]
struct Tree {
    app: App,
    run: ShownRun,
    pages: Pages<TreeLine>,
    cursor: Cursor,
    selected: Memo<Option<String>>,
}

/// Draws the page of the trace.
pub(super) fn draw() -> AnyView {
    let (app, run) = (App::get(), ShownRun::get());
    app.trace.begin(&run.place());
    begin(app, run);
    let told = RwSignal::new(Remarks::default());
    let pages = Pages::new(move |from, len| async move {
        let place = run.place();
        let request = Request::Trace {
            folded: app.folds(&place),
            choice: app.trace.choice.get_untracked(),
            timed: app.trace.timed.get_untracked(),
            place,
            from: from as u32,
            len,
        };
        let TraceWindow { page, bars } = app.ask(request).await?;
        let remarks = Remarks {
            note: page.note,
            lines: [page.remarks, page.remarks_behind].concat(),
        };
        // `try_` methods are used, because the user may have left the page.
        if told
            .try_get_untracked()
            .is_some_and(|before| before != remarks)
        {
            told.try_set(remarks);
        }
        let line = |row: TreeRow| TreeLine {
            bar: bars.iter().find(|bar| bar.node == row.node).copied(),
            row,
        };
        Ok(Stretch {
            rows: page.rows.into_iter().map(line).collect(),
            total: page.total.into(),
        })
    });
    let tree = Tree {
        app,
        run,
        pages,
        cursor: Cursor::new(),
        selected: detail::selected_or_peek({
            let stood = StoredValue::new(None);
            move || opened_first(app, run, stood)
        }),
    };
    pages.want(0..1);
    tree.keep();
    Effect::new(move || {
        if begin(app, run) {
            tree.pages.renew();
        }
    });
    // Goes to the row of the item in the address. Finding that row takes requests to the desk.
    Effect::new(move || {
        let item = tree.selected.get();
        if let Some(item) = item.filter(|item| !app.follow.is_renamed(item)) {
            spawn_local(tree.go_to(item));
        }
    });
    // Only whether the list is empty is tracked. Otherwise the list would be drawn anew, and lose the focus, with each
    // added row.
    let nothing = Memo::new(move |_| pages.total.get() == Some(0));
    let is_all = Memo::new(move |_| app.trace.choice.read().is_all());
    let axis = Axis::new(tree);
    let small = is_small();
    let timed = Memo::new(move |before: Option<&bool>| {
        let timed = app.trace.timed.get();
        if before.is_some() {
            tree.pages.renew();
        }
        timed
    });
    let list = move || {
        if nothing.get() && !is_all.get() {
            let why = "Try other words or another status.";
            view! { <Empty what="No row matches" why=why/> }.into_any()
        } else if nothing.get() {
            let why = "The run's record contains no statements, or none has run yet.";
            view! { <EmptyPart part=RunPart::Statements what="No statement is recorded" why=why/> }
                .into_any()
        } else {
            view! { <List tree axis timed=timed.get() small=small.get()/> {ahead::draw(run)} }
                .into_any()
        }
    };
    view! {
        <Choose tree/>
        {move || told.get().draw()}
        {move || timed.get().then(|| view! { <About axis/> })}
        <Beside list=list.into_any() open=tree.selected.into() label="Statement" draw=node::draw
            rise=Callback::new(move |item: String| app.put(run.item(Page::Trace, item)))/>
    }
    .into_any()
}

/// Returns the item of the row that is open from the start: the first failure, or else the run's position. Returns
/// `None` if the user closed this item, or if a filter may hide its row.
///
/// In a running run, that row stays open when the run goes on, because nobody wants a list to jump. `stood` keeps it.
fn opened_first(app: App, run: ShownRun, stood: StoredValue<Option<String>>) -> Option<String> {
    if app.trace.shut.get() {
        return None;
    }
    // The order is ignored, because it hides no rows. A filter for failures is ignored, because it never hides the
    // first failure.
    let mut left_out = app.trace.choice.get();
    left_out.order = TraceOrder::default();
    let only_failed = left_out.status == "failed";
    if only_failed {
        left_out.status.clear();
    }
    let is_all = left_out.is_all();
    run.overview.with(|overview| {
        let overview = overview.as_ref()?.as_ref().ok()?;
        let row = first::row(overview).filter(|_| overview.failure.is_some() || !only_failed);
        let item = row.filter(|_| is_all).map(super::item_of)?;
        if overview.failure.is_some() || overview.status != "running" {
            return Some(item);
        }
        let mut kept = stood.get_value();
        let item = kept.get_or_insert(item).clone();
        stood.set_value(kept);
        Some(item)
    })
}

/// Sets the initial state of the trace for this run: whether it shows times, and which nodes are folded. Returns
/// whether nodes were folded by this call.
fn begin(app: App, run: ShownRun) -> bool {
    let known = run.overview.with(|overview| {
        let overview = overview.as_ref()?.as_ref().ok()?;
        Some((overview.times_recorded, first::folds(overview).kind()))
    });
    let Some((timed, folded)) = known else {
        return false;
    };
    if app.trace.timed.get_untracked() != timed {
        app.trace.timed.set(timed);
    }
    folded != Folded::Nothing && app.fold_at_first(&run.place(), folded)
}

/// The remarks from the run's files, shown above the trace: a note to read first, and lines that record no statement.
#[derive(Debug, Clone, Default, PartialEq)]
struct Remarks {
    note: Option<String>,
    lines: Vec<String>,
}

impl Remarks {
    fn draw(self) -> AnyView {
        let count = words::counted(self.lines.len() as u64, "remark", "remarks");
        let lines = self.lines.join("\n");
        view! {
            {self.note.map(|note| view! { <p class="aside">{note}</p> })}
            {(!lines.is_empty()).then(|| view! {
                <details class="remarks"><summary>{count}" in the run's files"</summary><pre>{lines}</pre></details>
            })}
        }
        .into_any()
    }
}

/// A node of the trace: its number, and the item that identifies it in the address.
struct NodeAddress {
    at: u32,
    item: String,
}

impl Tree {
    /// Goes to the row of the item in the address.
    async fn go_to(self, item: String) {
        // The user may have left the page before this task runs.
        if self.cursor.is_gone() {
            return;
        }
        let before = self.cursor.mark();
        let node = self.node_of(&item).await;
        if self.cursor.is_gone() {
            return;
        }
        match node {
            // The address is changed from `first-failure` to the node itself. The page then goes to that node.
            Ok(Some(node)) if item.ends_with("-failure") => {
                self.app.put(self.run.item(Page::Trace, node.item));
            }
            Ok(Some(node)) => self.show(node.at, before).await,
            Ok(None) if item.ends_with("-failure") => {
                self.app.put(self.run.page(Page::Trace));
                self.no_failure().await;
            }
            _ => {}
        }
    }

    /// Returns the node of an item in the address: a row's id (`7`), a node's number (`~12`), `first-failure` or
    /// `last-failure`.
    async fn node_of(self, item: &str) -> Result<Option<NodeAddress>, Trouble> {
        let place = self.run.place();
        let named = |at: Option<u32>| {
            let item = item.to_owned();
            Ok(at.map(|at| NodeAddress { at, item }))
        };
        if let Some(node) = item.strip_prefix('~') {
            return named(node.parse().ok());
        }
        match (item, item.parse()) {
            (_, Ok(row)) => named(self.app.ask(Request::NodeOfRow { place, row }).await?),
            ("first-failure", _) => self.failure(None, true).await,
            ("last-failure", _) => self.failure(None, false).await,
            _ => Ok(None),
        }
    }

    async fn failure(
        self,
        node: Option<u32>,
        forward: bool,
    ) -> Result<Option<NodeAddress>, Trouble> {
        let node = failures::next(self.app, self.run.place(), node, forward).await?;
        Ok(node.map(|node| NodeAddress {
            at: node.node,
            item: super::item_of(&node),
        }))
    }

    /// Shows a message that nothing failed, and goes to the run's position.
    async fn no_failure(self) {
        if let Some(node) = failures::none(self.app, self.run.place()).await
            && !self.cursor.is_gone()
        {
            self.app
                .put(self.run.item(Page::Trace, super::item_of(&node)));
            self.reveal(node.node);
        }
    }

    /// Goes to a node even if it is already the item in the address. The node may have been hidden by folding since.
    fn reveal(self, node: u32) {
        spawn_local(async move {
            if !self.cursor.is_gone() {
                self.show(node, self.cursor.mark()).await;
            }
        });
    }

    /// Unfolds the ancestors of a node and goes to the node. Does nothing if the cursor was moved since `before`,
    /// because a late answer must not move the user back.
    async fn show(self, node: u32, before: (u64, u32)) {
        // The request is not sent if the cursor has moved, because its answer would unfold nodes.
        if self.cursor.is_gone() || self.cursor.mark() != before {
            return;
        }
        let seen = self
            .pages
            .peek(self.cursor.at.get_untracked())
            .map(|row| row.node);
        if seen == Some(node) {
            // The cursor is already at the node. Going there again scrolls its row into view.
            return self.cursor.go(self.cursor.at.get_untracked());
        }
        let place = self.run.place();
        let request = Request::Reveal {
            folded: self.app.folds(&place),
            choice: self.app.trace.choice.get_untracked(),
            place: place.clone(),
            node,
        };
        let answer = self.app.ask::<RevealedNode>(request).await;
        if let Ok(RevealedNode { row: None, .. }) = &answer
            && !self.cursor.is_gone()
        {
            // The filter hides the node's row, so the filter is cleared first.
            self.app.trace.choice.set(TraceChoice::default());
            self.again();
            return Box::pin(self.show(node, before)).await;
        }
        if let Ok(RevealedNode {
            row: Some(row),
            unfolded,
        }) = answer
            && !self.cursor.is_gone()
        {
            self.app.fold(&place, |folds| {
                for node in &unfolded {
                    folds.set(*node, false);
                }
            });
            let there = self.pages.peek(row.into()).map(|row| row.node);
            if !unfolded.is_empty() || there.is_some_and(|there| there != node) {
                self.pages.renew();
            }
            if self.cursor.mark() == before {
                self.cursor.go(row.into());
            }
        }
    }

    /// Keeps the current row and the first visible row in place when the run is reread.
    fn keep(self) {
        // With a filter, nothing is kept in place, because the desk reports positions among all rows only.
        let is_all = move || self.app.trace.choice.read_untracked().is_all();
        let node_at = move |row: u64| {
            let row = self.pages.peek(row).filter(|_| is_all());
            row.map_or(u32::MAX, |row| row.node)
        };
        let stood = StoredValue::new(Stand::default());
        let forget = self.app.follow.keep(ListKeeper {
            kept: Rc::new(move || {
                let stand = self.cursor.stand();
                stood.set_value(stand);
                KeptItems::Nodes(vec![node_at(stand.at), node_at(stand.top)])
            }),
            moved: Rc::new(move |moved| self.cursor.carry(Carry::of(stood.get_value(), moved))),
        });
        on_cleanup_local(forget);
    }

    /// Requests the rows again after the filter or the order changed. The first row is requested explicitly, because an
    /// empty list requests no rows itself.
    fn again(self) {
        self.pages.renew();
        self.pages.want(0..1);
    }

    /// Opens the cursor's row, if a row is open: moving the cursor with the keys moves the detail along.
    fn take_along(self) {
        if !self.cursor.is_gone()
            && self.selected.get_untracked().is_some()
            && let Some(row) = self.pages.peek(self.cursor.at.get_untracked())
        {
            self.select(&row);
        }
    }

    fn select(self, row: &TreeRow) {
        self.app.put(self.run.item(Page::Trace, item_of(row)));
    }

    fn fold(self, node: u32, folded: bool) {
        self.app
            .fold(&self.run.place(), |folds| folds.set(node, folded));
        self.pages.renew();
    }

    /// Returns the rule that decides which nodes are folded, without the user's exceptions.
    fn folded(self) -> Folded {
        self.app.folds(&self.run.place()).kind()
    }

    /// Folds the nodes that succeeded, or unfolds all nodes. The cursor stays at its row, whose ancestors are unfolded
    /// if necessary.
    fn fold_well(self) {
        let kind = match self.folded() {
            Folded::Well => Folded::Nothing,
            Folded::Nothing | Folded::All => Folded::Well,
        };
        let row = self.pages.peek(self.cursor.at.get_untracked());
        self.app
            .fold(&self.run.place(), |folds| *folds = Folds::of(kind));
        self.pages.renew();
        if let Some(row) = row.filter(|_| self.cursor.has_moved()) {
            self.cursor.go(0);
            self.reveal(row.node);
        }
    }

    fn on_key(self, axis: Axis, key: ListCommand, row: Option<TreeLine>) {
        if key == ListCommand::FoldWell {
            return self.fold_well();
        }
        let Some(row) = row else { return };
        match key {
            ListCommand::Enter => {
                self.select(&row);
                request_animation_frame(detail::enter);
            }
            ListCommand::Moved if self.selected.get_untracked().is_some() => self.select(&row),
            ListCommand::Moved => {}
            ListCommand::Left if row.children > 0 && !row.folded => self.fold(row.node, true),
            ListCommand::Left => spawn_local(async move {
                let request = Request::Parent {
                    place: self.run.place(),
                    node: row.node,
                };
                let before = self.cursor.mark();
                if let Ok(Some(parent)) = self.app.ask(request).await {
                    self.show(parent, before).await;
                    self.take_along();
                }
            }),
            ListCommand::Right if row.folded => self.fold(row.node, false),
            ListCommand::Right if row.children > 0 => {
                self.cursor.go(self.cursor.at.get_untracked() + 1);
                self.take_along();
            }
            ListCommand::Fill => {
                self.cursor.go(self.cursor.at.get_untracked());
                axis.fill(self.app, row.bar);
            }
            ListCommand::Right | ListCommand::FoldWell | ListCommand::Mark => {}
            ListCommand::NextFailure | ListCommand::PreviousFailure => {
                let forward = key == ListCommand::NextFailure;
                // The search starts at the current row only if the user chose a row. At first, the page itself opens a
                // row, such as the first failure; the search then starts at the top, so that it finds that failure.
                let is_chosen = self.app.route.read_untracked().selected().is_some();
                let is_chosen = is_chosen || self.selected.read_untracked().is_none();
                let from = (self.cursor.has_moved() && is_chosen).then_some(row.node);
                spawn_local(async move {
                    let next = self.failure(from, forward).await;
                    if self.cursor.is_gone() {
                        return;
                    }
                    match next {
                        Ok(Some(next)) => {
                            self.app.put(self.run.item(Page::Trace, next.item));
                            self.reveal(next.at);
                        }
                        Ok(None) => match self.failure(None, true).await {
                            Ok(Some(_)) if forward => self.app.say("No failure after this row"),
                            Ok(Some(_)) => self.app.say("No failure before this row"),
                            Ok(None) if !self.cursor.is_gone() => self.no_failure().await,
                            _ => {}
                        },
                        Err(_) => {}
                    }
                });
            }
        }
    }
}

/// Draws a link to a node of the trace. Each click goes to the node, even if the address already contains it.
#[component]
fn To(tree: Tree, node: NodeRef, children: Children) -> impl IntoView {
    let at = node.node;
    let to = tree.run.item(Page::Trace, super::item_of(&node));
    view! { <a href=to.to_string() on:click=move |_| tree.reveal(at)>{children()}</a> }
}

#[component]
fn List(tree: Tree, axis: Axis, timed: bool, small: bool) -> impl IntoView {
    let head = view! {
        <span role="columnheader">"Statement"</span>
        {match timed {
            true => view! { <span role="columnheader" class="num">"Took"</span>{axis.ticks()} }.into_any(),
            false => view! { <span role="columnheader" class="wide">"Wrote"</span> }.into_any(),
        }}
    }
    .into_any();
    let selected = tree.selected;
    let mark = move |row: &TreeLine| Mark {
        label: Some(row::called(
            row,
            axis.lasted(row.bar, row.duration.as_deref()).as_deref(),
        )),
        level: Some(row.level + 1),
        expanded: (row.children > 0).then_some(!row.folded),
        place: Some(row.place),
        selected: selected
            .get()
            .is_some_and(|item| item == item_of(row) || item == format!("~{}", row.node)),
        fresh: tree.app.follow.is_new_node(&tree.run.place(), row.node),
    };
    let height = if small { TALL_ROW } else { ROW };
    let rows = view! {
        <Rows
            pages=tree.pages height label="Trace" class="trace-rows" kind=ListRole::Tree cursor=tree.cursor
            head draw=move |_, line: &TreeLine| row::draw(tree, axis, timed, line) mark=mark
            on_key=Callback::new(move |(key, _, row)| tree.on_key(axis, key, row))
        />
    };
    view! {
        <div class="timed-list" class:timed=timed style=("--behind", move || axis.background())
            on:wheel=move |event| if timed { axis.on_wheel(&event) }>
            {rows}
        </div>
    }
}
