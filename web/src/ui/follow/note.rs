//! Draws the indicator in the bar that shows whether the page follows changes, and when the last change was. A click
//! on the indicator pauses or continues following.

use leptos::prelude::*;
use prosescope_core::model::time::human_duration;

use super::now;
use crate::ui::icons;
use crate::ui::state::App;

/// The interval at which the words `changed … ago` are updated, in milliseconds.
const TICK: u64 = 1000;

/// Draws the button that pauses and continues following. If dropped files have changed, draws the button that opens
/// them again.
#[component]
pub(crate) fn Following() -> impl IntoView {
    let app = App::get();
    let follow = app.follow;
    let since = RwSignal::new(String::new());
    let tell = move || {
        let words = follow.changed.get_untracked().map(|at| ago(now() - at));
        let words = words.unwrap_or_default();
        if *since.read_untracked() != words {
            since.set(words);
        }
    };
    Effect::new(move || {
        follow.changed.track();
        tell();
    });
    if let Ok(ticking) = set_interval_with_handle(tell, std::time::Duration::from_millis(TICK)) {
        on_cleanup(move || ticking.clear());
    }
    let how = move || match (follow.on.get(), follow.trouble.get()) {
        (false, _) => (
            "follow off",
            "Paused",
            "Changes are not shown. Continue (w)".to_owned(),
        ),
        (true, Some(trouble)) => (
            "follow bad",
            "Not up to date",
            format!("{} {}", trouble.cause, trouble.next),
        ),
        (true, None) => (
            "follow",
            "Following",
            "Changes are shown as they happen. Pause (w)".to_owned(),
        ),
    };
    let how = Memo::new(move |_| how());
    let is_off = Memo::new(move |_| !follow.on.get());
    move || {
        if let Some(file) = follow.outdated.get() {
            let title = format!("{file} has changed since it was opened. Open it again (w)");
            return Some(
                view! {
                    <button class="follow wait" title=title on:click=move |_| app.open_again()>
                        {icons::again()}<span>"Changed on disk"</span><b>"Reload"</b>
                    </button>
                }
                .into_any(),
            );
        }
        follow.served.get().then(|| {
            view! {
                <button class=move || how.get().0 title=move || how.get().2 on:click=move |_| { follow.toggle(); }>
                    {move || if is_off.get() { icons::play() } else { icons::pause() }}
                    <span>{move || how.get().1}</span>
                    <small>{move || since.get()}</small>
                </button>
            }
            .into_any()
        })
    }
}

/// Returns the words for the time since the last change: `changed 25s ago`.
fn ago(milliseconds: i64) -> String {
    match milliseconds {
        ..=4999 => "changed just now".to_owned(),
        // The time is in steps of five seconds, because words that change every second distract the reader.
        5000..=59_999 => format!("changed {}s ago", milliseconds / 5000 * 5),
        _ => format!(
            "changed {} ago",
            human_duration(milliseconds / 60_000 * 60_000)
        ),
    }
}
