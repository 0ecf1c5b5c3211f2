//! Reads the PostgreSQL settings in the project's `.env` and in the environment.
//!
//! The `.env` of a project is untrusted: it may be cloned, unpacked, or written by a model. A server whose address is
//! in this file is contacted, and gets a password, only after the user trusted the file (`prosescope postgres trust`).
//! A small file in the user's state folder records the trust, which ends when a byte of `.env` changes. The environment
//! is trusted.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::postgres::Address;
use prosescope_core::pages::upkeep::doctor::server::Trusted;
use prosescope_core::read::decode::dotenv;
use sha2::{Digest, Sha256};

use super::find::{home, project};
use crate::error::CliError;
use crate::exit::Exit;

/// The variable with the address of the database.
pub(super) const URL: &str = "OPENPROSE_POSTGRES_URL";

/// The variable with the address of the database for the user's agents.
pub(super) const USER_URL: &str = "OPENPROSE_POSTGRES_USER_URL";

/// The setting with the name of the project in the store of agents. The default is the name of the project's folder.
pub(super) const PROJECT: &str = "OPENPROSE_PROJECT";

/// Maximum bytes of a `.env` file.
const MOST: u64 = 1 << 20;

/// The hint that explains how to trust a file.
const TRUST: &str =
    "read the file, then run `prosescope postgres trust` to trust the file until it changes";

/// The settings in the `.env` of a project.
pub(crate) struct Settings {
    /// The path of the file, with links resolved.
    file: PathBuf,
    bytes: Vec<u8>,
}

impl Settings {
    /// Reads the `.env` of the current project; `None` if the file does not exist.
    pub(super) fn of_project() -> Result<Option<Settings>, CliError> {
        let Ok(prose) = project() else {
            return Ok(None);
        };
        let file = prose.join(".env");
        let unread = |cause: &dyn std::fmt::Display| {
            let message = format!("cannot read {}: {cause}", file.display());
            CliError::new(Exit::Io, message).hint(format!(
                "check that the path is a file that you may read; or set {URL} in the environment"
            ))
        };
        match fs::metadata(&file) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(unread(&cause)),
            // A pipe is rejected, because opening one waits for a writer.
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
            return Err(unread(&format!("the file has more than {MOST} bytes")));
        }
        Ok(Some(Settings { file: real, bytes }))
    }

    fn get(&self, key: &str) -> Option<String> {
        let text = String::from_utf8_lossy(&self.bytes);
        dotenv::setting(&text, key).filter(|value| !value.is_empty())
    }

    /// Returns whether the user trusts the current bytes of the file.
    fn is_trusted(&self) -> bool {
        self.mark().is_some_and(|mark| mark.is_file())
    }

    /// Returns the path of the note that records the trust. The name of the note is a hash of the trusted file's path
    /// and bytes.
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

    /// Returns the PostgreSQL settings of the file, without passwords.
    fn names(&self) -> Vec<String> {
        let keys = [URL, USER_URL, PROJECT].into_iter();
        keys.filter_map(|key| Some(format!("{key}={}", shown(key, &self.get(key)?))))
            .collect()
    }
}

/// Returns the value of a setting for messages. The password of an address is left out, and missing parts are not taken
/// from the environment.
fn shown(key: &str, value: &str) -> String {
    if key == PROJECT {
        return value.to_owned();
    }
    match Address::parse(value, &|_| None) {
        Ok(address) => address.to_string(),
        Err(_) => "(not an address)".to_owned(),
    }
}

/// Returns the folder of the notes that record trust. It contains a note for each trusted file.
fn marks() -> Option<PathBuf> {
    // A relative path is ignored, because the notes would then be in the project, which is untrusted.
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(home()?.join(".local/state")))?;
    Some(state.join("prosescope/trusted"))
}

/// Returns a variable of the environment, if it is not empty.
pub(super) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns a setting of the project's `.env` if the user trusts that file, else of the environment.
///
/// # Errors
/// An error if only an untrusted or unreadable file contains the setting.
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
                "{} names {}, but you do not trust this file yet. prosescope contacts a server only if you trust the file that names the server",
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

/// Records that the user trusts the current bytes of the project's file.
pub(crate) fn trust() -> Result<Trusted, CliError> {
    let settings = Settings::of_project()?;
    let settings = settings.filter(|settings| !settings.names().is_empty());
    let settings = settings.ok_or_else(|| {
        CliError::not_found(
            "nothing to trust: the project has no .prose/.env that names a PostgreSQL database",
        )
        .hint(format!(
            "set {URL} in .prose/.env and repeat the command, or set {URL} in the environment"
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

/// Withdraws the trust in the project's file, in all its versions.
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

/// Removes all notes that record trust in a file.
fn forget(file: &Path) -> Result<(), CliError> {
    let marks = marks().ok_or_else(homeless)?;
    let unread = |cause: io::Error| {
        let message = format!("cannot read or change {}: {cause}", marks.display());
        CliError::new(Exit::Io, message).hint("check that you own this folder and may write to it")
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
    CliError::not_found("cannot record trust: trust is recorded in the home directory, and no home directory is known").hint(
        format!("set HOME or XDG_STATE_HOME; or set {URL} in the environment"),
    )
}

/// Creates a folder that only the user can read.
fn private_folder(path: &Path) -> io::Result<()> {
    let mut folder = fs::DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(path)
}
