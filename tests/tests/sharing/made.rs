//! Builds runs with planted secrets.

use std::fs;
use std::path::Path;

use prosescope_core::model::schema::WORKFLOWS_SQL;
use rusqlite::Connection;

use crate::project::Project;
use crate::sown::Sower;
use crate::{sown_files, sown_rows};

const PROGRAM: &str = "agent writer:\n  persist: true\n\nlet draft = session: writer\n  prompt: \"Write\"\n\n\
    approve publish:\n  prompt: \"Publish?\"\n  allow: [\"user\"]\n\noutput report = session \"Report\"\n";

macro_rules! document {
    ($name:literal) => {
        include_str!(concat!("../../../core/tests/fixtures/sql/", $name, ".sql"))
    };
}

/// The SQL of OpenProse that creates its tables.
const DOCUMENTS: [&str; 3] = [
    document!("schema"),
    document!("bindings_plain_key"),
    document!("schema_gates"),
];
const TABLES: [&str; 6] = [
    "run",
    "execution",
    "bindings",
    "agents",
    "agent_segments",
    "gates",
];

/// The kinds of runs that secrets are planted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// A database that `prosescope init` creates.
    Ours,
    /// A database that OpenProse's own SQL creates, in UTF-16 and with additional columns.
    Documents,
    /// A run that is stored in files.
    Files,
    /// A database of workflows.
    Workflows,
}

impl Made {
    /// Returns the argument with which commands open the run.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Made::Workflows => "workflows.db",
            _ => "r",
        }
    }

    /// Builds the run in a project.
    pub(crate) fn make(self, project: &Project, sower: &mut Sower) {
        fs::write(project.at("p.prose"), PROGRAM).expect("written");
        let run = project.at(".prose/runs/r");
        let init = |form: &str| {
            project.done(&["init", "p.prose", "--id", "r", "--state", form]);
        };
        match self {
            Made::Ours => {
                init("sqlite");
                let conn = opened(&run.join("state.db"));
                conn.execute_batch(sown_rows::UNKNOWN).expect("made");
                sown_rows::sow(&conn, sower);
            }
            Made::Documents => {
                fs::create_dir_all(&run).expect("made");
                fs::write(run.join("program.prose"), PROGRAM).expect("written");
                let conn = opened(&run.join("state.db"));
                conn.execute_batch("PRAGMA encoding = 'UTF-16le'; PRAGMA page_size = 1024")
                    .expect("set");
                let sql = DOCUMENTS.join("\n");
                for statement in sql.split_inclusive(";\n") {
                    // The result is ignored, because SQLite refuses one of OpenProse's statements.
                    let _ = conn.execute_batch(statement);
                }
                conn.execute_batch("INSERT INTO run (id, program_path) VALUES ('r', 'p.prose')")
                    .expect("put");
                sown_rows::unknown(&conn, &TABLES);
                sown_rows::sow(&conn, sower);
            }
            Made::Files => {
                init("filesystem");
                sown_files::sow(&run, sower);
            }
            Made::Workflows => {
                let conn = opened(&project.at("workflows.db"));
                conn.execute_batch(WORKFLOWS_SQL).expect("made");
                sown_rows::sow(&conn, sower);
            }
        }
    }
}

fn opened(path: &Path) -> Connection {
    Connection::open(path).expect("it opens")
}
