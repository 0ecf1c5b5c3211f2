//! Tests of recording commands, with a store in memory.

mod as_seen;
mod executions;
mod gates;
mod memory;
mod program;
mod unsealed;

pub(crate) use memory::Memory;
