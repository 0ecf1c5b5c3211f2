//! Commands, recorded in memory.

mod as_seen;
mod executions;
mod gates;
mod memory;
mod program;
mod unsealed;

pub(crate) use memory::Memory;
