//! Commands, recorded in memory.

mod executions;
mod gates;
mod memory;
mod program;
mod unsealed;

pub(crate) use memory::Memory;
