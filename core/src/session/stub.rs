//! Stand-ins for modules that are being written side by side; each goes when the real one lands.
#![allow(
    missing_docs,
    unreachable_pub,
    dead_code,
    unused_variables,
    clippy::all
)]

pub mod sqlite {
    use crate::model::{Binding, Run, ValueAt};
    use crate::view::{Cell, TableRows};
    use rusqlite::Connection;
    use std::rc::Rc;
    #[derive(Debug, thiserror::Error)]
    #[error("not yet")]
    pub struct DecodeError;
    impl DecodeError {
        pub fn next_step(&self) -> &'static str {
            ""
        }
        pub fn not_sqlite(head: &[u8], len: u64) -> DecodeError {
            DecodeError
        }
    }
    pub struct Decoded {
        pub run: Run,
        pub other_runs: Vec<String>,
    }
    pub fn guard(
        conn: &mut Connection,
        stop: Option<Rc<dyn Fn() -> bool>>,
    ) -> Result<(), DecodeError> {
        Ok(())
    }
    pub fn decode(
        conn: &Connection,
        name: &str,
        run: Option<&str>,
    ) -> Result<Decoded, DecodeError> {
        Err(DecodeError)
    }
    pub fn value_bytes(
        conn: &Connection,
        table: &str,
        column: &str,
        at: &ValueAt,
        offset: u64,
        len: usize,
    ) -> Result<Vec<u8>, DecodeError> {
        Err(DecodeError)
    }
    pub fn binding_tail(conn: &Connection, binding: &Binding) -> Result<Binding, DecodeError> {
        Err(DecodeError)
    }
    pub fn execution_row(
        conn: &Connection,
        id: i64,
    ) -> Result<Option<Vec<(String, Cell)>>, DecodeError> {
        Err(DecodeError)
    }
    pub fn table_rows(
        conn: &Connection,
        table: &str,
        from: u64,
        len: u32,
        most: usize,
    ) -> Result<TableRows, DecodeError> {
        Err(DecodeError)
    }
}
pub mod folder {
    use crate::issue::Issue;
    use crate::model::{Agent, AgentScope, Run};
    use crate::source::Source;
    pub const STATE_FILE_MOST: usize = 16 << 20;
    pub fn lone_state_file(path: &str, text: &str) -> Run {
        Run::default()
    }
    pub fn beside_database(source: &dyn Source, root: &str, run: &mut Run) {}
    pub fn decode(source: &dyn Source, root: &str) -> Run {
        Run::default()
    }
    pub fn agents(
        source: &dyn Source,
        prefix: &str,
        scope: AgentScope,
    ) -> (Vec<Agent>, Vec<Issue>) {
        (Vec::new(), Vec::new())
    }
}
pub mod state_md {
    use crate::issue::Issue;
    use crate::model::{FolderForm, StateFile};
    pub fn form(text: &str) -> FolderForm {
        FolderForm::Foreign
    }
    pub fn parse(text: &str) -> (StateFile, Vec<Issue>) {
        (StateFile::default(), Vec::new())
    }
}
pub mod dotenv {
    use crate::issue::Issue;
    use crate::model::Text;
    pub fn parse_masked(text: &str) -> (Vec<(Text, Text)>, Vec<Issue>) {
        (Vec::new(), Vec::new())
    }
}
pub mod render {
    use crate::model::Run;
    use crate::program::Listing;
    use crate::trace::Trace;
    #[derive(Default)]
    pub struct RenderOptions {
        pub whole_program: bool,
    }
    pub fn from_run(
        run: &Run,
        trace: &Trace,
        listing: Option<&Listing>,
        options: &RenderOptions,
    ) -> String {
        String::new()
    }
}
pub mod run_id {
    pub struct RunId;
    impl RunId {
        pub fn parse(text: &str) -> RunId {
            RunId
        }
        pub fn started(&self) -> Option<i64> {
            None
        }
    }
}
