//! `prose push`, `prose pull`: a run copied into PostgreSQL and out of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use prosescope_core::model::{FolderForm, Form};
use prosescope_core::session::{Options, Session};
use prosescope_core::source::Source;
use prosescope_core::view::RunConverted;
use prosescope_postgres::{PostgresSource, import_run};
use prosescope_store::{Conversion, Origin, convert};

use super::unread;
use crate::args::upkeep::{PullArgs, PushArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::locate::OnServer;
use crate::out::{self, Out};
use crate::{locate, print, record};

pub(super) fn push(args: &PushArgs, out: &Out) -> Result<Exit, CliError> {
    let converted = pushed(&args.run)?;
    out.show(&converted, || print::converted(&converted, out.width))
}

pub(super) fn pull(args: &PullArgs, out: &Out) -> Result<Exit, CliError> {
    let Some(found) = OnServer::named(&args.run)? else {
        let message = format!("{} is not in PostgreSQL", args.run);
        return Err(CliError::usage(message).hint("name it postgres:ID"));
    };
    let converted = match &args.out {
        Some(file) => into_file(&found, file)?,
        None => {
            let to = record::prose_dir()?.join("runs").join(&found.id);
            pulled(&found, &to, false)?
        }
    };
    out.show(&converted, || print::converted(&converted, out.width))
}

/// Copies a run into the database that the project names.
pub(super) fn pushed(run: &str) -> Result<RunConverted, CliError> {
    if locate::id_on_server(run).is_some() {
        let message = format!("{run} is in PostgreSQL already");
        return Err(CliError::refused("same-form", message)
            .hint("`prose pull` copies it into a database file"));
    }
    let address = locate::address()?;
    // Alone: agents of wider scopes are none of the run's.
    let opened = locate::open_alone(run)?;
    unread::given(&opened.session)?;
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
            .hint("databases, and folders with the state.md of the documents, can be copied"));
    }
    let left = import_run(&address, &opened.session, !opened.alone)?;
    out::recorded();
    let id = opened.session.run().id.to_string();
    Ok(RunConverted {
        folder: locate::server_name(&id),
        run: id,
        state: "postgres".to_owned(),
        left,
    })
}

/// Copies a run out of PostgreSQL into a new folder.
pub(super) fn pulled(
    found: &OnServer,
    to: &Path,
    to_folder: bool,
) -> Result<RunConverted, CliError> {
    let source = PostgresSource::open(&found.address, &found.id)?.by_source_ids();
    let source = Rc::new(source);
    let shared: Rc<dyn Source> = Rc::<PostgresSource>::clone(&source);
    // For as long as it takes, and without what lies around the run.
    let place = PostgresSource::place(&found.id);
    let session = Session::open(shared, &place, &Options::default())?;
    unread::given(&session)?;
    let (left, told) = convert(
        &Conversion {
            origin: Origin::Server(&|| source.written()),
            session: &session,
            to_folder,
        },
        to,
    )?;
    out::recorded();
    record::told(told);
    Ok(RunConverted {
        run: found.id.clone(),
        folder: record::from_here(to),
        state: if to_folder { "filesystem" } else { "sqlite" }.to_owned(),
        left,
    })
}

/// Copies a run into a database file, with its other files beside it.
fn into_file(found: &OnServer, file: &Path) -> Result<RunConverted, CliError> {
    let there = |path: &Path| fs::symlink_metadata(path).is_ok();
    let taken = |path: &Path| {
        let message = format!("{} is there already", path.display());
        CliError::new(Exit::Io, message).hint("choose another file: -o FILE")
    };
    if there(file) {
        return Err(taken(file));
    }
    let file = std::path::absolute(file)?;
    let above = file.parent().map(PathBuf::from).unwrap_or_default();
    fs::create_dir_all(&above)?;
    let aside = tempfile::Builder::new()
        .prefix(".pull-")
        .tempdir_in(&above)?;
    let made = aside.path().join("run");
    let converted = pulled(found, &made, false)?;
    // The program is in its row.
    let mut beside = Vec::new();
    for entry in fs::read_dir(&made)? {
        let name = entry?.file_name();
        if name != "state.db" && name != "program.prose" {
            beside.push(name);
        }
    }
    if let Some(name) = beside.iter().find(|name| there(&above.join(name))) {
        return Err(taken(&above.join(name)));
    }
    if !beside.is_empty() && file.file_name() != Some("state.db".as_ref()) {
        let message = format!(
            "{} has attachments, which are read beside a file called state.db only",
            found.name()
        );
        return Err(CliError::usage(message).hint("name the file so, in a folder of its own"));
    }
    // The database comes last: where it is, all of it is.
    for name in beside {
        fs::rename(made.join(&name), above.join(&name))?;
    }
    fs::rename(made.join("state.db"), &file)?;
    Ok(RunConverted {
        folder: record::from_here(&file),
        ..converted
    })
}
