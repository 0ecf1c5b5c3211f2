//! What a workflow, a run of it and an event are, as their rows hold them (memoria.md, "Tables").

use serde::{Deserialize, Serialize};

use super::Json;
use prosescope_core::time::Stamp;

/// Makes an enum of the document's words. Words are read in any case: SQLAlchemy's enums store the names of their members.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $member:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        pub enum $name { $($(#[$of])* #[serde(rename = $word)] $member,)* }

        impl $name {
            /// All of them, in the document's order.
            pub const ALL: &[$name] = &[$($name::$member,)*];

            /// As the document writes it.
            pub fn word(self) -> &'static str {
                match self { $($name::$member => $word,)* }
            }

            /// What a word means; `None` for one that the document does not have.
            pub fn parse(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|known| known.word().eq_ignore_ascii_case(word.trim()))
            }
        }

        // The derive does not see words that come from a macro, and would list the members' names.
        #[cfg(feature = "openapi")]
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                let words = $name::ALL.iter().map(|known| known.word());
                let text = utoipa::openapi::ObjectBuilder::new().schema_type(utoipa::openapi::Type::String);
                text.enum_values(Some(words)).into()
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::ToSchema for $name {}
    };
}

words! {
    /// The status of a workflow.
    WorkflowStatus {
        /// It takes new runs.
        Active = "active",
        /// It takes none until it is resumed.
        Paused = "paused",
        /// It ended; nothing of it changes any more.
        Cancelled = "cancelled",
        /// Something went wrong that is not one run's.
        Error = "error",
    }
}

words! {
    /// The status of a run of a workflow: of one turn.
    TurnStatus {
        /// Its engine works.
        Running = "running",
        /// It asked, and waits for a person.
        WaitingForInput = "waiting_for_input",
        /// It has its output.
        Completed = "completed",
        /// It has an error.
        Failed = "failed",
        /// It was cancelled, or its workflow was.
        Cancelled = "cancelled",
    }
}

impl TurnStatus {
    /// Whether the run can still come to something.
    pub fn is_open(self) -> bool {
        matches!(self, TurnStatus::Running | TurnStatus::WaitingForInput)
    }
}

words! {
    /// The kind of an event.
    Kind {
        /// Work went on.
        Progress = "progress",
        /// A status changed.
        Status = "status",
        /// Something to look at.
        Warning = "warning",
        /// Something failed.
        Error = "error",
        /// The answer.
        Final = "final",
    }
}

/// A row of `workflows`: a conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Workflow {
    /// Its id: a UUID.
    pub id: String,
    /// As recorded; [`Workflow::known_status`] says what it means.
    pub status: String,
    /// The conversation: `summary`, `tail` and `meta` (errata M6), and what others keep there.
    pub context: Json,
    /// Settings of the conversation.
    pub preferences: Json,
    /// What is worth keeping across runs: `{"steps": […]}`.
    pub important_steps: Json,
    /// The newest run.
    pub most_recent_run_id: Option<String>,
    /// What went wrong with the workflow itself.
    #[cfg_attr(feature = "openapi", schema(value_type = Json))]
    pub error: Option<Json>,
    /// When it was made.
    pub created_at: Option<Stamp>,
    /// When it changed last.
    pub updated_at: Option<Stamp>,
    /// Raised by every change (errata M3); `None` in tables that have no `x_version`.
    pub version: Option<i64>,
    /// Columns that the document does not have, with their values as text.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<Option<String>>>))]
    pub extra: Vec<(String, Option<String>)>,
}

impl Workflow {
    /// What its status means; `None` for a word that the document does not have.
    pub fn known_status(&self) -> Option<WorkflowStatus> {
        WorkflowStatus::parse(&self.status)
    }
}

/// A row of `workflow_runs`: one turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Turn {
    /// Its id: a UUID.
    pub id: String,
    /// The conversation.
    pub workflow_id: String,
    /// As recorded; [`Turn::known_status`] says what it means.
    pub status: String,
    /// The person's message that began it.
    pub user_input: Option<String>,
    /// Whether the engine may ask back (errata M9).
    pub ask_clarifications: Option<bool>,
    /// What the engine needs to go on; `pending_input` holds the open question.
    pub state: Json,
    /// Its answer.
    #[cfg_attr(feature = "openapi", schema(value_type = Json))]
    pub final_output: Option<Json>,
    /// What went wrong.
    #[cfg_attr(feature = "openapi", schema(value_type = Json))]
    pub error: Option<Json>,
    /// Who works on it (errata M4): a claim.
    pub owner: Option<String>,
    /// When its engine last said that it works.
    pub heartbeat: Option<Stamp>,
    /// When it began.
    pub created_at: Option<Stamp>,
    /// When it changed last.
    pub updated_at: Option<Stamp>,
    /// Raised by every change (errata M3).
    pub version: Option<i64>,
    /// Columns that the document does not have, with their values as text.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<Option<String>>>))]
    pub extra: Vec<(String, Option<String>)>,
}

impl Turn {
    /// What its status means; `None` for a word that the document does not have.
    pub fn known_status(&self) -> Option<TurnStatus> {
        TurnStatus::parse(&self.status)
    }

    /// When the open question was asked, where that is recorded.
    pub fn asked_at(&self) -> Option<Stamp> {
        let state = self.state.value();
        let at = state.get("pending_input")?.get("asked_at")?.as_str()?;
        Some(Stamp::parse(at))
    }

    /// The open question, where one is recorded.
    pub fn question(&self) -> Option<String> {
        let pending = self.state.value().get("pending_input")?.clone();
        match &pending {
            serde_json::Value::Null => None,
            serde_json::Value::String(text) => Some(text.clone()),
            other => {
                let text = other.get("question").and_then(|question| question.as_str());
                Some(text.map_or_else(|| other.to_string(), str::to_owned))
            }
        }
    }
}

/// A row of `workflow_events`: one update.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Event {
    /// The cursor: later events have larger ones. Never used again.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub id: i64,
    /// The conversation.
    pub workflow_id: String,
    /// The run that it belongs to, if any (errata M7).
    pub run_id: Option<String>,
    /// As recorded; one of [`Kind`].
    pub kind: String,
    /// For people.
    pub text: String,
    /// For programs.
    #[cfg_attr(feature = "openapi", schema(value_type = Json))]
    pub payload: Option<Json>,
    /// When it was recorded.
    pub created_at: Option<Stamp>,
    /// Columns that the document does not have, with their values as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<Option<String>>>))]
    pub extra: Vec<(String, Option<String>)>,
}
