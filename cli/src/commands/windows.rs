//! Serializes long lists as JSON, one window of rows at a time. The views of a million rows would take more memory
//! than the run.

use std::cell::RefCell;

use serde::ser::{Serialize, SerializeSeq as _, Serializer};

/// Number of rows in a window.
const WINDOW: u32 = 10_000;

/// Maximum number of rows that a list for people prints if the user gives no limit.
pub(super) const SHOWN: u32 = 40_000;

/// A list whose rows are made only while the list is written.
pub(super) struct Windows<F> {
    len: u32,
    make: RefCell<F>,
}

impl<F> Windows<F> {
    /// Creates a list of `len` rows. `make(from, count)` returns `count` rows, beginning with the row at index
    /// `from`.
    pub(super) fn of<T>(len: u32, make: F) -> Windows<F>
    where
        F: FnMut(u32, u32) -> Vec<T>,
    {
        Windows {
            len,
            make: RefCell::new(make),
        }
    }
}

impl<T: Serialize, F: FnMut(u32, u32) -> Vec<T>> Serialize for Windows<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let mut from = 0;
        while from < self.len {
            let most = WINDOW.min(self.len - from);
            for row in (self.make.borrow_mut())(from, most) {
                list.serialize_element(&row)?;
            }
            from += most;
        }
        list.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_windows_are_one_list() {
        for len in [0, 1, WINDOW, WINDOW + 1, 3 * WINDOW] {
            let list = Windows::of(len, |from, most| (from..from + most).collect());
            let all: Vec<u32> = (0..len).collect();
            assert_eq!(
                serde_json::to_string_pretty(&list).unwrap(),
                serde_json::to_string_pretty(&all).unwrap()
            );
        }
    }
}
