//! Keeps the cursor and the scroll position of lists when their run is reread. Rereading may change the numbers and
//! positions of nodes and bindings.

use std::rc::Rc;

use leptos::prelude::*;

use super::Follow;

/// The number and list position of an item after rereading; `None` if the item was removed.
pub(crate) type Now = Option<(u32, u32)>;

/// A callback that receives the new numbers and positions of the items.
type MovedCallback = dyn Fn(&[Now]);

/// The callbacks of a list that keeps its cursor and scroll position when the run is reread.
#[derive(Clone)]
pub(crate) struct ListKeeper {
    /// Returns the items to keep, with their present numbers.
    pub(crate) kept: Rc<dyn Fn() -> KeptItems>,
    /// Receives the new number and list position of each item, in the order of `kept`; `None` for a removed item.
    pub(crate) moved: Rc<MovedCallback>,
}

/// The items to keep in place.
pub(crate) enum KeptItems {
    /// Nodes of the trace, by their numbers.
    Nodes(Vec<u32>),
    /// Bindings, by their numbers.
    Bindings(Vec<u32>),
}

/// The position of a list before its run is reread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stand {
    /// The index of the cursor's row.
    pub(crate) at: u64,
    /// The index of the first visible row.
    pub(crate) top: u64,
}

/// The change of a list's cursor and scroll position when its rows are reread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Carry {
    /// The old and the new row of the cursor. Ignored if the user has moved the cursor since.
    pub(crate) at: Option<(u64, u64)>,
    /// The number of rows by which the visible rows moved down; negative if they moved up.
    pub(crate) down: i64,
}

impl Carry {
    /// Computes the change from the old state and the new indexes of the cursor's row and the first visible row.
    pub(crate) fn new(stood: Stand, at: Option<u64>, top: Option<u64>) -> Carry {
        Carry {
            at: at.map(|at| (stood.at, at)),
            down: top.map_or(0, |top| top as i64 - stood.top as i64),
        }
    }

    /// Computes the change from the argument of [`ListKeeper::moved`], whose first two items are the cursor's row and
    /// the first visible row.
    pub(crate) fn of(stood: Stand, moved: &[Option<(u32, u32)>]) -> Carry {
        let place = |at: usize| {
            moved
                .get(at)
                .copied()
                .flatten()
                .map(|(_, place)| place.into())
        };
        Carry::new(stood, place(0), place(1))
    }
}

/// Calls a function when the surrounding component is removed. Unlike `on_cleanup`, accepts functions that are not
/// `Send`.
pub(crate) fn on_cleanup_local(end: impl Fn() + 'static) {
    let end = StoredValue::new_local(Some(Box::new(end) as Box<dyn Fn()>));
    on_cleanup(move || {
        end.try_update_value(|end| {
            if let Some(end) = end.take() {
                end();
            }
        });
    });
}

impl Follow {
    /// Registers the list that keeps its cursor and scroll position. Returns a function that removes this
    /// registration.
    pub(crate) fn keep(self, keeper: ListKeeper) -> impl Fn() {
        let number = self.next();
        self.keeper.set_value(Some((number, keeper)));
        move || {
            self.keeper.update_value(|keeper| {
                if keeper.as_ref().is_some_and(|(n, _)| *n == number) {
                    *keeper = None;
                }
            });
        }
    }

    /// Returns the callbacks of the registered list, if there is one.
    pub(super) fn kept(self) -> Option<ListKeeper> {
        let keeper = self.keeper.get_value();
        keeper.map(|(_, keeper)| keeper)
    }
}
