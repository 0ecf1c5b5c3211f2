//! `prosescope check RUN --fix` writes a repaired copy beside the run.

use prosescope_core::pages::session::pages;
use std::path::PathBuf;

use prosescope_core::model::{FolderForm, Form};
use prosescope_core::pages::repair::{REPAIRED_NOTES, plan};
use prosescope_core::pages::view::RunRepaired;
use prosescope_core::record::{Style, at_text};
use prosescope_store::{DamagedRun, write_repaired};

use super::{share, unread};
use crate::args::CheckArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{self, Out};
use crate::{locate, print, record};

pub(super) fn run(args: &CheckArgs, out: &Out) -> Result<Exit, CliError> {
    let runs = args.runs()?;
    let [run] = runs.as_slice() else {
        return Err(
            CliError::usage("--fix takes one run").hint("repair the runs one after the other")
        );
    };
    let now = locate::recorded_now()?;
    let opened = locate::open_on_disk(run)?;
    share::require_unchanged(&opened.disk, args.anyway)?;
    unread::require_no_io_error(&opened.session)?;
    let before = pages::check_page(&opened.session, Some(now), "");
    let form = &opened.session.run().form;
    let written = match form {
        Form::Folder { form } => matches!(form, FolderForm::StateMd | FolderForm::Bare),
        form => matches!(form, Form::Sqlite { .. }),
    };
    if !written {
        return Err(CliError::refused(
            "form-read-only",
            format!(
                "cannot repair {}: runs of this form are read-only",
                before.run
            ),
        )
        .hint("only databases, and folders with OpenProse's state.md, can be repaired"));
    }
    let counts = before.counts;
    let is_repaired = |rule: &str| REPAIRED_NOTES.contains(&rule);
    let minor = before.issues.iter().any(|of| is_repaired(&of.issue.rule));
    if args.out.is_none() && counts.error == 0 && counts.warning == 0 && !minor {
        let whole = RunRepaired {
            run: before.run.clone(),
            copy: None,
            repaired: Vec::new(),
            before: counts,
            after: before,
        };
        out.show(&whole, || print::fixed(&whole, out.width))?;
        return Ok(Exit::Done);
    }
    let to = args.out.clone().unwrap_or_else(|| {
        let folder = if opened.alone {
            Some(opened.dir.as_path())
        } else {
            opened.dir.parent()
        };
        let folder = folder.map(PathBuf::from).unwrap_or_default();
        folder.join(format!("{}-fixed", opened.name))
    });
    let session = &opened.session;
    let at = at_text(now, Style::AppendOnly);
    let repair = plan(session.run(), session.trace(), &at);
    let (repaired, late_fault) = write_repaired(
        &DamagedRun {
            disk: &opened.disk,
            root: &session.run().root,
            database: opened.database.as_deref(),
            with_files: !opened.alone,
            tables: &session.run().tables,
            repair: &repair,
        },
        &to,
    )
    .map_err(|fault| super::of_run(&opened.dir, fault))?;
    out::recorded();
    record::print_late_fault(late_fault);
    let copy = record::from_here(&to);
    let again = locate::open_with_folder(&to.to_string_lossy());
    let again = again.and_then(|(fixed, _)| unread::require_no_io_error(&fixed).map(|()| fixed));
    let fixed = again.map_err(|error| {
        let message = format!("{copy} was written, but cannot be read again: {error}");
        CliError::new(Exit::Recorded, message)
            .hint("`prosescope check` lists the remaining issues of the copy")
    })?;
    let fixed = RunRepaired {
        run: before.run,
        after: pages::check_page(&fixed, Some(now), &copy),
        copy: Some(copy),
        repaired,
        before: counts,
    };
    out.show(&fixed, || print::fixed(&fixed, out.width))?;
    Ok(match fixed.after.counts.error {
        0 => Exit::Done,
        _ => Exit::Issues,
    })
}
