//! Draws the texts and JSON values of a workflow. Short values are drawn in place; long values are folded, and drawn
//! when the user unfolds them.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use leptos::prelude::*;
use prosescope_workflow::page::{Extra, Member, RecordedText};

use crate::text::words;
use crate::ui::parts::{live, pairs};
use crate::ui::rendered::Markdown;
use crate::ui::value::Text;
use prosescope_desk::text::laid_out;

/// The longest JSON that is drawn in place, in bytes.
const SHORT: usize = 100;

/// The longest value that [`opened`] draws unfolded, in bytes.
const OPEN: usize = 4000;

/// The CSS class of a table of names and values.
const KEPT: &str = "pairs kept";

/// Draws a text of a message, an input or an output: as Markdown, or as folded JSON.
pub(super) fn said(value: RecordedText) -> AnyView {
    let cut = cut_note(&value);
    match value.json {
        true => view! { <Folded value label="JSON"/> }.into_any(),
        false if value.text.is_empty() => view! { <p class="none">"empty"</p> }.into_any(),
        false => view! { <Markdown text=value.text/>{cut} }.into_any(),
    }
}

/// Draws a value in a table or below a name. A short value is drawn in place, a long value folded.
pub(super) fn value(value: RecordedText, label: &'static str) -> AnyView {
    let is_short = value.text.len() <= SHORT && !value.text.contains('\n');
    match (value.json, is_short) {
        (true, true) => view! { <code class="wrap">{value.text}</code> }.into_any(),
        (true, false) => view! { <Folded value label/> }.into_any(),
        (false, _) if value.text.is_empty() => {
            view! { <span class="none">"empty"</span> }.into_any()
        }
        (false, _) if value.text.len() <= 2000 => {
            view! { <span class="plain-text">{value.text}</span> }.into_any()
        }
        (false, _) => view! { <Folded value label/> }.into_any(),
    }
}

/// Draws a folded value. It is formatted only when the user unfolds it.
#[component]
pub(super) fn Folded(
    /// The value.
    value: RecordedText,
    /// The value's label.
    label: &'static str,
) -> impl IntoView {
    let name = (label, value.text.clone());
    let len = value.cut_from.unwrap_or(value.text.len() as u64);
    let held = StoredValue::new(value);
    let line = view! { {label}<span class="faint">" · "{words::bytes(len)}</span> };
    fold(&name, "folded", line.into_any(), move || {
        let text = held.with_value(|value| match value.json {
            true => laid_out(&value.text),
            false => value.text.clone(),
        });
        let cut = held.with_value(|value| value.cut_from);
        view! { <Text text/>{cut.map(cut_words)} }.into_any()
    })
}

/// Returns the key of a foldable part, a hash of its name. It identifies the part when the page is redrawn.
pub(super) fn hash_of(name: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// Draws a line that unfolds. Its content is drawn only while it is open. The line stays open when the page is redrawn.
pub(super) fn fold(
    name: impl Hash,
    class: &'static str,
    line: AnyView,
    draw: impl Fn() -> AnyView + Send + 'static,
) -> AnyView {
    fold_of(hash_of(name), class, line, Box::new(draw))
}

fn fold_of(
    hash: u64,
    class: &'static str,
    line: AnyView,
    draw: Box<dyn Fn() -> AnyView + Send>,
) -> AnyView {
    let unfolded = super::ShownWorkflow::get().unfolded;
    let open = Memo::new(move |_| unfolded.read().contains(&hash));
    let on_toggle = move |event: leptos::ev::Event| {
        let is_open = event_target::<web_sys::Element>(&event).has_attribute("open");
        if is_open != open.get_untracked() {
            unfolded.update(|unfolded| {
                match is_open {
                    true => unfolded.insert(hash),
                    false => unfolded.remove(&hash),
                };
            });
        }
    };
    view! {
        <details class=class prop:open=open on:toggle=on_toggle>
            <summary>{line}</summary>
            {live(move || open.get().then(|| view! { <div class="inside">{draw()}</div> }))}
        </details>
    }
    .into_any()
}

fn cut_note(value: &RecordedText) -> Option<AnyView> {
    value.cut_from.map(|len| cut_words(len).into_any())
}

fn cut_words(len: u64) -> impl IntoView {
    let words = format!(
        "Only the beginning of {} is shown. `prosescope workflow show --json` prints all of it.",
        words::bytes(len)
    );
    view! { <p class="faint">{words}</p> }
}

/// Draws a value that is the main content of its part: formatted and unfolded, unless it is longer than [`OPEN`].
pub(super) fn opened(value: RecordedText) -> AnyView {
    if value.text.len() > OPEN {
        return view! { <Folded value label="Show"/> }.into_any();
    }
    let text = match value.json {
        true => laid_out(&value.text),
        false => value.text,
    };
    view! { <Text text/> }.into_any()
}

/// Draws the members of an object as a table.
pub(super) fn members(members: Vec<Member>) -> AnyView {
    let rows = members.into_iter().map(|member| {
        let name = match member.name.is_empty() {
            true => "(not an object)".to_owned(),
            false => member.name,
        };
        (name, value(member.value, "JSON"))
    });
    pairs(KEPT, rows.collect())
}

/// Draws the columns of a row that OpenProse does not define; `None` if there are none.
pub(super) fn others(extra: Extra) -> Option<AnyView> {
    if extra.is_empty() {
        return None;
    }
    let rows = extra.into_iter().map(|(name, cell)| {
        let shown = match cell {
            Some(text) => value(
                RecordedText {
                    text,
                    ..RecordedText::default()
                },
                "Show",
            ),
            None => view! { <span class="none">"NULL"</span> }.into_any(),
        };
        (name, shown)
    });
    let table = pairs(KEPT, rows.collect());
    Some(view! { <h3>"Other columns"</h3>{table} }.into_any())
}
