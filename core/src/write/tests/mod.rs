//! Commands, recorded in memory.

mod gates;
mod memory;

pub(crate) use memory::Memory;
