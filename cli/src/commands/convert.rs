//! `prosescope convert RUN --to FORM` writes a copy of the run in another form.

use std::path::{Path, PathBuf};

use prosescope_core::model::{FolderForm, Form};
use prosescope_core::pages::session::CopyLoss;
use prosescope_core::pages::view::RunConverted;
use prosescope_store::{Aside, Conversion, OriginalRun, convert, unpack};

use super::{existing_copy, server_copy, share, unread};
use crate::args::record::StateMode;
use crate::args::upkeep::ConvertArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::locate::{LocatedRun, OnServer};
use crate::out::{self, Out};
use crate::progress::Progress;
use crate::{locate, print, record};

pub(super) fn run(args: &ConvertArgs, out: &Out) -> Result<Exit, CliError> {
    let run = args.run.name()?;
    if let StateMode::Postgres = args.to {
        if args.out.is_some() {
            return Err(CliError::usage(
                "a run in PostgreSQL has no folder: leave out --out",
            ));
        }
        let converted = server_copy::pushed(&run, args.anyway, out)?;
        return out.show(&converted, || print::converted(&converted, out.width));
    }
    if let Some(found) = OnServer::named(&run)? {
        let (to_folder, _) = form_of(args.to);
        let to = match &args.out {
            Some(to) => to.clone(),
            None => record::prose_dir()?.join("runs").join(&found.id),
        };
        let converted = server_copy::pulled(&found, &to, to_folder, out)?;
        out::recorded();
        return out.show(&converted, || print::converted(&converted, out.width));
    }
    // The run is opened without agents of the project and the user, because those agents do not belong to the run.
    let opened = locate::open_alone(&run)?;
    share::require_unchanged(&opened.disk, args.anyway)?;
    unread::require_no_io_error(&opened.session)?;
    let session = &opened.session;
    let (to_folder, state) = form_of(args.to);
    let form = &session.run().form;
    let (of_files, of_rows) = match form {
        Form::Folder { form } => (
            matches!(form, FolderForm::StateMd | FolderForm::Bare),
            false,
        ),
        form => (false, matches!(form, Form::Sqlite { .. })),
    };
    let packed = opened.disk.verified().is_some();
    let same = (to_folder && of_files) || (!to_folder && of_rows);
    convertible(&opened, (of_files, of_rows), same && !packed, to_folder)?;
    let to = target(args, &opened, state)?;
    let with_files = !opened.alone;
    let mut converted = RunConverted {
        run: session.run().id.to_string(),
        folder: String::new(),
        state: state.to_owned(),
        left: Vec::new(),
        already: false,
    };
    if same {
        let late_fault = unpack(&opened.disk, &session.run().root, &to)?;
        record::print_late_fault(late_fault);
        converted.folder = record::from_here(&to);
        return out.show(&converted, || print::converted(&converted, out.width));
    }
    if let Some(there) = existing_copy::at(session, &to, to_folder, with_files)? {
        return out.show(&there, || print::converted(&there, out.width));
    }
    converted.left = copied(&opened, &to, to_folder, out)?;
    converted.folder = record::from_here(&to);
    out::recorded();
    out.show(&converted, || print::converted(&converted, out.width))
}

/// Refuses a run of two stores, of the form that it already has (`same`), or of a form that is only read.
fn convertible(
    opened: &LocatedRun,
    (of_files, of_rows): (bool, bool),
    same: bool,
    to_folder: bool,
) -> Result<(), CliError> {
    if of_files && opened.database.is_some() {
        let message = format!(
            "{} contains an unreadable database and also the files of a run, so it is unclear which of the two is the run",
            opened.name
        );
        return Err(CliError::refused("two-stores", message).hint(
            "`prosescope check RUN` shows what is wrong with the database. If the files are the run, move the database away; if the database is the run, move the files away",
        ));
    }
    if same {
        let message = format!("{} already has the form that --to names", opened.name);
        let other = if to_folder { "sqlite" } else { "filesystem" };
        return Err(CliError::refused("same-form", message)
            .hint(format!("choose the other form: --to {other}")));
    }
    if !of_files && !of_rows {
        let message = format!(
            "cannot convert {}: runs of this form are read-only",
            opened.name
        );
        return Err(CliError::refused("form-read-only", message)
            .hint("only databases, and folders with OpenProse's state.md, can be converted"));
    }
    Ok(())
}

/// Returns the folder of the copy: the one that the user names, else one beside the run.
fn target(args: &ConvertArgs, opened: &LocatedRun, state: &str) -> Result<PathBuf, CliError> {
    let nested = opened
        .dir
        .parent()
        .is_some_and(|dir| dir.ends_with("imports"));
    if nested && args.out.is_none() {
        let message = format!(
            "{} is the nested run of an import, and a copy beside the nested run would count as another import",
            opened.name
        );
        return Err(CliError::refused("out-beside-import", message)
            .hint("choose another folder: --out PATH"));
    }
    let to = args.out.clone().unwrap_or_else(|| {
        let folder = match opened.alone {
            // The folder that contains a shared file is not a folder of runs, so the copy goes to the working
            // directory.
            _ if opened.disk.verified().is_some() => None,
            true => Some(opened.dir.as_path()),
            false => opened.dir.parent(),
        };
        let folder = folder.map(PathBuf::from).unwrap_or_default();
        folder.join(format!("{}-{state}", opened.name))
    });
    // The target does not exist yet. Its nearest existing parent folder shows whether the target would be inside the
    // run.
    let absolute = std::path::absolute(&to)?;
    let mut above = absolute.ancestors().skip(1);
    let above = above.find_map(|dir| dir.canonicalize().ok());
    if !opened.alone && above.is_some_and(|above| above.starts_with(&opened.dir)) {
        let message = format!(
            "the copy cannot go to {}: this path is inside the run, and converting must not change the run",
            to.display()
        );
        return Err(CliError::refused("out-inside-run", message)
            .hint("choose a folder outside of the run: --out PATH"));
    }
    Ok(to)
}

/// Copies a run on disk into a new folder, as files or as a database. Returns what the copy lacks.
fn copied(
    opened: &LocatedRun,
    to: &Path,
    to_folder: bool,
    out: &Out,
) -> Result<Vec<CopyLoss>, CliError> {
    let (session, with_files) = (&opened.session, !opened.alone);
    let progress = Progress::of("copying", session.weight(to_folder, with_files), out);
    let (left, late_fault) = convert(
        &Conversion {
            origin: OriginalRun::Disk {
                disk: &opened.disk,
                database: opened.database.as_deref(),
                with_files,
            },
            session,
            to_folder,
            moved: &|bytes| progress.add(bytes),
        },
        to,
    )
    .map_err(|fault| super::of_run(&opened.dir, fault))?;
    drop(progress);
    record::print_late_fault(late_fault);
    Ok(left)
}

/// Copies a run in files into a database in a temporary folder, for a command that writes a database. Returns that
/// folder, the folder of the run in it, and what the copy lacks.
pub(super) fn aside(
    opened: &LocatedRun,
    out: &Out,
) -> Result<(Aside, PathBuf, Vec<CopyLoss>), CliError> {
    let folder = Aside::new()?;
    let to = folder.path().join(&opened.name);
    let left = copied(opened, &to, false, out)?;
    Ok((folder, to, left))
}

/// Returns whether a form of storage is a folder, and the name of the form.
fn form_of(state: StateMode) -> (bool, &'static str) {
    match state {
        StateMode::Filesystem => (true, "filesystem"),
        StateMode::Sqlite | StateMode::Postgres => (false, "sqlite"),
    }
}
