//! Gates: created, looked at, decided, timed out (errata G1–G12). Whatever happens to one is a sealed row of the audit
//! log, which stands before the change that it speaks of.
//!
//! | file | does |
//! |---|---|
//! | `create.rs` | `gate create` |
//! | `view.rs` | `gate show` |
//! | `resolve.rs` | `approve`, `reject` |
//! | `as_seen.rs` | a decision of somebody who saw the gate elsewhere: `gate import`, the buttons of `view` |
//! | `expire.rs` | `gates expire`, and a decision that comes too late |
//! | `resume.rs` | what `resume --begin` logs |
//! | `log.rs` | rows of the log, sealed behind its last one |
//! | `sealed.rs` | whether a gate is what its sealed rows record, before it is decided |
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
pub use resolve::{Decision, ResolveGate, Resolved};
pub use view::ViewGate;

pub(super) use log::log_is_there;
pub(super) use resume::{forced_gates, resumed};

use super::instance::shown;
use super::{Facts, WriteError, names};
use crate::gate::allow::RESERVED;
use crate::model::Gate;
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

/// A principal's name, without blanks around it. Any text may be one, as long as it is read whole again.
///
/// # Errors
/// [`WriteError::Wrong`] for a text that is no name, [`WriteError::Refused`] for the name of time-outs.
pub fn principal(name: &str) -> Result<&str, WriteError> {
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
