//! The queries of this browser tab. They are lost with the tab and never written anywhere.

use std::cell::RefCell;

/// The most queries remembered.
const MOST: usize = 50;

thread_local! {
    static ASKED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static DRAFT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Returns the queries, the newest first.
pub(super) fn all() -> Vec<String> {
    ASKED.with_borrow(Clone::clone)
}

/// Remembers a query and returns all; an equal one is kept only once.
pub(super) fn remember(sql: &str) -> Vec<String> {
    ASKED.with_borrow_mut(|asked| {
        asked.retain(|known| known != sql);
        asked.insert(0, sql.to_owned());
        asked.truncate(MOST);
        asked.clone()
    })
}

/// Returns the text that was in the query field when the user left the page.
pub(super) fn draft() -> String {
    DRAFT.with_borrow(Clone::clone)
}

/// Keeps the text of the query field for the next visit of the page.
pub(super) fn keep(sql: &str) {
    DRAFT.with_borrow_mut(|draft| sql.clone_into(draft));
}
