//! Draws the sheet with a run, or one row of its trace, as text for a language model. The user sees the text before
//! copying it.

use leptos::prelude::*;
use prosescope_core::pages::view::{ForModel, ModelSize};
use prosescope_share::wishes::Wishes;

use crate::protocol::Request;
use crate::text::words;
use crate::ui::load::{ask, loaded};
use crate::ui::parts::Copy;
use crate::ui::state::ShownRun;

/// Draws the content of the sheet. `node` is the number of the row to describe; `None` lets the core choose.
pub(super) fn draw(node: Option<u32>) -> AnyView {
    let run = ShownRun::get();
    let size = RwSignal::new(ModelSize::default());
    let answer = ask::<ForModel>(move || Request::ForModel {
        place: run.place(),
        node,
        size: size.get(),
        wishes: Wishes::default(),
    });
    let sizes = [ModelSize::Small, ModelSize::Medium, ModelSize::Large].map(|of| {
        view! {
            <button aria-pressed=move || (size.get() == of).to_string() on:click=move |_| size.set(of)>
                {of.bytes() / 1000}" KB"
            </button>
        }
    });
    let text = loaded(answer, |copy: ForModel| {
        let facts = words::joined([
            words::bytes(copy.bytes),
            format!("about {} tokens", words::count(copy.tokens)),
            copy.replaced_words(),
        ]);
        let left = copy.left_out.join("; ");
        let left = (!left.is_empty())
            .then(|| view! { <p class="faint">"Left out or shortened: "{left}</p> });
        view! {
            <p class="soft">{facts}</p>
            {left}
            <pre class="raw" tabindex="0">{copy.text}</pre>
        }
        .into_any()
    });
    // The text to copy is a signal, so that the button stays in the page and keeps the focus while another size is
    // loaded.
    let copied = Signal::derive(move || {
        answer.with(|answer| match answer {
            Some(Ok(copy)) => copy.text.clone(),
            _ => String::new(),
        })
    });
    view! {
        <p class="line-up">
            <span class="faint">"At most"</span>
            <span class="tabs" role="group" aria-label="At most">{sizes}</span>
            <Copy text=copied label="Copy" first=true/>
        </p>
        {text}
    }
    .into_any()
}
