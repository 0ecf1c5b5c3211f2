//! Gates: created, looked at, decided, timed out (errata G1–G12). Whatever happens to one is a sealed row of the audit
//! log, which stands before the change that it speaks of.
//!
//! | file | does |
//! |---|---|
//! | `create.rs` | `gate create` |
//! | `view.rs` | `gate show` |
//! | `resolve.rs` | `approve`, `reject` |
//! | `expire.rs` | `gates expire`, and a decision that comes too late |
//! | `resume.rs` | what `resume --begin` logs |
//! | `log.rs` | rows of the log, sealed behind its last one |
//! | `waits.rs` | the execution row that waits at a gate |

mod create;
mod expire;
mod log;
mod resolve;
mod resume;
mod view;
mod waits;

pub use create::CreateGate;
pub use expire::ExpireGates;
pub use resolve::{Decision, ResolveGate, Resolved};
pub use view::ViewGate;

pub(super) use resume::{forced_gates, resumed};

use std::cell::OnceCell;

use super::instance::shown;
use super::{Facts, WriteError, names};
use crate::gate::allow::RESERVED;
use crate::gate::audit::{edited, is_sealed};
use crate::gate::canonical::key_twice;
use crate::gate::contradictions;
use crate::issue::{Issue, Severity};
use crate::model::{AuditEvent, AuditKind, Gate};
use crate::text::is_hazard;

/// The most bytes of a prompt, a comment or what is done on a rejection: a sealed row is read whole, so that it can be
/// checked.
const LONGEST_TEXT: usize = 32_000;

/// The gate, by its very id.
fn known(facts: &dyn Facts, id: &str) -> Result<Gate, WriteError> {
    if let Some(gate) = facts.gate(id)? {
        return Ok(gate);
    }
    let message = match facts.gate_elsewhere(id)? {
        Some(other) => format!(
            "gate {} is of another run of this database, {}: only the newest one, {}, is written to",
            shown(id),
            shown(&other),
            shown(&facts.run()?.name)
        ),
        None => format!("there is no gate {} in this run", shown(id)),
    };
    let hint = "`prosescope gates RUN --all` lists its gates";
    Err(WriteError::not_found(message, hint))
}

/// What to do about a gate that was changed.
const AS_RECORDED: &str = "`prosescope audit verify RUN` shows what the log records; ask who changed the gate, and ask anew with `prosescope gate create`";

/// What a log is a measure of, asked once for all gates of a command.
#[derive(Default)]
struct Measure {
    /// Whether the creation of each gate is sealed.
    creations: OnceCell<bool>,
}

impl Measure {
    /// Refuses a gate without a sealed creation, where the log begins with the seal of one: `prosescope` created the gates
    /// of this run, and the row that says who may decide this one was removed or lost its seal. A chain whose first rows are
    /// missing counts as one that began so. A log that begins with a decision goes on with gates of other tools.
    fn has_creation(
        &self,
        facts: &dyn Facts,
        gate: &Gate,
        events: &[AuditEvent],
    ) -> Result<(), WriteError> {
        let sealed = |event: &AuditEvent| event.kind == AuditKind::Created && is_sealed(event);
        if events.iter().any(sealed) {
            return Ok(());
        }
        let creations = match self.creations.get() {
            Some(known) => *known,
            None => {
                let first = facts.audit_first()?;
                let begins =
                    first.is_some_and(|(kind, chain)| kind == AuditKind::Created || chain.seq > 1);
                *self.creations.get_or_init(|| begins)
            }
        };
        match creations {
            false => Ok(()),
            true => Err(WriteError::refused(
                "gate-changed",
                format!(
                    "no sealed row of the log records the creation of gate {}, and the creation of gates is sealed in this run: nothing was decided",
                    shown(&gate.id)
                ),
                "`prosescope audit verify RUN` shows which rows are missing; ask who removed the row, or who created the gate without `prosescope gate create`",
            )),
        }
    }
}

/// Refuses to decide a gate that is not what its sealed rows record (docs/audit.md).
fn as_sealed(facts: &dyn Facts, gate: &Gate, measure: &Measure) -> Result<(), WriteError> {
    // A list of gates leaves out that the files of this one can be read in two ways.
    facts.gate(&gate.id)?;
    let events = facts.gate_events(&gate.id)?;
    let texts = events.iter().map(|event| &event.metadata);
    let mut texts = texts.chain([&gate.metadata]).flatten();
    let double = texts.find_map(|text| key_twice(text));
    let edited = double
        .map(|why| format!("gate {} can be read in two ways: {why}", gate.id))
        .or_else(|| edited(&events));
    if let Some(what) = edited {
        return Err(WriteError::refused(
            "gate-changed",
            format!("{what}: nothing was decided"),
            AS_RECORDED,
        ));
    }
    let issues = contradictions(std::slice::from_ref(gate), &events);
    // Executions have other ids in a store that the run was moved to.
    let is_moved = |issue: &Issue| {
        gate.execution_id.is_some() && issue.location.column.as_deref() == Some("execution_id")
    };
    let counts = |issue: &&Issue| issue.severity == Severity::Error && !is_moved(issue);
    match issues.iter().find(counts) {
        None => measure.has_creation(facts, gate, &events),
        Some(issue) => Err(WriteError::refused(
            "gate-changed",
            format!("{}: nothing was decided", issue.message),
            AS_RECORDED,
        )),
    }
}

/// A principal's name, without blanks around it. Any text may be one, as long as it is read whole again.
fn principal(name: &str) -> Result<&str, WriteError> {
    let name = name.trim();
    let why = if name.is_empty() {
        "it is empty".to_owned()
    } else if name.len() > names::LONGEST {
        format!("it has {} bytes, more than {}", name.len(), names::LONGEST)
    } else if let Some(c) = name.chars().find(|c| is_hazard(*c)) {
        let code = u32::from(c);
        format!(
            "there is a control, direction or invisible character in it (U+{code:04X}), so that it reads as another name"
        )
    } else if name == RESERVED {
        return Err(WriteError::refused(
            "principal-reserved",
            format!("`{RESERVED}` is reserved for time-outs: nobody decides in its name"),
            "give your own name, `--as NAME`",
        ));
    } else {
        return Ok(name);
    };
    Err(WriteError::wrong(
        format!("{:?} cannot name a principal: {why}", shown(name)),
        "give a name, such as `raymond` or `ops-team`",
    ))
}

/// Refuses a text that could not be read whole again.
fn fits(what: &str, text: &str) -> Result<(), WriteError> {
    if text.len() <= LONGEST_TEXT {
        return Ok(());
    }
    Err(WriteError::wrong(
        format!(
            "the {what} has {} bytes, more than {LONGEST_TEXT}",
            text.len()
        ),
        "shorten it; what is longer belongs into a binding that it names",
    ))
}
