//! Draws a value that differs between two runs: the lines that only one run has, with the differing part of each line
//! marked.

use leptos::prelude::*;
use prosescope_core::pages::view::{ChangedLine, ComparedValue};

use super::Keys;
use crate::route::{Page, Route};
use crate::text::words;
use crate::ui::parts::link;

/// Draws a value that differs, with links to the value in both runs.
pub(super) fn value(of: &ComparedValue) -> AnyView {
    compared(of, true)
}

/// Draws the differences between an agent's memories in both runs.
pub(super) fn memory(of: &ComparedValue) -> AnyView {
    compared(of, false)
}

fn compared(of: &ComparedValue, is_value: bool) -> AnyView {
    let keys = expect_context::<StoredValue<Keys>>().get_value();
    let is_record = of.a_len.is_none() && of.b_len.is_none();
    let side = |letter: &'static str, key: &str, at: Option<u32>, len: Option<u64>| {
        let none = match at {
            Some(_) if is_record => "recorded",
            None if is_record => "not recorded",
            _ => "no value",
        };
        let size = len.map_or_else(|| none.to_owned(), words::bytes);
        // The memory of an agent is not in the list of values, so it has no link to that list.
        match at.filter(|_| is_value) {
            Some(at) => {
                let to = Route::item(key, Page::Bindings, at);
                view! { <small class="faint">{letter}" "{link(to, size)}</small> }.into_any()
            }
            None => view! { <small class="faint">{letter}" "{size}</small> }.into_any(),
        }
    };
    let cut = of
        .cut
        .then_some("Only the first 64 KiB were compared line by line.");
    let likely = of.inferred.then(|| {
        view! { <small class="wait-words" title="Which row wrote the value is not recorded: inferred from names and order.">"likely"</small> }
    });
    view! {
        <section class="given">
            <p class="line-up">
                <b dir="auto">{of.name.clone()}</b>
                <small class="faint">{of.kind.clone()}</small>
                {likely}
                <span class="grow"></span>
                {side("A", &keys.a, of.a, of.a_len)}
                {side("B", &keys.b, of.b, of.b_len)}
            </p>
            {(!of.lines.is_empty()).then(|| lines(&of.lines, of.more_lines))}
            {of.note.clone().map(|note| view! { <p class="faint">{note}</p> })}
            {cut.map(|cut| view! { <p class="faint">{cut}</p> })}
        </section>
    }
    .into_any()
}

/// Draws the lines that only one of two texts has.
pub(super) fn lines(lines: &[ChangedLine], more: u32) -> AnyView {
    let line = |line: &ChangedLine| {
        let class = if line.mark == '+' { "add" } else { "del" };
        let at = line.text.char_indices().nth(line.alike as usize);
        let at = at.map_or(line.text.len(), |(at, _)| at);
        let (same, other) = line.text.split_at(at);
        let other = match line.alike {
            0 => other.to_owned().into_any(),
            _ => view! { <b>{other.to_owned()}</b> }.into_any(),
        };
        view! { <li class=class><i>{line.mark.to_string()}</i><span dir="auto">{same.to_owned()}{other}</span></li> }
    };
    view! {
        <ul class="changes">{lines.iter().map(line).collect_view()}</ul>
        {(more > 0).then(|| view! { <p class="faint">"and "{words::counted(more.into(), "more line", "more lines")}</p> })}
    }
    .into_any()
}
