//! Decodes the files and databases of OpenProse runs into the types of the model. Each format has a module.

pub mod binding_md;
pub mod compact_log;
pub mod dotenv;
pub(crate) mod fields;
pub mod folder;
pub mod gates_json;
pub(crate) mod jsonl;
pub mod memory_md;
pub(crate) mod preamble;
pub mod receipts;
mod room;
pub mod rows;
pub(crate) mod sealed;
pub mod sqlite_header;
pub mod state_md;
pub mod text;
