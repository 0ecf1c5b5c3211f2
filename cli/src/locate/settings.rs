//! What the project's `.env` and the environment say of PostgreSQL.
//!
//! A project's file is somebody else's: it was cloned, unpacked, or written by a model. What it names is asked, and is given a
//! password, only after the user trusted the file's bytes (`prosescope postgres trust`); a note of that lies in the user's own
//! state folder, and counts until a byte of the file changes. The environment is the user's.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::postgres::Address;
use prosescope_core::decode::dotenv;
use prosescope_core::upkeep::doctor::server::Trusted;
use sha2::{Digest, Sha256};

use super::find::{home, project};
use crate::error::CliError;
use crate::exit::Exit;

/// The variable that names the database.
pub(super) const URL: &str = "OPENPROSE_POSTGRES_URL";

/// The variable that names the database of the user's agents.
pub(super) const USER_URL: &str = "OPENPROSE_POSTGRES_USER_URL";

/// The setting that names the project whose agents are meant, where its folder's name is not the one.
pub(super) const PROJECT: &str = "OPENPROSE_PROJECT";

/// Bytes of a `.env` that are read.
const MOST: u64 = 1 << 20;

/// What trusts a file.
const TRUST: &str = "`prosescope postgres trust` trusts the file as it is, until it changes";

/// The settings beside the runs of a project.
pub(crate) struct Settings {
    /// The file, without links.
    file: PathBuf,
    bytes: Vec<u8>,
}

impl Settings {
    /// Reads the `.env` of the project that the command is given in; `None` where there is none.
    pub(super) fn of_project() -> Result<Option<Settings>, CliError> {
        let Ok(prose) = project() else {
            return Ok(None);
        };
        let file = prose.join(".env");
        let unread = |cause: &dyn std::fmt::Display| {
            let message = format!("{} cannot be read: {cause}", file.display());
            CliError::new(Exit::Io, message).hint(format!(
                "check that it is a file that you may read; or set {URL} in the environment"
            ))
        };
        match fs::metadata(&file) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(unread(&cause)),
            // Opening a pipe waits for a writer.
            Ok(meta) if !meta.is_file() => return Err(unread(&"it is not a file")),
            Ok(_) => {}
        }
        let read = || {
            let mut bytes = Vec::new();
            File::open(&file)?.take(MOST + 1).read_to_end(&mut bytes)?;
            Ok::<_, io::Error>((prose.canonicalize()?.join(".env"), bytes))
        };
        let (real, bytes) = read().map_err(|cause| unread(&cause))?;
        if bytes.len() as u64 > MOST {
            return Err(unread(&format!("it has more than {MOST} bytes")));
        }
        Ok(Some(Settings { file: real, bytes }))
    }

    fn get(&self, key: &str) -> Option<String> {
        let text = String::from_utf8_lossy(&self.bytes);
        dotenv::setting(&text, key).filter(|value| !value.is_empty())
    }

    /// Whether the user trusted the file as it is.
    fn is_trusted(&self) -> bool {
        self.mark().is_some_and(|mark| mark.is_file())
    }

    /// Where it is noted that the user trusts the file: its name is a hash of the file's path and bytes.
    fn mark(&self) -> Option<PathBuf> {
        let mut hash = Sha256::new();
        hash.update(self.file.as_os_str().as_encoded_bytes());
        hash.update([0]);
        hash.update(&self.bytes);
        let mut name = String::new();
        for byte in hash.finalize() {
            let _ = write!(name, "{byte:02x}");
        }
        Some(marks()?.join(name))
    }

    /// What the file names of PostgreSQL, without passwords.
    fn names(&self) -> Vec<String> {
        let keys = [URL, USER_URL, PROJECT].into_iter();
        keys.filter_map(|key| Some(format!("{key}={}", shown(key, &self.get(key)?))))
            .collect()
    }
}

/// A value without its password: an address as it is shown, without what the environment adds.
fn shown(key: &str, value: &str) -> String {
    if key == PROJECT {
        return value.to_owned();
    }
    match Address::parse(value, &|_| None) {
        Ok(address) => address.to_string(),
        Err(_) => "(no address)".to_owned(),
    }
}

/// The user's folder of notes, one for each file that is trusted.
fn marks() -> Option<PathBuf> {
    // A relative path would lie in the project.
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(home()?.join(".local/state")))?;
    Some(state.join("prosescope/trusted"))
}

/// A variable of the environment that is set to something.
pub(super) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A setting of the project's file where the user trusts it, else of the environment.
///
/// # Errors
/// When only a file names it that the user did not trust, or that cannot be read.
pub(super) fn named(key: &str) -> Result<Option<String>, CliError> {
    let own = environment(key);
    let settings = match Settings::of_project() {
        Err(_) if own.is_some() => return Ok(own),
        settings => settings?,
    };
    let Some(settings) = settings else {
        return Ok(own);
    };
    match settings.get(key) {
        None => Ok(own),
        Some(_) if own.is_some() && !settings.is_trusted() => Ok(own),
        Some(value) if settings.is_trusted() => Ok(Some(value)),
        Some(value) => {
            let message = format!(
                "{} names {}: a file of the project may be somebody else's, and nothing that it names is asked before you trust it",
                settings.file.display(),
                match key {
                    PROJECT => format!("the project {value}"),
                    _ => format!("the database {}", shown(key, &value)),
                },
            );
            Err(CliError::refused("file-not-trusted", message)
                .hint(TRUST)
                .hint(format!("or set {key} in the environment")))
        }
    }
}

/// Notes that the user trusts the project's file as it is.
pub(crate) fn trust() -> Result<Trusted, CliError> {
    let settings = Settings::of_project()?;
    let settings = settings.filter(|settings| !settings.names().is_empty());
    let settings = settings.ok_or_else(|| {
        CliError::not_found(
            "no file of the project names a PostgreSQL database: there is nothing to trust",
        )
        .hint(format!(
            "set {URL} in .prose/.env, and repeat the command; or set it in the environment"
        ))
    })?;
    let mark = settings.mark().ok_or_else(homeless)?;
    forget(&settings.file)?;
    let noted = mark.parent().map_or(Ok(()), private_folder);
    let noted = noted.and_then(|()| fs::write(&mark, settings.file.as_os_str().as_encoded_bytes()));
    noted.map_err(|cause| {
        let message = format!("cannot write {}: {cause}", mark.display());
        CliError::new(Exit::Io, message).hint(format!("or set {URL} in the environment"))
    })?;
    Ok(Trusted {
        file: settings.file.display().to_string(),
        trusted: true,
        names: settings.names(),
    })
}

/// Takes back that the user trusts the project's file, in whatever state.
pub(crate) fn distrust() -> Result<Trusted, CliError> {
    let prose = project()?;
    let file = prose.canonicalize()?.join(".env");
    forget(&file)?;
    Ok(Trusted {
        file: file.display().to_string(),
        trusted: false,
        names: Settings::of_project()?.map_or_else(Vec::new, |settings| settings.names()),
    })
}

/// Removes all notes of a file.
fn forget(file: &Path) -> Result<(), CliError> {
    let marks = marks().ok_or_else(homeless)?;
    let unread = |cause: io::Error| {
        let message = format!("cannot read or change {}: {cause}", marks.display());
        CliError::new(Exit::Io, message).hint("check that the folder is yours")
    };
    let all = match fs::read_dir(&marks) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
        all => all.map_err(unread)?,
    };
    for mark in all {
        let mark = mark.map_err(unread)?.path();
        if mark.is_file() && fs::read(&mark).map_err(unread)? == file.as_os_str().as_encoded_bytes()
        {
            fs::remove_file(&mark).map_err(unread)?;
        }
    }
    Ok(())
}

fn homeless() -> CliError {
    CliError::not_found("the user has no home directory, where it is noted which files are trusted")
        .hint(format!(
            "set HOME or XDG_STATE_HOME; or set {URL} in the environment"
        ))
}

/// Makes a folder that is the user's alone.
fn private_folder(path: &Path) -> io::Result<()> {
    let mut folder = fs::DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(path)
}
