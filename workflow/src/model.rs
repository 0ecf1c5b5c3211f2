//! Defines the rows of workflows, of their runs and of their events (memoria.md, "Tables").

use serde::{Deserialize, Serialize};

use super::Json;
use prosescope_core::model::time::Stamp;

/// Defines an enum whose members have OpenProse's words, such as `active`. Parsing ignores case, because SQLAlchemy
/// stores the name of the member, such as `ACTIVE`.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $member:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        pub enum $name { $($(#[$of])* #[serde(rename = $word)] $member,)* }

        impl $name {
            /// All values, in OpenProse's order.
            pub const ALL: &[$name] = &[$($name::$member,)*];

            /// Returns OpenProse's word for this value, such as `active`.
            pub fn word(self) -> &'static str {
                match self { $($name::$member => $word,)* }
            }

            /// Parses a word; `None` if OpenProse does not define it.
            pub fn parse(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|known| known.word().eq_ignore_ascii_case(word.trim()))
            }
        }

        // `derive(ToSchema)` cannot read a `rename` word that a macro passes: the schema would list the members' names.
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
        /// The workflow accepts new runs.
        Active = "active",
        /// The workflow accepts no new runs until it is resumed.
        Paused = "paused",
        /// The workflow was cancelled for good: it accepts nothing except events.
        Cancelled = "cancelled",
        /// The workflow itself failed, not only one run.
        Error = "error",
    }
}

words! {
    /// The status of a run of a workflow, which is one turn.
    TurnStatus {
        /// An engine is working on the run.
        Running = "running",
        /// The run waits for a person to answer its question.
        WaitingForInput = "waiting_for_input",
        /// The run ended with an output.
        Completed = "completed",
        /// The run ended with an error.
        Failed = "failed",
        /// The run or its workflow was cancelled.
        Cancelled = "cancelled",
    }
}

impl TurnStatus {
    /// Returns whether the run has not ended.
    pub fn is_open(self) -> bool {
        matches!(self, TurnStatus::Running | TurnStatus::WaitingForInput)
    }
}

words! {
    /// The kind of an event.
    Kind {
        /// The event reports progress of the work.
        Progress = "progress",
        /// The event reports a change of status.
        Status = "status",
        /// The event is a warning.
        Warning = "warning",
        /// The event reports a failure.
        Error = "error",
        /// The event contains the run's answer.
        Final = "final",
    }
}

/// A row of `workflows`: a conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Workflow {
    /// The workflow's id: a UUID.
    pub id: String,
    /// The status as recorded; see [`Workflow::known_status`].
    pub status: String,
    /// The conversation: `summary`, `tail` and `meta` (errata M6), and members that other programs added.
    pub context: Json,
    /// The settings of the conversation: a JSON object.
    pub preferences: Json,
    /// Steps worth keeping across runs: `{"steps": […]}`.
    pub important_steps: Json,
    /// The id of the newest run.
    pub most_recent_run_id: Option<String>,
    /// The error of the workflow itself, not of a run.
    #[cfg_attr(feature = "openapi", schema(value_type = Json))]
    pub error: Option<Json>,
    /// The time at which the workflow was created, if recorded.
    pub created_at: Option<Stamp>,
    /// The time of the workflow's last change, if recorded.
    pub updated_at: Option<Stamp>,
    /// A number that increases with every change (errata M3); `None` in tables without `x_version`.
    pub version: Option<i64>,
    /// Columns unknown to OpenProse, with their values as text.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<Option<String>>>))]
    pub extra: Vec<(String, Option<String>)>,
}

impl Workflow {
    /// Returns the recorded status as OpenProse's; `None` if OpenProse does not define the word.
    pub fn known_status(&self) -> Option<WorkflowStatus> {
        WorkflowStatus::parse(&self.status)
    }
}

/// A row of `workflow_runs`: one turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Turn {
    /// The run's id: a UUID.
    pub id: String,
    /// The id of the workflow that the run belongs to.
    pub workflow_id: String,
    /// The status as recorded; see [`Turn::known_status`].
    pub status: String,
    /// The person's message that began the run.
    pub user_input: Option<String>,
    /// Whether the engine may ask the person questions (errata M9).
    pub ask_clarifications: Option<bool>,
    /// The data with which the engine continues the run; `pending_input` contains the open question.
    pub state: Json,
    /// The run's answer, if it has one.
    #[cfg_attr(feature = "openapi", schema(value_type = Json))]
    pub final_output: Option<Json>,
    /// The error with which the run failed, if it did.
    #[cfg_attr(feature = "openapi", schema(value_type = Json))]
    pub error: Option<Json>,
    /// The name of the engine that works on the run (errata M4); not verified.
    pub owner: Option<String>,
    /// The time of the engine's last heartbeat.
    pub heartbeat: Option<Stamp>,
    /// The time until which no other engine may work on the run; `None` without a claim.
    #[serde(default)]
    pub lease: Option<Stamp>,
    /// The time at which the run was created, if recorded.
    pub created_at: Option<Stamp>,
    /// The time of the run's last change, if recorded.
    pub updated_at: Option<Stamp>,
    /// A number that increases with every change (errata M3); `None` in tables without `x_version`.
    pub version: Option<i64>,
    /// Columns unknown to OpenProse, with their values as text.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<Option<String>>>))]
    pub extra: Vec<(String, Option<String>)>,
}

impl Turn {
    /// Returns the recorded status as OpenProse's; `None` if OpenProse does not define the word.
    pub fn known_status(&self) -> Option<TurnStatus> {
        TurnStatus::parse(&self.status)
    }

    /// Returns when the open question was asked, if recorded.
    pub fn asked_at(&self) -> Option<Stamp> {
        let state = self.state.value();
        let at = state.get("pending_input")?.get("asked_at")?.as_str()?;
        Some(Stamp::parse(at))
    }

    /// Returns the open question, if recorded.
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

/// A row of `workflow_events`: one progress report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkflowEvent {
    /// The event's id, which is also the cursor: later events have larger ids. An id is never used again.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub id: i64,
    /// The id of the workflow that the event belongs to.
    pub workflow_id: String,
    /// The id of the run that the event belongs to, if any (errata M7).
    pub run_id: Option<String>,
    /// The kind as recorded; normally a word of [`Kind`].
    pub kind: String,
    /// The event's text, for people.
    pub text: String,
    /// The event's data, for programs.
    #[cfg_attr(feature = "openapi", schema(value_type = Json))]
    pub payload: Option<Json>,
    /// The time at which the event was recorded.
    pub created_at: Option<Stamp>,
    /// Columns unknown to OpenProse, with their values as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<Option<String>>>))]
    pub extra: Vec<(String, Option<String>)>,
}
