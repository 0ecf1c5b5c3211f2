//! `prosescope push` and `prosescope pull` copy a run into PostgreSQL, and out of PostgreSQL.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::postgres::{PostgresSource, import_run};
use prosescope_core::model::{FolderForm, Form};
use prosescope_core::session::{Options, Session};
use prosescope_core::source::Source;
use prosescope_core::view::RunConverted;
use prosescope_core::write::WriteError;
use prosescope_store::{Conversion, Origin, convert};
use tempfile::TempDir;

use super::{existing_copy, unread};
use crate::args::upkeep::{PullArgs, PushArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::locate::OnServer;
use crate::out::{self, Out};
use crate::progress::Progress;
use crate::{locate, print, record};

pub(super) fn push(args: &PushArgs, out: &Out) -> Result<Exit, CliError> {
    let converted = pushed(&args.run.name()?, out)?;
    out.show(&converted, || print::converted(&converted, out.width))
}

pub(super) fn pull(args: &PullArgs, out: &Out) -> Result<Exit, CliError> {
    let run = args.run()?;
    let Some(found) = OnServer::named(&run)? else {
        let message = format!("{run} does not name a run in PostgreSQL");
        return Err(CliError::usage(message).hint("give the run as postgres:ID"));
    };
    let converted = match &args.out {
        Some(file) => into_file(&found, file, out)?,
        None => {
            let to = record::prose_dir()?.join("runs").join(&found.id);
            pulled(&found, &to, false, out)?
        }
    };
    out::recorded();
    out.show(&converted, || print::converted(&converted, out.width))
}

/// Copies a run into the PostgreSQL database of the project.
pub(super) fn pushed(run: &str, out: &Out) -> Result<RunConverted, CliError> {
    if locate::id_on_server(run).is_some() {
        let message = format!("{run} is in PostgreSQL already");
        return Err(CliError::refused("same-form", message)
            .hint("`prosescope pull` copies the run into a database file"));
    }
    let address = locate::address()?;
    // The run is opened without agents of the project and the user, because those agents do not belong to the run.
    let opened = locate::open_alone(run)?;
    unread::require_no_io_error(&opened.session)?;
    let is_read = matches!(
        opened.session.run().form,
        Form::Sqlite { .. }
            | Form::Folder {
                form: FolderForm::StateMd | FolderForm::Bare
            }
    );
    if !is_read {
        let message = format!(
            "cannot copy {}: runs of this form are read-only",
            opened.name
        );
        return Err(CliError::refused("form-read-only", message)
            .hint("only databases, and folders with OpenProse's state.md, can be copied"));
    }
    let with_files = !opened.alone;
    let id = opened.session.run().id.to_string();
    let total = opened.session.weight(false, with_files);
    let progress = Progress::of("pushing", total, out);
    let moved = |bytes| progress.add(bytes);
    let (left, already) = match import_run(&address, &opened.session, with_files, &moved) {
        Err(WriteError::Refused {
            rule: "run-exists", ..
        }) => {
            // The comparison leaves out files on this machine, because they are not part of the copy in PostgreSQL.
            let copy = session_of(PostgresSource::open(&address, &id)?, &id)?;
            let next = format!(
                "continue the run in PostgreSQL. Or save the copy in PostgreSQL (`prosescope pull postgres:{id} -o FILE`), remove this copy (`prosescope clean postgres:{id} --yes`), and push again"
            );
            let place = address.to_string();
            let form = (false, with_files);
            (
                existing_copy::same(&opened.session, &copy.1, form, &place, next)?,
                true,
            )
        }
        imported => (imported?, false),
    };
    drop(progress);
    if !already {
        out::recorded();
    }
    Ok(RunConverted {
        already,
        folder: locate::server_name(&id),
        run: id,
        state: "postgres".to_owned(),
        left,
    })
}

/// Opens a run in PostgreSQL without a time limit, and without agents of the project and the user.
fn session_of(source: PostgresSource, id: &str) -> Result<(Rc<PostgresSource>, Session), CliError> {
    let source = Rc::new(source.by_source_ids());
    let shared: Rc<dyn Source> = Rc::<PostgresSource>::clone(&source);
    let session = Session::open(shared, &PostgresSource::place(id), &Options::default())?;
    Ok((source, session))
}

/// Copies a run out of PostgreSQL into a new folder.
pub(super) fn pulled(
    found: &OnServer,
    to: &Path,
    to_folder: bool,
    out: &Out,
) -> Result<RunConverted, CliError> {
    let (source, session) = session_of(found.rows_and_files()?, &found.id)?;
    unread::require_no_io_error(&session)?;
    if let Some(there) = existing_copy::at(&session, to, to_folder, true)? {
        return Ok(there);
    }
    let progress = Progress::of("pulling", session.weight(to_folder, true), out);
    let (left, late_fault) = convert(
        &Conversion {
            origin: Origin::Server(&|| source.written()),
            session: &session,
            to_folder,
            moved: &|bytes| progress.add(bytes),
        },
        to,
    )?;
    drop(progress);
    record::print_late_fault(late_fault);
    Ok(RunConverted {
        run: found.id.clone(),
        folder: record::from_here(to),
        state: if to_folder { "filesystem" } else { "sqlite" }.to_owned(),
        left,
        already: false,
    })
}

/// Copies a run out of PostgreSQL into a temporary folder, for a command that works on files. Returns that folder, and the
/// folder of the run in it.
pub(super) fn aside(found: &OnServer, out: &Out) -> Result<(TempDir, PathBuf), CliError> {
    let folder = tempfile::Builder::new().prefix("prosescope-").tempdir()?;
    let to = folder.path().join(&found.id);
    pulled(found, &to, false, out)?;
    Ok((folder, to))
}

/// Copies a run into a database file, and its other files into the folder of that file.
fn into_file(found: &OnServer, file: &Path, out: &Out) -> Result<RunConverted, CliError> {
    let there = |path: &Path| fs::symlink_metadata(path).is_ok();
    let taken = |path: &Path| {
        let message = format!("{} already exists", path.display());
        CliError::new(Exit::Io, message).hint("choose another file: -o FILE")
    };
    if there(file) {
        let (_, session) = session_of(found.rows_and_files()?, &found.id)?;
        unread::require_no_io_error(&session)?;
        return existing_copy::at(&session, file, false, true)?.ok_or_else(|| taken(file));
    }
    let file = std::path::absolute(file)?;
    let above = file.parent().map(PathBuf::from).unwrap_or_default();
    fs::create_dir_all(&above)?;
    let aside = tempfile::Builder::new()
        .prefix(".pull-")
        .tempdir_in(&above)?;
    let made = aside.path().join("run");
    let converted = pulled(found, &made, false, out)?;
    // `made` also contains state.db, which is moved last, and program.prose, whose text the database already contains.
    let mut beside = Vec::new();
    for entry in fs::read_dir(&made)? {
        let name = entry?.file_name();
        if name != "state.db" && name != "program.prose" {
            beside.push(name);
        }
    }
    // An earlier command that was killed may have written some of these files already. Only missing files are moved.
    let mut missing = Vec::new();
    for name in &beside {
        match there(&above.join(name)) {
            false => missing.push(name),
            true if is_same(&made.join(name), &above.join(name))? => {}
            true => return Err(taken(&above.join(name))),
        }
    }
    if !beside.is_empty() && file.file_name() != Some("state.db".as_ref()) {
        let message = format!(
            "{} has attachments, and prosescope reads attachments only beside a file named state.db",
            found.name()
        );
        return Err(CliError::usage(message).hint("name the file state.db, in a folder of its own"));
    }
    // The database is written last, so that an existing database means a complete copy.
    for name in missing {
        fs::rename(made.join(name), above.join(name))?;
    }
    fs::rename(made.join("state.db"), &file)?;
    Ok(RunConverted {
        folder: record::from_here(&file),
        ..converted
    })
}

/// Returns whether two files or folders have the same names and bytes.
fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    let [first, second] = [one, other].map(fs::symlink_metadata);
    let (first, second) = (first?, second?);
    if first.is_dir() && second.is_dir() {
        let names = |of: &Path| -> io::Result<Vec<_>> {
            fs::read_dir(of)?
                .map(|entry| Ok(entry?.file_name()))
                .collect()
        };
        let (mut names, others) = (names(one)?, names(other)?);
        if names.len() != others.len() {
            return Ok(false);
        }
        while let Some(name) = names.pop() {
            let other = other.join(&name);
            if fs::symlink_metadata(&other).is_err() || !is_same(&one.join(&name), &other)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    if !first.is_file() || !second.is_file() || first.len() != second.len() {
        return Ok(false);
    }
    let [mut one, mut other] = [fs::File::open(one)?, fs::File::open(other)?].map(BufReader::new);
    loop {
        let (ours, theirs) = (one.fill_buf()?, other.fill_buf()?);
        let len = ours.len().min(theirs.len());
        if ours.get(..len) != theirs.get(..len) {
            return Ok(false);
        }
        if len == 0 {
            return Ok(ours.is_empty() && theirs.is_empty());
        }
        one.consume(len);
        other.consume(len);
    }
}
