//! What the page asks the worker, and how the worker says no.
//!
//! A question goes as `{ id, body, files }`: `body` is a [`Request`] as JSON, `files` pairs of path and browser
//! file where the request opens some. The answer is `{ id, ok, blob }` or `{ id, error }`, JSON of the view struct
//! that the request names, or of a [`Trouble`].

#![cfg_attr(not(target_family = "wasm"), allow(dead_code))]

use prosescope_core::session::ValueOf;
use prosescope_core::session::pages::Page;
use prosescope_core::view::RunList;
use prosescope_core::workflow::WorkflowSummary;
use prosescope_core::workflow::page::EventLine;
use serde::{Deserialize, Serialize};

/// A question to the worker. `place` is where a run lies inside what is open (see
/// [`prosescope_core::view::RunSummary::place`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// Opens the files that come with it: an [`Opened`].
    OpenFiles {
        /// What to call them to a person.
        label: String,
        /// What is not among them.
        #[serde(default)]
        missing: Missing,
    },
    /// Opens what the local server offers: an [`Opened`].
    OpenServed {
        /// The page's own address, ending in `/`.
        base: String,
    },
    /// Reads what the local server offers anew, where something of it changed: an `Option` of [`Followed`]. On an
    /// error all stays open as it was.
    Follow {
        /// The page's own address, ending in `/`.
        base: String,
        /// The run that is shown.
        place: Option<String>,
        /// Nodes of it whose new numbers are asked for.
        nodes: Vec<u32>,
        /// Bindings of it whose new numbers are asked for.
        bindings: Vec<u32>,
    },
    /// Opens the run that the viewer carries: an [`Opened`].
    OpenExample,
    /// A page of a run: its struct of [`prosescope_core::view`].
    Page {
        /// Where the run lies.
        place: String,
        /// The page.
        page: Page,
    },
    /// A window of a `ProgramView`.
    Program {
        /// Where the run lies.
        place: String,
        /// The first line, from 0.
        from: u32,
        /// How many.
        len: u32,
    },
    /// `NodeRef`s of these nodes.
    Nodes {
        /// Where the run lies.
        place: String,
        /// The nodes.
        nodes: Vec<u32>,
    },
    /// A window of a `TracePage`, with what is folded left out.
    Trace {
        /// Where the run lies.
        place: String,
        /// The first visible row, from 0.
        from: u32,
        /// How many.
        len: u32,
    },
    /// Folds or unfolds one node, or (without one) all of them; answers nothing.
    Fold {
        /// Where the run lies.
        place: String,
        /// The node.
        node: Option<u32>,
        /// Whether its children are hidden from now on.
        folded: bool,
    },
    /// The place of a node among the visible rows, after unfolding what hides it: `u32`.
    Reveal {
        /// Where the run lies.
        place: String,
        /// The node.
        node: u32,
    },
    /// The node that one lies in: `Option<u32>`.
    Parent {
        /// Where the run lies.
        place: String,
        /// The node.
        node: u32,
    },
    /// The next or previous cause of a failure: `Option<NodeRef>`.
    NextFailure {
        /// Where the run lies.
        place: String,
        /// Where to begin.
        node: Option<u32>,
        /// Whether downward.
        forward: bool,
    },
    /// The node that an execution row belongs to: `Option<u32>`.
    NodeOfRow {
        /// Where the run lies.
        place: String,
        /// The row's id.
        row: i64,
    },
    /// Everything known of a node: `Option<NodeDetail>`.
    Node {
        /// Where the run lies.
        place: String,
        /// The node.
        node: u32,
    },
    /// A window of a `BindingsPage`.
    Bindings {
        /// Where the run lies.
        place: String,
        /// The first one, from 0.
        from: u32,
        /// How many.
        len: u32,
    },
    /// One binding: `Option<BindingRow>`.
    Binding {
        /// Where the run lies.
        place: String,
        /// Its index.
        binding: u32,
    },
    /// The place of a binding in the list: `Option<u32>`.
    BindingPlace {
        /// Where the run lies.
        place: String,
        /// Its index.
        binding: u32,
    },
    /// What a name means in a frame, and why: a `ResolutionView`.
    Resolve {
        /// Where the run lies.
        place: String,
        /// The name.
        name: String,
        /// The frame; `None` is the root.
        from: Option<i64>,
    },
    /// The beginning of a value: a `ValueView`.
    Value {
        /// Where the run lies.
        place: String,
        /// Whose.
        of: ValueOf,
        /// At most so many bytes.
        most: u64,
    },
    /// A whole value as a `Blob`, which comes beside the answer.
    Download {
        /// Where the run lies.
        place: String,
        /// Whose.
        of: ValueOf,
    },
    /// A `StateMdView`.
    State {
        /// Where the run lies.
        place: String,
        /// All of the program rather than what ran and a few lines ahead.
        whole: bool,
    },
    /// A window of a table: `TableRows`.
    Table {
        /// Where the run lies.
        place: String,
        /// The table.
        table: String,
        /// The first row, from 0.
        from: u64,
        /// How many.
        len: u32,
    },
    /// A stretch of the workflows of a database, the newest first: a [`Window`].
    Workflows {
        /// The database.
        place: String,
        /// Only those of this status; empty for any.
        status: String,
        /// Only those of which a run waits for input.
        waiting: bool,
        /// The first one, from 0.
        from: u64,
        /// How many.
        len: u32,
    },
    /// A workflow: `Option<WorkflowPage>`.
    Workflow {
        /// The database.
        place: String,
        /// Its id.
        id: String,
    },
    /// A stretch of a workflow's events, in order: a [`Window`].
    Events {
        /// The database.
        place: String,
        /// The workflow.
        id: String,
        /// The first one, from 0.
        from: u64,
        /// How many.
        len: u32,
    },
    /// One event: `Option<EventShown>`.
    Event {
        /// The database.
        place: String,
        /// The workflow.
        id: String,
        /// The event's id.
        event: i64,
    },
    /// What was read so far: [`Stats`].
    Stats,
}

/// What was opened.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Opened {
    /// Its runs.
    pub(crate) list: RunList,
    /// Its databases of workflows.
    pub(crate) workflows: Vec<WorkflowsIn>,
}

/// A database of workflows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WorkflowsIn {
    /// Where it lies inside of what is open.
    pub(crate) place: String,
    /// What is to be known of it, such as that its newest rows may be absent.
    pub(crate) notes: Vec<String>,
}

/// A stretch of a list of workflows, or of events. One type for both: each costs the page its own code of a long list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Window {
    /// The rows.
    pub(crate) rows: Vec<Line>,
    /// Rows in all.
    pub(crate) total: u64,
}

/// A row of such a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Line {
    /// A workflow.
    Workflow(WorkflowSummary),
    /// An event.
    Event(EventLine),
}

/// What is not among the files that a person gave.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Missing {
    /// Folders that were not looked into.
    pub(crate) skipped: Vec<String>,
    /// Files that the browser names but does not give.
    pub(crate) not_given: Vec<String>,
    /// Dropped folders of which the browser may hide files.
    pub(crate) hidden: Vec<String>,
    /// Single files were given, and no folder.
    pub(crate) loose: bool,
}

/// What was read so far, and at what cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stats {
    /// Reads, fetches and their bytes.
    #[serde(flatten)]
    pub(crate) counters: crate::bytes::Counters,
    /// Bytes of the worker's wasm memory.
    pub(crate) memory: u64,
}

/// What changed while it was open.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Followed {
    /// The runs and the workflows, as they are now.
    pub(crate) opened: Opened,
    /// What is shown was read anew.
    pub(crate) reread: bool,
    /// For each node that was asked about: its number now, and its place among the visible rows.
    pub(crate) nodes: Vec<Option<(u32, u32)>>,
    /// For each binding that was asked about: its number now, and its place in the list.
    pub(crate) bindings: Vec<Option<(u32, u32)>>,
    /// Nodes that were not there before; the first of them, where they are many.
    pub(crate) new_nodes: Vec<u32>,
    /// Bindings that were not there before; the first of them, where they are many.
    pub(crate) new_bindings: Vec<u32>,
}

/// Why something could not be done, for a person: what was found, why it is refused, what to do next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trouble {
    /// The file that it is about.
    pub(crate) file: Option<String>,
    /// What was found, in a sentence or less: `report.pdf, 12 KB, begins with %PDF`.
    pub(crate) found: String,
    /// Why that cannot be shown.
    pub(crate) cause: String,
    /// What to do next.
    pub(crate) next: String,
    /// It comes of a file that is being written: a moment later it may be gone.
    #[serde(default)]
    pub(crate) passing: bool,
}

impl Trouble {
    /// A trouble that is no file's.
    pub(crate) fn new(cause: impl Into<String>, next: impl Into<String>) -> Trouble {
        Trouble {
            cause: cause.into(),
            next: next.into(),
            ..Trouble::default()
        }
    }
}

impl Trouble {
    /// Something that should not happen.
    pub(crate) fn defect(what: &str) -> Trouble {
        Trouble::new(
            format!("This is a defect of the viewer: {what}."),
            "Please report it, with the kind of run that you opened.",
        )
    }
}

impl From<prosescope_core::session::OpenError> for Trouble {
    fn from(error: prosescope_core::session::OpenError) -> Trouble {
        use prosescope_core::session::OpenError;

        match error {
            OpenError::Source(error) => error.into(),
            OpenError::NoRun { place, found, next } => Trouble {
                file: Some(place),
                found,
                cause: "There is no run in it.".to_owned(),
                next,
                ..Trouble::default()
            },
        }
    }
}

impl From<prosescope_core::source::SourceError> for Trouble {
    fn from(error: prosescope_core::source::SourceError) -> Trouble {
        use prosescope_core::source::SourceError;

        let passing = matches!(error, SourceError::Changed(_));
        let (file, cause, next) = match error {
            SourceError::NotFound(path) => (
                path,
                "It is not among the files that were opened.".to_owned(),
                "Open the whole folder, so that everything it names is there.".to_owned(),
            ),
            SourceError::Changed(path) => (
                path,
                "It changed on disk since it was opened.".to_owned(),
                "Open it again to see its present state.".to_owned(),
            ),
            SourceError::Unreadable { path, cause } => (
                path,
                format!("It cannot be read: {cause}."),
                "Check that it is still there and that you may read it, then open it again."
                    .to_owned(),
            ),
            SourceError::Database {
                path, cause, next, ..
            } => (path, cause, next),
        };
        Trouble {
            file: Some(file),
            cause,
            next,
            passing,
            ..Trouble::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prosescope_core::source::SourceError;

    #[test]
    fn a_request_survives_the_way_to_the_worker() {
        let request = Request::OpenFiles {
            label: "a \"b\"\n".into(),
            missing: Missing::default(),
        };
        let body = serde_json::to_string(&request).unwrap();
        assert!(
            body.starts_with(r#"{"open_files":{"label":"a \"b\"\n","#),
            "{body}"
        );
        assert_eq!(serde_json::from_str::<Request>(&body).unwrap(), request);
    }

    #[test]
    fn every_trouble_names_the_file_and_the_next_step() {
        for error in [
            SourceError::NotFound("a.md".into()),
            SourceError::Changed("a.md".into()),
            SourceError::Unreadable {
                path: "a.md".into(),
                cause: "not allowed".into(),
            },
        ] {
            let trouble = Trouble::from(error);
            assert_eq!(trouble.file.as_deref(), Some("a.md"));
            assert!(trouble.cause.ends_with('.') && trouble.next.ends_with('.'));
        }
    }
}
