//! Long lists as JSON, a window of rows at a time: of a million rows, the views of all take more room than the run itself.

use std::cell::RefCell;

use serde::ser::{Serialize, SerializeSeq as _, Serializer};

/// Rows that are made at a time.
const WINDOW: u32 = 10_000;

/// Rows of a list that people are shown at most where they name no limit.
pub(super) const SHOWN: u32 = 40_000;

/// A list of rows that are made while they are written.
pub(super) struct Windows<F> {
    len: u32,
    make: RefCell<F>,
}

impl<F> Windows<F> {
    /// A list of `len` rows; `make` returns so many from a place on.
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
