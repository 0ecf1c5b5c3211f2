//! Opens the runs that `share` writes into one file.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use prosescope_core::model::source::Source;
use prosescope_core::model::{FolderForm, Form};
use prosescope_core::pages::session::Session;
use prosescope_core::record::render::text::escape;
use prosescope_share::copy::SharedRun;
use prosescope_share::pack::Databases;
use prosescope_share::sharing::RunWithDatabases;
use prosescope_store::{Aside, Disk, DiskDatabases, RunLock, WorkflowReader, hold};

use crate::commands::{convert, server_copy, share, unread};
use crate::error::CliError;
use crate::exit::Exit;
use crate::locate::{self, LocatedRun, OnServer};
use crate::out::{Out, say};
use crate::print;

/// The runs that one command shares, opened.
pub(in crate::commands) struct RunsToShare {
    all: Vec<One>,
    /// Temporary copies of runs in PostgreSQL, or in files. They are deleted when this field is dropped.
    _copies: Vec<Aside>,
    /// The locks that keep commands from recording into runs in files, until these are copied.
    locks: Cell<Vec<RunLock>>,
}

enum One {
    Run(Box<LocatedRun>),
    Workflows {
        disk: Box<Disk>,
        file: String,
        dir: PathBuf,
    },
}

impl RunsToShare {
    /// Opens the runs and the databases of workflows that the command line names. With `as_database`, runs in files are
    /// copied into databases first. Without `anyway`, a shared file that was changed is refused.
    pub(in crate::commands) fn open(
        names: &[String],
        (as_database, anyway): (bool, bool),
        out: &Out,
    ) -> Result<RunsToShare, CliError> {
        let mut all = Vec::new();
        let mut copies = Vec::new();
        let mut locks = Vec::new();
        for name in names {
            let path = Path::new(name);
            if path.is_file() && WorkflowReader::open(path).is_ok() {
                let disk = locate::disk(path)?;
                share::require_unchanged(&disk, anyway)?;
                let mut files = disk.files().iter().map(|file| file.path.clone());
                let file = files.find(|file| file.ends_with(".db"));
                let named = path.file_name().unwrap_or_default().to_string_lossy();
                let file = file.unwrap_or_else(|| named.into_owned());
                all.push(One::Workflows {
                    disk: Box::new(disk),
                    file,
                    dir: path.parent().map(Path::to_owned).unwrap_or_default(),
                });
                continue;
            }
            let opened = match OnServer::named(name)? {
                None => {
                    let opened = locate::open_alone(name)?;
                    let lock = is_files(&opened).then(|| hold(&opened.dir));
                    match lock.transpose()?.flatten() {
                        None => opened,
                        // Lists the files again, because they may have changed before the lock was free.
                        Some(lock) => {
                            locks.push(lock);
                            locate::open_alone(name)?
                        }
                    }
                }
                Some(found) => {
                    let (copy, to) = server_copy::aside(&found, out)?;
                    copies.push(copy);
                    locate::open_alone(&to.to_string_lossy())?
                }
            };
            share::require_unchanged(&opened.disk, anyway)?;
            unread::require_no_io_error(&opened.session)?;
            let opened = if !(as_database && is_files(&opened)) {
                opened
            } else {
                let (copy, to, left) = convert::aside(&opened, out)?;
                copies.push(copy);
                for left in left {
                    let what = format!("{}: {}", left.place, left.what);
                    say(&print::note(&escape(&what, false)));
                }
                locate::open_alone(&to.to_string_lossy())?
            };
            all.push(One::Run(Box::new(opened)));
        }
        Ok(RunsToShare {
            all,
            _copies: copies,
            locks: Cell::new(locks),
        })
    }

    /// Returns the first run and its disk, for an option that needs a run.
    ///
    /// # Errors
    /// If the first file is a database of workflows.
    pub(in crate::commands) fn run(&self, option: &str) -> Result<(&Session, &Disk), CliError> {
        if let Some(One::Run(opened)) = self.all.first() {
            return Ok((&opened.session, &opened.disk));
        }
        let message =
            format!("{option} needs a run, but the named file is a database of workflows");
        Err(CliError::usage(message).hint("`prosescope workflow list` lists the workflows"))
    }

    /// Lets commands record into the runs again, before this command waits for a person or for a reader of its output.
    pub(in crate::commands) fn unlock(&self) {
        self.locks.take();
    }

    /// Returns the folders of the runs.
    pub(super) fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.all.iter().map(|one| match one {
            One::Run(opened) => &opened.dir,
            One::Workflows { dir, .. } => dir,
        })
    }

    /// Returns each run with its databases.
    pub(in crate::commands) fn shared(&self) -> Result<Vec<RunWithDatabases<'_>>, CliError> {
        let all = self.all.iter().map(|one| {
            let databases: Box<dyn Databases> = Box::new(databases(one.disk())?);
            Ok((one.shared(), databases))
        });
        all.collect()
    }
}

/// Returns whether a run is in files from which a database can be made.
fn is_files(opened: &LocatedRun) -> bool {
    let form = &opened.session.run().form;
    let forms = [FolderForm::StateMd, FolderForm::Bare];
    opened.database.is_none() && matches!(form, Form::Folder { form } if forms.contains(form))
}

/// Returns the databases of a disk.
pub(super) fn databases(disk: &Disk) -> Result<DiskDatabases<'_>, CliError> {
    DiskDatabases::new(disk).map_err(|cause| no_place(&cause))
}

/// Returns the error for a temporary folder that cannot be created.
pub(super) fn no_place(cause: &std::io::Error) -> CliError {
    CliError::new(
        Exit::Io,
        format!("cannot create a temporary folder: {cause}"),
    )
    .hint("make room, or set TMPDIR to another folder")
}

impl One {
    fn disk(&self) -> &Disk {
        match self {
            One::Run(opened) => &opened.disk,
            One::Workflows { disk, .. } => disk,
        }
    }

    fn shared(&self) -> SharedRun<'_> {
        match self {
            One::Run(opened) => SharedRun {
                session: Some(&opened.session),
                source: opened.disk.as_ref(),
                root: opened.session.run().root.to_string(),
                database: opened.database.clone(),
                alone: opened.alone,
                to: if opened.alone {
                    String::new()
                } else {
                    format!("{}/", opened.name)
                },
            },
            One::Workflows { disk, file, .. } => SharedRun::workflows(disk.as_ref(), file),
        }
    }
}
