use std::io;
use std::path::Path;

use prosescope_core::pages::upkeep::clean::TRASH;
use prosescope_core::read::sqlite::agents;
use prosescope_core::record::{Fault, FaultKind};

use super::clean::{files_of, free};
use crate::dir::Dir;
use crate::record::{connect_agents, fault, lock};

/// The amount of data that a `.prose` folder keeps of an agent whose memory outlives runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptAgent {
    /// The number of files in the agent's folder `agents/{name}`, and their total size in bytes; `None` without a
    /// folder.
    pub folder: Option<(u64, u64)>,
    /// The number of the agent's rows in `agents.db`: the agent, its segments and earlier memories.
    pub rows: u64,
    /// The size of the agent's memory in `agents.db`, in bytes.
    pub memory: u64,
}

impl KeptAgent {
    /// Returns whether the `.prose` folder keeps no data of the agent.
    pub fn is_empty(&self) -> bool {
        self.folder.is_none() && self.rows == 0
    }
}

/// Measures the data of an agent in a `.prose` folder.
///
/// # Errors
/// A [`Fault`] if the data cannot be read, or if a folder or file to read is a link.
pub fn kept_agent(prose: &Path, name: &str) -> Result<KeptAgent, Fault> {
    let prose = open(prose)?;
    let mut kept = KeptAgent::default();
    if let Some(dir) = folder(&prose, name)? {
        let files = files_of(&dir);
        kept.folder =
            Some(files.map_err(|cause| fault::io(dir.path(), "cannot be looked at", &cause))?);
    }
    if has_database(&prose)? {
        let conn = connect_agents(&prose, DATABASE)?;
        let rows = agents::count(&conn, name);
        (kept.rows, kept.memory) =
            rows.map_err(|error| fault::sqlite(&prose.shown(DATABASE), &error))?;
    }
    Ok(kept)
}

/// Deletes an agent from a `.prose` folder: its memory, its segments and its earlier memories.
///
/// # Errors
/// A [`Fault`] if a folder or file to delete is a link, or if the system refuses.
pub fn delete_agent(prose: &Path, name: &str) -> Result<(), Fault> {
    let prose = open(prose)?;
    let _lock = lock(&prose)?;
    if has_database(&prose)? {
        let conn = connect_agents(&prose, DATABASE)?;
        agents::delete(&conn, name)
            .map_err(|error| fault::sqlite(&prose.shown(DATABASE), &error))?;
    }
    let Some(dir) = folder(&prose, name)? else {
        return Ok(());
    };
    // Some systems cannot rename a folder while it is open.
    let shown = dir.path().to_owned();
    drop(dir);
    // Renames the folder before its removal, so that a half-deleted agent never looks complete.
    let removed = || -> io::Result<()> {
        let Some(agents) = prose.dir("agents")? else {
            return Ok(());
        };
        let trash = free(&agents, name)?;
        agents.rename(name, &trash)?;
        agents.sync()?;
        for (left, kind) in agents.names("")? {
            if left.starts_with(TRASH) && kind.is_dir() {
                agents.remove_tree(&left)?;
            }
        }
        agents.sync()
    };
    removed().map_err(|cause| fault::io(&shown, "cannot be removed", &cause))
}

const DATABASE: &str = "agents.db";

fn open(prose: &Path) -> Result<Dir, Fault> {
    Dir::open(prose).map_err(|cause| fault::io(prose, "cannot be opened", &cause))
}

/// Returns the agent's folder, if it exists.
fn folder(prose: &Dir, name: &str) -> Result<Option<Dir>, Fault> {
    // An agent's name in a database may be any text, but the name of a folder must be one plain part of a path.
    if name.is_empty() || name.contains(['/', '\\', '\0']) || name.starts_with('.') {
        return Ok(None);
    }
    let path = format!("agents/{name}");
    let linked = |at: &str| {
        prose
            .look(at)
            .is_ok_and(|meta| meta.is_some_and(|m| m.is_symlink()))
    };
    match prose.dir(&path) {
        Ok(dir) => Ok(dir),
        Err(cause) if cause.kind() == io::ErrorKind::NotADirectory => {
            match ["agents", &path].into_iter().find(|at| linked(at)) {
                Some(at) => Err(link(&prose.shown(at))),
                None => Ok(None),
            }
        }
        Err(cause) => Err(fault::io(&prose.shown(&path), "cannot be opened", &cause)),
    }
}

fn has_database(prose: &Dir) -> Result<bool, Fault> {
    let path = prose.shown(DATABASE);
    match prose.look(DATABASE) {
        Ok(Some(meta)) if meta.is_symlink() => Err(link(&path)),
        Ok(meta) => Ok(meta.is_some_and(|meta| meta.is_file())),
        Err(cause) => Err(fault::io(&path, "cannot be opened", &cause)),
    }
}

fn link(path: &Path) -> Fault {
    let message = format!(
        "{} is a link, and nothing is removed through a link",
        path.display()
    );
    Fault::new(FaultKind::Io, message)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rusqlite::Connection;

    use super::*;

    fn prose() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for name in ["captain", "scout"] {
            let agent = dir.path().join("agents").join(name);
            fs::create_dir_all(&agent).unwrap();
            fs::write(agent.join("memory.md"), "four").unwrap();
            fs::write(agent.join(format!("{name}-001.md")), "one").unwrap();
        }
        let conn = Connection::open(dir.path().join("agents.db")).unwrap();
        conn.execute_batch(prosescope_core::model::schema::AGENTS_SQL)
            .unwrap();
        conn.execute_batch(
            "INSERT INTO agents (name, scope, memory) VALUES ('captain', 'project', 'größe'), ('scout', 'project', 'b');
             INSERT INTO agent_segments (agent_name, segment_number) VALUES ('captain', 1), ('captain', 2), ('scout', 1);
             INSERT INTO x_agent_memory_history (agent_name, memory) VALUES ('captain', 'before');",
        )
        .unwrap();
        dir
    }

    #[test]
    fn one_agent_goes_from_both_places_and_the_others_stay() {
        let dir = prose();
        let all = KeptAgent {
            folder: Some((2, 7)),
            rows: 4,
            memory: 7,
        };
        assert_eq!(kept_agent(dir.path(), "captain").unwrap(), all);
        delete_agent(dir.path(), "captain").unwrap();
        assert!(kept_agent(dir.path(), "captain").unwrap().is_empty());
        let other = kept_agent(dir.path(), "scout").unwrap();
        assert_eq!((other.folder, other.rows), (Some((2, 7)), 2));
        let bytes = fs::read(dir.path().join("agents.db")).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("größe"), "what is deleted is overwritten");
    }

    #[test]
    fn a_name_that_leads_out_names_no_folder() {
        let dir = prose();
        fs::write(dir.path().join(".env"), "KEY=1").unwrap();
        for name in ["", ".", "..", "../runs", "captain/../scout"] {
            assert!(kept_agent(dir.path(), name).unwrap().is_empty(), "{name:?}");
            delete_agent(dir.path(), name).unwrap();
        }
        assert!(dir.path().join("agents/scout/memory.md").exists());
        assert!(dir.path().join(".env").exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_refused() {
        let dir = prose();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("memory.md"), "precious").unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("agents/linked")).unwrap();
        assert!(delete_agent(dir.path(), "linked").is_err());
        assert!(outside.path().join("memory.md").exists());
    }
}
