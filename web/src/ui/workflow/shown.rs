//! Texts and JSON of a workflow: short ones in place, long ones folded, drawn when they are opened.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use leptos::prelude::*;
use prosescope_workflow::page::{Extra, Member, Shown};

use crate::text::words;
use crate::ui::parts::{live, pairs};
use crate::ui::rendered::Markdown;
use crate::ui::value::Text;
use prosescope_desk::text::laid_out;

/// JSON up to this length is shown in place.
const SHORT: usize = 100;

/// A value that is looked at for its own sake is laid out at once up to this length.
const OPEN: usize = 4000;

/// The class of a table of names and values.
const KEPT: &str = "pairs kept";

/// What a person or an engine said: Markdown; JSON as such.
pub(super) fn said(value: Shown) -> AnyView {
    let cut = cut_note(&value);
    match value.json {
        true => view! { <Folded value label="JSON"/> }.into_any(),
        false if value.text.is_empty() => view! { <p class="none">"empty"</p> }.into_any(),
        false => view! { <Markdown text=value.text/>{cut} }.into_any(),
    }
}

/// A value in a table or under a name: as it is where it is short, else folded.
pub(super) fn value(value: Shown, label: &'static str) -> AnyView {
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

/// A value behind a fold; laid out when it is opened.
#[component]
pub(super) fn Folded(
    /// The value.
    value: Shown,
    /// What it is.
    label: &'static str,
) -> impl IntoView {
    let kept = super::Shown::get().kept;
    let mut hasher = DefaultHasher::new();
    (label, &value.text).hash(&mut hasher);
    let hash = hasher.finish();
    let is_open = kept.with_value(|kept| kept.unfolded.contains(&hash));
    let (opened, set_opened) = signal(is_open);
    let on_toggle = move |event: leptos::ev::Event| {
        set_opened.set(true);
        let open = event_target::<web_sys::Element>(&event).has_attribute("open");
        kept.update_value(|kept| {
            match open {
                true => kept.unfolded.insert(hash),
                false => kept.unfolded.remove(&hash),
            };
        });
    };
    let len = value.cut_from.unwrap_or(value.text.len() as u64);
    let cut = StoredValue::new(value.cut_from);
    let held = StoredValue::new(value);
    view! {
        <details class="folded" open=is_open on:toggle=on_toggle>
            <summary>{label}<span class="faint">" · "{words::bytes(len)}</span></summary>
            {live(move || opened.get().then(|| {
                let text = held.with_value(|value| match value.json {
                    true => laid_out(&value.text),
                    false => value.text.clone(),
                });
                view! { <Text text/>{cut.get_value().map(cut_words)} }
            }))}
        </details>
    }
}

fn cut_note(value: &Shown) -> Option<AnyView> {
    value.cut_from.map(|len| cut_words(len).into_any())
}

fn cut_words(len: u64) -> impl IntoView {
    let words = format!(
        "The beginning of {}. `prosescope workflow show --json` prints all of it.",
        words::bytes(len)
    );
    view! { <p class="faint">{words}</p> }
}

/// A value that is looked at for its own sake: laid out at once, unless it is long.
pub(super) fn opened(value: Shown) -> AnyView {
    if value.text.len() > OPEN {
        return view! { <Folded value label="Show"/> }.into_any();
    }
    let text = match value.json {
        true => laid_out(&value.text),
        false => value.text,
    };
    view! { <Text text/> }.into_any()
}

/// Members of an object as a table.
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

/// Columns that the document does not have; nothing where there are none.
pub(super) fn others(extra: Extra) -> Option<AnyView> {
    if extra.is_empty() {
        return None;
    }
    let rows = extra.into_iter().map(|(name, cell)| {
        let shown = match cell {
            Some(text) => value(
                Shown {
                    text,
                    ..Shown::default()
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
