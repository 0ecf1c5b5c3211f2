//! Commands, recorded in memory.

mod executions;
mod gates;
mod memory;
mod program;

pub(crate) use memory::Memory;
