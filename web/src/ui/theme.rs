//! Sets the colour theme of the page: light, dark, or that of the system.

use leptos::prelude::*;

use super::icons;

const KEY: &str = "prosescope.theme";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Theme {
    System,
    Light,
    Dark,
}

impl Theme {
    fn word(self) -> &'static str {
        match self {
            Theme::System => "system",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    fn next(self) -> Theme {
        match self {
            Theme::System => Theme::Light,
            Theme::Light => Theme::Dark,
            Theme::Dark => Theme::System,
        }
    }

    fn stored() -> Theme {
        let storage = window().local_storage().ok().flatten();
        match storage
            .and_then(|s| s.get_item(KEY).ok().flatten())
            .as_deref()
        {
            Some("light") => Theme::Light,
            Some("dark") => Theme::Dark,
            _ => Theme::System,
        }
    }

    fn apply(self) {
        if let Some(root) = document().document_element() {
            // Setting this attribute cannot fail, because its name is a valid constant.
            let _ = root.set_attribute("data-theme", self.word());
        }
    }
}

/// Applies the theme of the last visit.
pub(crate) fn restore() {
    Theme::stored().apply();
}

/// Draws the button that cycles through the three themes.
#[component]
pub(crate) fn ThemeButton() -> impl IntoView {
    let theme = RwSignal::new(Theme::stored());
    let turn = move |_| {
        let next = theme.get_untracked().next();
        theme.set(next);
        next.apply();
        if let Ok(Some(storage)) = window().local_storage() {
            // An error is ignored: a private window may refuse to store, and then the theme lasts until the page is
            // closed.
            let _ = storage.set_item(KEY, next.word());
        }
    };
    let label = move || format!("Theme: {}", theme.get().word());
    view! {
        <button class="icon theme" on:click=turn title=label aria-label=label>
            {move || match theme.get() {
                Theme::System => icons::system(),
                Theme::Light => icons::sun(),
                Theme::Dark => icons::moon(),
            }}
            <span class="in-menu">"Theme"</span>
        </button>
    }
}
