//! Draws two runs of a program side by side, with the rows and values that differ.

mod row;
mod values;

use leptos::prelude::*;
use prosescope_core::pages::view::{
    CompareView, ComparedNode, ComparedRow, ComparedRun, Difference, TokenCount, icon,
};

use super::bar_end::bar_end;
use super::detail::{self, Beside};
use super::icons;
use super::list::{Cursor, ListCommand, Mark, Pages, Rows};
use super::load::{ask, loaded};
use super::parts::{Empty, link, tone_class};
use super::state::{App, Desk, find};
use crate::protocol::Request;
use crate::route::{Page, Route};
use crate::text::words;

/// The item in the address that opens the details of both runs as a whole: `#/compare/{a}/{b}/runs`.
const WHOLE: &str = "runs";

/// The ids or paths by which the address identifies the two runs.
#[derive(Clone)]
struct Keys {
    a: String,
    b: String,
}

/// Draws two runs side by side.
#[component]
pub(crate) fn Compare(
    /// The id or path of the first run in the address.
    a: String,
    /// The id or path of the second run in the address.
    b: String,
) -> impl IntoView {
    let app = App::get();
    let place = move |key: &str| match &*app.desk.read_untracked() {
        Desk::Open(list) => find(list, key).unwrap_or_else(|| key.to_owned()),
        _ => key.to_owned(),
    };
    let (in_a, in_b) = (place(&a), place(&b));
    let (all, anyway) = (RwSignal::new(false), RwSignal::new(false));
    let answer = ask::<CompareView>(move || Request::Compare {
        a: in_a.clone(),
        b: in_b.clone(),
        all: all.get(),
        anyway: anyway.get(),
    });
    app.trace.shut.set(false);
    document().set_title("Two runs — Prosescope");
    let keys = StoredValue::new(Keys { a, b });
    provide_context(keys);
    let refused = move || answer.with(|answer| matches!(answer, Some(Err(_)))) && !anyway.get();
    view! {
        <div class="app">
            <header class="bar run-bar">
                <a class="brand" href="#/" title="All runs (g)" aria-label="All runs">{icons::mark()}</a>
                <a class="up" href="#/" title="The list of runs (g)">{icons::left()}<span>"Runs"</span></a>
                <b class="name">"Compare two runs"</b>
                <span class="grow"></span>
                {bar_end(app, None)}
            </header>
            <main id="main" tabindex="-1" class="page page-compare">
                {loaded(answer, move |view: CompareView| view! { <Compared view all/> }.into_any())}
                {move || refused().then(|| view! {
                    <p class="do"><button on:click=move |_| anyway.set(true)>"Compare the runs anyway"</button></p>
                })}
            </main>
        </div>
    }
}

#[component]
fn Compared(view: CompareView, all: RwSignal<bool>) -> impl IntoView {
    let keys = expect_context::<StoredValue<Keys>>().get_value();
    let notes = view.notes.clone();
    let tone = match (view.equal, view.incomplete) {
        (true, _) => "completed",
        (false, true) => "waiting",
        (false, false) => "was executing",
    };
    let longer = view
        .longer
        .clone()
        .map(|longer| view! { <span>"B against A: "{longer}</span> });
    let program = view.programs.words.clone();
    view! {
        <section class="band" aria-label="What differs">
            <div class="verdict">
                <div class="told-it">
                    <h1><i class=format!("glyph {}", tone_class(tone)) aria-hidden="true">{icon(tone)}</i><span>{words::first_upper(&view.found)}</span></h1>
                    {one("A", &view.a, &keys.a)}
                    {one("B", &view.b, &keys.b)}
                    <p class="meta"><span>{program}</span>{longer}</p>
                    {notes.into_iter().map(|note| view! { <p class="meta wait-words">{note}</p> }).collect_view()}
                </div>
            </div>
        </section>
        <div class="tools">
            <span class="faint">{words::counted(view.rows.len() as u64, "row", "rows")}</span>
            {(view.rows_left_out > 0).then(|| view! { <span class="wait-words">{words::count(view.rows_left_out.into())}" more are not listed"</span> })}
            <span class="grow"></span>
            <label class="check"><input type="checkbox" prop:checked=move || all.get()
                on:change=move |event| all.set(event_target_checked(&event))/>"Also show equal rows"</label>
        </div>
        <List view all=all.get_untracked()/>
    }
}

/// Draws a run: its letter, its status, and a link to it.
fn one(letter: &'static str, run: &ComparedRun, key: &str) -> AnyView {
    let status = run.status.clone();
    let to = Route::page(key, Page::Trace);
    view! {
        <p class="reason one-run">
            <b class=format!("letter {}", letter.to_lowercase())>{letter}</b>
            <i class=format!("glyph {}", tone_class(&status)) role="img" aria-label=status.clone()>{icon(&status)}</i>
            {link(to, run.run.as_str())}
            <span class="soft" dir="auto">{words::joined([
                run.headline.clone(),
                run.tokens.as_ref().map(TokenCount::words).unwrap_or_default(),
            ])}</span>
        </p>
    }
    .into_any()
}

/// Draws the rows, and beside them the details of one row or of both runs. Rows that only enclose others are left out,
/// unless `all` rows are shown.
#[component]
fn List(view: CompareView, all: bool) -> impl IntoView {
    let app = App::get();
    let rows = view.rows.clone();
    // A row with children has no bar for its duration. Its duration includes those of the children, so the bars of all
    // other rows would be short.
    let next = |at: usize| rows.get(at + 1).map(|row| row.level);
    let numbered = rows.iter().enumerate().map(|(at, row)| NumberedRow {
        at,
        holds: next(at).is_some_and(|level| level > row.level),
        row: row.clone(),
    });
    let numbered: Vec<NumberedRow> = numbered
        .filter(|of| all || !of.holds || of.differs_itself())
        .collect();
    let alone = numbered.iter().filter(|of| !of.holds);
    let both = alone.flat_map(|of| [&of.row.a, &of.row.b]).flatten();
    let longest = both.filter_map(|node| node.duration_ms).max().unwrap_or(0);
    let is_empty = rows.is_empty();
    let beside = beside_rows(&view);
    let first = match (beside.is_empty(), numbered.first()) {
        (true, Some(row)) => row.at.to_string(),
        _ => WHOLE.to_owned(),
    };
    let selected = detail::selected_or(move || (!app.trace.shut.get()).then(|| first.clone()));
    provide_context(StoredValue::new(view));
    let put = move |item: String| {
        if let Route::Compare { a, b, .. } = app.route.get_untracked() {
            app.put(Route::Compare {
                a,
                b,
                item: Some(item),
            });
        }
    };
    let on_key = Callback::new(
        move |(key, _, row): (ListCommand, u64, Option<NumberedRow>)| {
            let open = selected.read_untracked().is_some();
            if let Some(row) = row
                && (key == ListCommand::Enter || (key == ListCommand::Moved && open))
            {
                put(row.at.to_string());
            }
            if key == ListCommand::Enter {
                request_animation_frame(detail::enter);
            }
        },
    );
    let cursor = Cursor::new();
    let item: Option<usize> = selected.get_untracked().and_then(|item| item.parse().ok());
    if let Some(place) = numbered.iter().position(|of| Some(of.at) == item) {
        cursor.go(place as u64);
    }
    let mark = move |of: &NumberedRow| Mark {
        selected: selected.get().is_some_and(|item| item == of.at.to_string()),
        ..Mark::default()
    };
    let head = view! {
        <span role="columnheader">"Statement"</span>
        <span role="columnheader">"A"</span>
        <span role="columnheader">"B"</span>
        <span role="columnheader" class="num wide">"B − A"</span>
        <span role="columnheader" class="wide">"A above B"</span>
    };
    let list = match is_empty {
        true => view! { <Empty what="No row differs" why="Values, gates, files and other records may differ: see above."/> }.into_any(),
        false => view! {
            <Rows pages=Pages::of(numbered) height=28.0 label="Rows of both runs" class="compare-rows" cursor
                head=head.into_any() draw=move |_, of: &NumberedRow| draw_row(of, longest, all) mark on_key/>
        }
        .into_any(),
    };
    let whole = move |_| put(WHOLE.to_owned());
    let whole = match beside.is_empty() {
        true => "No program, value, memory or other record differs beside these rows.".into_any(),
        false => {
            view! { "Beside these rows: "<button class="in-text" on:click=whole>{beside}</button> }
                .into_any()
        }
    };
    view! {
        <p class="tools-line faint">{whole}</p>
        <Beside list open=selected.into() label="What differs" draw=row::draw/>
    }
}

/// Returns what differs beside the rows, in words; empty if nothing does.
fn beside_rows(view: &CompareView) -> String {
    let parts = [
        (!view.programs.lines.is_empty(), "programs"),
        (!view.values.is_empty(), "inputs and other values"),
        (!view.memories.is_empty(), "memories"),
        (!view.records.is_empty(), "gates, files and other records"),
        (!view.not_compared.is_empty(), "what could not be compared"),
    ];
    words::joined(parts.map(|(differs, what)| if differs { what } else { "" }))
}

/// A row of the comparison, with its index.
#[derive(Debug, Clone, PartialEq)]
struct NumberedRow {
    at: usize,
    /// Whether the following rows are children of this row.
    holds: bool,
    row: ComparedRow,
}

impl NumberedRow {
    /// Returns whether the row differs in more than follows from the rows in it.
    fn differs_itself(&self) -> bool {
        let mut differs = self.row.differs.iter();
        differs.any(|of| !matches!(of, Difference::Status | Difference::Duration))
    }
}

/// Draws a row, indented if `all` rows are shown.
fn draw_row(of: &NumberedRow, longest: i64, all: bool) -> AnyView {
    let (row, holds) = (&of.row, of.holds);
    let level = if all { row.level.min(16) } else { 0 };
    let is_longer = row.differs.contains(&Difference::Duration);
    let text = row
        .b
        .as_ref()
        .or(row.a.as_ref())
        .map(|node| node.at.text.clone());
    let text = text.unwrap_or_default();
    let (sign, class, says) = match (&row.a, &row.b) {
        (Some(_), None) => ("−", "sign bad", "only in A"),
        (None, Some(_)) => ("+", "sign ok", "only in B"),
        _ if row.differs.is_empty() => ("", "sign quiet", ""),
        _ => ("~", "sign wait", "differs"),
    };
    let title = text.clone();
    let below =
        (row.below > 0).then(|| words::counted(row.below.into(), "row below", "rows below"));
    view! {
        <span role="gridcell" class="tree" title=title style:--level=level.to_string()>
            <b class=class title=says aria-label=says>{sign}</b>
            <span class="text" class:soft=row.differs.is_empty() dir="auto">{text}</span>
            <em class="more">{in_what(row)}</em>
            {below.map(|below| view! { <em>{below}</em> })}
        </span>
        {side(row.a.as_ref(), holds)}
        {side(row.b.as_ref(), holds)}
        <span role="gridcell" class="num wide took">{row.longer.clone()}</span>
        <span role="gridcell" class="wide bars" aria-hidden="true">
            {(!holds && is_longer).then(|| [bar("a", row.a.as_ref(), longest), bar("b", row.b.as_ref(), longest)])}
        </span>
    }
    .into_any()
}

/// Returns the words for what differs between both runs in a row: `status, values`.
fn in_what(row: &ComparedRow) -> String {
    let word = |difference: &Difference| match difference {
        Difference::OnlyA | Difference::OnlyB => "",
        Difference::Text => "text",
        Difference::Status => "status",
        Difference::Attempts => "attempts",
        Difference::Error => "error",
        Difference::Outcome => "decision",
        Difference::Values => "values",
        Difference::Duration => "time",
    };
    let words: Vec<&str> = row
        .differs
        .iter()
        .map(word)
        .filter(|word| !word.is_empty())
        .collect();
    let guess = if row.guessed {
        " (likely the same statement)"
    } else {
        ""
    };
    format!("{}{guess}", words.join(", "))
}

fn side(node: Option<&ComparedNode>, holds: bool) -> AnyView {
    let cell = node.map(|node| {
        let status = node.at.status.clone();
        let took = node.duration.clone().unwrap_or_default();
        view! {
            <i class=format!("glyph {}", tone_class(&status)) class:quiet-one=holds role="img" title=status.clone() aria-label=status.clone()>{icon(&status)}</i>
            <span class="soft">{took}</span>
        }
    });
    view! { <span role="gridcell" class="side">{cell}</span> }.into_any()
}

/// Draws a bar for a row's duration; `longest` is the duration of a full bar, in milliseconds.
fn bar(class: &'static str, node: Option<&ComparedNode>, longest: i64) -> Option<AnyView> {
    let took = node?.duration_ms.filter(|_| longest > 0)?;
    let part = (took as f64 / longest as f64 * 100.0).min(100.0);
    Some(view! { <i class=class style:width=format!("{part:.3}%")></i> }.into_any())
}
