//! Draws the indicator in the bar that shows whether the page follows changes, and when the last change was. A click
//! on the indicator pauses or continues following.

use leptos::prelude::*;
use prosescope_core::model::time::ago;

use crate::ui::icons;
use crate::ui::state::App;

/// Draws the button that pauses and continues following. If dropped files have changed, draws the button that opens
/// them again.
#[component]
pub(crate) fn Following() -> impl IntoView {
    let app = App::get();
    let follow = app.follow;
    let since = move || {
        let changed = follow.changed.get();
        // The clock may be up to a second behind the change.
        let passed = changed.map(|at| (app.clock.get() - at).max(0));
        passed.map(|passed| format!("changed {}", ago(passed)))
    };
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
                    <small>{since}</small>
                </button>
            }
            .into_any()
        })
    }
}
