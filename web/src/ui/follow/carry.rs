//! What a page keeps in place while the run that it shows is read anew: numbers of nodes and bindings move.

use std::rc::Rc;

use leptos::prelude::*;

use super::Follow;

/// Where something is now: its number and its place in the list; `None` where it is gone.
pub(crate) type Now = Option<(u32, u32)>;

/// Is told where things are now.
type Moved = dyn Fn(&[Now]);

/// What a page keeps in place.
#[derive(Clone)]
pub(crate) struct Keeper {
    /// What is kept: its numbers now.
    pub(crate) kept: Rc<dyn Fn() -> Kept>,
    /// Where the same are from now on, in the same order: number and place in the list; `None` for what is gone.
    pub(crate) moved: Rc<Moved>,
}

/// What is kept in place.
pub(crate) enum Kept {
    /// Nodes of the trace.
    Nodes(Vec<u32>),
    /// Bindings.
    Bindings(Vec<u32>),
}

/// A list before its run is read anew: where its cursor stands, and which row is seen first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stand {
    /// The cursor's row.
    pub(crate) at: u64,
    /// The row that is seen first.
    pub(crate) top: u64,
}

/// Where a list's cursor goes, and by how many rows it scrolls, when its rows arrive anew.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Carry {
    /// Where the cursor was, and where it goes, unless it was moved since.
    pub(crate) at: Option<(u64, u64)>,
    /// By how many rows what is seen moved down.
    pub(crate) down: i64,
}

impl Carry {
    /// From where a list stood to where the cursor's row, and the one that was seen first, are now.
    pub(crate) fn new(stood: Stand, at: Option<u64>, top: Option<u64>) -> Carry {
        Carry {
            at: at.map(|at| (stood.at, at)),
            down: top.map_or(0, |top| top as i64 - stood.top as i64),
        }
    }

    /// The same from what [`Keeper::moved`] is told.
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

/// Does something when the part of the page that this is called in goes.
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
    /// Keeps something in place from now on. Returns what ends that.
    pub(crate) fn keep(self, keeper: Keeper) -> impl Fn() {
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

    /// What the page keeps in place.
    pub(super) fn kept(self) -> Option<Keeper> {
        let keeper = self.keeper.get_value();
        keeper.map(|(_, keeper)| keeper)
    }
}
