//! Draws the icons of the page: lines of equal width on a 16-pixel grid.

use leptos::prelude::*;

fn lines(path: &'static str) -> AnyView {
    view! {
        <svg class="ico" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <path d=path fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round"/>
        </svg>
    }
    .into_any()
}

/// Draws the viewer's logo, the lines of a trace.
pub(crate) fn mark() -> AnyView {
    view! {
        <svg class="mark" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
            <rect width="32" height="32" rx="7"/>
            <path d="M9 8v16M9 10h9M9 16h13M9 22h6"/>
        </svg>
    }
    .into_any()
}

/// Draws the icon for sharing.
pub(crate) fn share() -> AnyView {
    lines("M8 9.5V2M5 4.8 8 2l3 2.8M3 8.5V14h10V8.5")
}

/// Draws the icon for pausing.
pub(crate) fn pause() -> AnyView {
    lines("M5.5 4v8M10.5 4v8")
}

/// Draws the icon for continuing.
pub(crate) fn play() -> AnyView {
    lines("M5.5 3.5v9l7-4.5z")
}

/// Draws the icon for opening again.
pub(crate) fn again() -> AnyView {
    lines("M13 3v3.5H9.5M12.6 6.3A5.2 5.2 0 1 0 13.2 9")
}

/// Draws the icon for the system's colours.
pub(crate) fn system() -> AnyView {
    lines("M2.5 3.5h11v7.5h-11zM6 13.5h4M8 11v2.5")
}

/// Draws the icon for light colours.
pub(crate) fn sun() -> AnyView {
    lines(
        "M8 5.2a2.8 2.8 0 1 0 0 5.6a2.8 2.8 0 1 0 0-5.6M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
    )
}

/// Draws the icon for dark colours.
pub(crate) fn moon() -> AnyView {
    lines("M13.2 9.8A5.6 5.6 0 0 1 6.2 2.8a5.6 5.6 0 1 0 7 7z")
}

/// Draws the icon for closing.
pub(crate) fn close() -> AnyView {
    lines("M4 4l8 8M12 4l-8 8")
}

/// Draws the icon for copying.
pub(crate) fn copy() -> AnyView {
    lines("M5.5 5.5h7v8h-7zM3.5 10.5v-8h7")
}

/// Draws the icon for a finished action.
pub(crate) fn check() -> AnyView {
    lines("M3 8.5l3.2 3.2L13 5")
}

/// Draws the icon for saving to disk.
pub(crate) fn download() -> AnyView {
    lines("M8 2.5v7.5M4.8 7L8 10.2L11.2 7M2.5 13.5h11")
}

/// Draws the icon for a file.
pub(crate) fn file() -> AnyView {
    lines("M4 1.8h5l3 3v9.4H4zM9 1.8v3h3")
}

/// Draws the icon for a folder.
pub(crate) fn folder() -> AnyView {
    lines("M1.8 4.2h4.4l1.4 1.6h6.6v7.4H1.8z")
}

/// Draws the icon for going back.
pub(crate) fn left() -> AnyView {
    lines("M10 3.5L5.5 8L10 12.5")
}
