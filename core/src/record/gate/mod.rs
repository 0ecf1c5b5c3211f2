//! Records the creation, the viewing, the decision and the time-out of gates (errata G1–G12). Each of these events is a
//! sealed row of the audit log, written before the change that it records.
//!
//! | file | does |
//! |---|---|
//! | `create.rs` | `gate create` |
//! | `view.rs` | `gate show` |
//! | `resolve.rs` | `approve`, `reject` |
//! | `as_seen.rs` | a decision by a person who saw the gate earlier: the buttons of `view` |
//! | `expire.rs` | `gates expire`, and late decisions |
//! | `resume.rs` | the log rows of `resume --begin` |
//! | `log.rs` | new rows of the audit log, each sealed with the hash of the row before |
//! | `sealed.rs` | comparison of a gate with its sealed rows, before it is decided |
//! | `waits.rs` | the execution row that waits at a gate |

mod as_seen;
mod create;
mod expire;
mod log;
mod resolve;
mod resume;
mod sealed;
mod view;
mod waits;

pub use as_seen::DecideAsSeen;
pub use create::CreateGate;
pub use expire::ExpireGates;
pub use resolve::{Decision, ResolveGate, ResolveResult};
pub use view::ViewGate;

pub(super) use expire::is_due;
pub(super) use log::log_is_there;
pub(super) use resume::{forced_gates, resumed};

use super::instance::shown;
use super::{Facts, WriteError, names};
use crate::model::Gate;
use crate::model::text::is_hazard;
use crate::read::gate::allow::RESERVED;
use crate::trace::{Node, NodeKind};

/// Limit for a prompt, a comment, or an action on rejection, in bytes. A sealed row is verified only if it is read
/// completely, so its texts must be short.
const LONGEST_TEXT: usize = 32_000;

/// Returns the gate with exactly this id, or an error if this run has none.
fn known<'f>(facts: &'f Facts<'_>, id: &str) -> Result<&'f Gate, WriteError> {
    if let Some(gate) = facts.gate(id)? {
        return Ok(gate);
    }
    let message = match facts.gate_elsewhere(id)? {
        Some(other) => format!(
            "gate {} belongs to run {} of this database, but commands that open this database write to run {}",
            shown(id),
            shown(&other),
            shown(&facts.run().name)
        ),
        None => format!("there is no gate {} in this run", shown(id)),
    };
    let hint = "`prosescope gates RUN --all` lists the run's gates";
    let is_told = |node: &Node| matches!(&node.kind, NodeKind::Gate { gate } if **gate == *id);
    if facts.trace().nodes.iter().any(is_told) {
        let message = format!(
            "gate {} is only told of in the run's state file or log, so no decision can be recorded at it",
            shown(id)
        );
        let hint = "tell the decision to whoever carries out the run";
        return Err(WriteError::refused("gate-told", message, hint));
    }
    Err(WriteError::not_found(message, hint))
}

/// Returns a principal's name without the blanks around it. Invisible characters are refused, because a name that
/// contains them looks like another name.
///
/// # Errors
/// [`WriteError::Wrong`] for an invalid name, [`WriteError::Refused`] for the name reserved for time-outs.
pub fn principal(name: &str) -> Result<&str, WriteError> {
    let name = name.trim();
    let why = if name.is_empty() {
        "the name is empty".to_owned()
    } else if name.len() > names::LONGEST {
        format!(
            "the name has {} bytes, more than {}",
            name.len(),
            names::LONGEST
        )
    } else if let Some(c) = name.chars().find(|c| is_hazard(*c)) {
        let code = u32::from(c);
        format!(
            "the name contains a control, direction or invisible character (U+{code:04X}), and so looks like another name"
        )
    } else if name == RESERVED {
        return Err(WriteError::refused(
            "principal-reserved",
            format!(
                "`{RESERVED}` is reserved for time-outs, so no decision can be made under that name"
            ),
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

/// Refuses a text of more than [`LONGEST_TEXT`] bytes.
fn fits(what: &str, text: &str) -> Result<(), WriteError> {
    if text.len() <= LONGEST_TEXT {
        return Ok(());
    }
    Err(WriteError::wrong(
        format!(
            "the {what} has {} bytes, more than {LONGEST_TEXT}",
            text.len()
        ),
        "put the long text into a binding, and give a short text that names the binding",
    ))
}
