//! `prose convert RUN --to sqlite|filesystem`: the same run in the other form.

use std::path::PathBuf;
use std::rc::Rc;

use prosescope_core::model::{FolderForm, Form};
use prosescope_core::session::{Options, Session};
use prosescope_store::{Conversion, convert};
use serde::Serialize;

use crate::args::record::StateMode;
use crate::args::upkeep::ConvertArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print, record};

/// What `prose convert --json` prints.
#[derive(Serialize)]
pub(crate) struct Converted {
    /// The run.
    pub(crate) run: String,
    /// The new folder.
    pub(crate) folder: String,
    /// Its form.
    pub(crate) state: &'static str,
    /// What could not be carried, or not as it was.
    pub(crate) left: Vec<String>,
}

pub(super) fn run(args: &ConvertArgs, out: &Out) -> Result<Exit, CliError> {
    let opened = locate::open_on_disk(&args.run)?;
    // Alone: agents of wider scopes are none of the run's.
    let session = Session::open(
        Rc::clone(opened.session.source()),
        opened.session.place(),
        &Options::default(),
    )?;
    let (to_folder, state) = match args.to {
        StateMode::Filesystem => (true, "filesystem"),
        StateMode::Sqlite => (false, "sqlite"),
    };
    let fits = match &session.run().form {
        Form::Folder { form } => {
            !to_folder && matches!(form, FolderForm::StateMd | FolderForm::Bare)
        }
        form => to_folder && matches!(form, Form::Sqlite { .. }),
    };
    if !fits {
        let message = format!("{} is of no form that is converted to {state}", opened.name);
        return Err(CliError::new(Exit::Refused, message).hint(
            "a database is converted to files, a folder with a state.md of the documents' form to a database",
        ));
    }
    let to = args.out.clone().unwrap_or_else(|| {
        let folder = match opened.alone {
            true => Some(opened.dir.as_path()),
            false => opened.dir.parent(),
        };
        let folder = folder.map(PathBuf::from).unwrap_or_default();
        folder.join(format!("{}-{state}", opened.name))
    });
    let left = convert(
        &Conversion {
            disk: &opened.disk,
            session: &session,
            database: opened.database.as_deref(),
            with_files: !opened.alone,
            to_folder,
        },
        &to,
    )?;
    let converted = Converted {
        run: session.run().id.to_string(),
        folder: record::from_here(&to),
        state,
        left,
    };
    if out.json {
        out.json(&converted)?;
    } else {
        out.text(&print::converted(&converted, out.width))?;
    }
    Ok(Exit::Done)
}
