//! Reads the facts about the run from the header of its state.md.

use prosescope_core::model::{FolderForm, StateFile};
use prosescope_core::read::decode::state_md;
use prosescope_core::record::{Fault, FaultKind, WriteError};

use crate::dir::Dir;
use crate::record::fault;

/// Limit for a state file that is rendered again, in bytes. Its rows take about three times as much memory; an index of
/// 100,000 bindings takes 10 MB.
const MOST: u64 = 64 << 20;

/// The state file of a folder that is being recorded.
#[derive(Debug, Default)]
pub(super) struct StateHead {
    /// The content of the state file; empty if the file is missing or damaged.
    pub(super) file: StateFile,
    /// Whether the file is not a readable state file; the file is then copied to `x_history/` before it is replaced.
    pub(super) damaged: bool,
    /// The name of the file's format, if this writer does not write that format.
    pub(super) foreign: Option<&'static str>,
}

impl StateHead {
    pub(super) fn load(root: &Dir) -> Result<StateHead, Fault> {
        let wrong = |cause| fault::io(&root.shown("state.md"), "cannot be read", &cause);
        let file = root.look("state.md").map_err(wrong)?;
        if let Some(len) = file.map(|file| file.len()).filter(|len| *len > MOST) {
            let path = root.shown("state.md");
            let message = format!(
                "{} has {} MB, and at most {} MB are read: the rest would be lost",
                path.display(),
                len >> 20,
                MOST >> 20
            );
            return Err(Fault::new(FaultKind::Damaged, message).hint(
                "move text that is not the run's state out of that file, and repeat the command",
            ));
        }
        let Some(bytes) = root.read("state.md").map_err(wrong)? else {
            let log = root.look("vm.log.md").map_err(wrong)?;
            let log = log.is_some_and(|meta| meta.is_file());
            return Ok(StateHead {
                foreign: log.then_some("a vm.log.md"),
                ..StateHead::default()
            });
        };
        let text = String::from_utf8_lossy(&bytes);
        let mut head = StateHead::default();
        match state_md::form(&text) {
            FolderForm::StateMd => head.file = state_md::parse(&text).0,
            FolderForm::CompactLog => head.foreign = Some("a compact log"),
            FolderForm::VmLog => head.foreign = Some("a VM log"),
            FolderForm::Receipts => head.foreign = Some("a run state with receipts"),
            _ => head.damaged = true,
        }
        Ok(head)
    }

    /// Returns the run's id, or else the folder's name.
    pub(super) fn id(&self, root: &Dir) -> String {
        let told = self.file.run.clone().filter(|id| !id.is_empty());
        let name = || {
            root.path()
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
        };
        told.map_or_else(|| name().into_owned(), |id| id.to_string())
    }

    /// Returns whether the state file's trace contains an execution, finished or open.
    pub(super) fn tells(&self) -> bool {
        let annotations = self
            .file
            .trace
            .iter()
            .filter_map(|line| line.annotation.as_ref());
        annotations
            .into_iter()
            .any(|said| !said.ahead && !said.declared)
            || !self.file.call_stack.is_empty()
    }

    /// Refuses to write events if they would replace the trace of a file in another format.
    pub(super) fn takes_events(&self, root: &Dir) -> Result<(), WriteError> {
        let Some(form) = self.foreign else {
            return Ok(());
        };
        Err(WriteError::refused(
            "state-file-of-others",
            format!(
                "{} records the executions as {form}, a form to which `prosescope` cannot add",
                root.path().display()
            ),
            "continue the run with the program that began it, or record a new run: `prosescope init PROGRAM`",
        ))
    }
}
