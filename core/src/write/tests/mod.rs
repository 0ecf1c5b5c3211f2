//! Commands, recorded in memory.

mod executions;
mod gates;
mod memory;

pub(crate) use memory::Memory;
