//! Copies a run into PostgreSQL, and out of PostgreSQL, for `prosescope convert`.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::postgres::{PostgresSource, import_run};
use prosescope_core::model::source::Source;
use prosescope_core::model::{FolderForm, Form};
use prosescope_core::pages::session::{Options, Session};
use prosescope_core::pages::view::RunConverted;
use prosescope_core::record::WriteError;
use prosescope_store::{Aside, Conversion, OriginalRun, convert};

use super::{existing_copy, share, unread};
use crate::error::CliError;
use crate::locate::OnServer;
use crate::out::{self, Out};
use crate::progress::Progress;
use crate::{locate, record};

/// Copies a run into the PostgreSQL database of the project.
pub(super) fn pushed(run: &str, anyway: bool, out: &Out) -> Result<RunConverted, CliError> {
    if locate::id_on_server(run).is_some() {
        let message = format!("{run} is in PostgreSQL already");
        return Err(CliError::refused("same-form", message)
            .hint("`prosescope convert RUN --to sqlite` copies the run into a database file"));
    }
    let address = locate::address()?;
    // The run is opened without agents of the project and the user, because those agents do not belong to the run.
    let opened = locate::open_alone(run)?;
    share::require_unchanged(&opened.disk, anyway)?;
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
    let progress = Progress::of("copying", total, out);
    let moved = |bytes| progress.add(bytes);
    let (left, already) = match import_run(&address, &opened.session, with_files, &moved) {
        Err(WriteError::Refused {
            rule: "run-exists", ..
        }) => {
            // The comparison leaves out files on this machine, because they are not part of the copy in PostgreSQL.
            let copy = session_of(PostgresSource::open(&address, &id)?, &id)?;
            let next = format!(
                "continue the run in PostgreSQL. Or save the copy in PostgreSQL (`prosescope convert postgres:{id} --to sqlite --out PATH`), remove this copy (`prosescope clean postgres:{id} --yes`), and convert the run again"
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
    let progress = Progress::of("copying", session.weight(to_folder, true), out);
    let (left, late_fault) = convert(
        &Conversion {
            origin: OriginalRun::Server(&|| source.written()),
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

/// Copies a run out of PostgreSQL into a temporary folder, for a command that works on files. Returns that folder, and
/// the folder of the run in it.
pub(super) fn aside(found: &OnServer, out: &Out) -> Result<(Aside, PathBuf), CliError> {
    let folder = Aside::new()?;
    let to = folder.path().join(&found.id);
    pulled(found, &to, false, out)?;
    Ok((folder, to))
}
