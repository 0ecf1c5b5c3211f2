//! Keeps the SQL queries of this browser tab in memory. They are lost when the tab is closed, and never stored.

use std::cell::RefCell;

/// The maximum number of queries that are kept.
const MOST: usize = 50;

thread_local! {
    static HISTORY: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static DRAFT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Returns the queries, the newest first.
pub(super) fn all() -> Vec<String> {
    HISTORY.with_borrow(Clone::clone)
}

/// Adds a query as the newest and returns all queries. An equal earlier query is removed.
pub(super) fn remember(sql: &str) -> Vec<String> {
    HISTORY.with_borrow_mut(|queries| {
        queries.retain(|known| known != sql);
        queries.insert(0, sql.to_owned());
        queries.truncate(MOST);
        queries.clone()
    })
}

/// Returns the text that was in the query field when the user left the page.
pub(super) fn draft() -> String {
    DRAFT.with_borrow(Clone::clone)
}

/// Stores the text of the query field for the user's next visit to the page.
pub(super) fn keep(sql: &str) {
    DRAFT.with_borrow_mut(|draft| sql.clone_into(draft));
}
