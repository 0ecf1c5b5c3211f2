//! The sharer's choices, and the values that a shell knows to be secret.

use std::collections::BTreeSet;

use prosescope_redact::{Exact, RuleKind, Rules, SecretNames, Variable, variables};
use serde::{Deserialize, Serialize};

use crate::copy::Redactor;
use crate::what::{ShareWhat, SharedContent};

/// A sharer's choices. By default secrets, personal data and earlier values are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wishes {
    /// The kinds of content left out as a whole.
    pub without: BTreeSet<SharedContent>,
    /// Whether to keep names of people, home directories and other personal data.
    pub personal: bool,
    /// Whether to share values and memories that were replaced later.
    pub history: bool,
    /// Names of secrets to keep (`github-token #1`), and rules whose hits to keep (`github-token`).
    pub keep: Vec<String>,
    /// Texts that are replaced in addition to the findings of the rules; a text between slashes is a regular
    /// expression.
    pub redact: Vec<String>,
    /// The longest value to share, in bytes.
    pub max_value: Option<u64>,
    /// Whether to share everything unchanged.
    pub raw: bool,
    /// Whether to share more secrets than can be searched for after they were replaced.
    pub anyway: bool,
    /// The row of the trace to show first ([`Made::opens`](crate::pack::Made::opens)).
    pub opens: Option<String>,
}

/// A value that only a shell can find: in `.env`, in the environment, on this machine. The value is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct LocalSecret {
    /// The value's name at its source.
    pub name: String,
    /// The secret or personal value.
    pub value: String,
    /// Whether the value is a secret or personal data.
    pub kind: RuleKind,
}

/// The names of files and folders by which a run is recognised. A copy without one of them is not read as the same run.
const FILES: &str = "agents.db agents/memory.md attachments bindings gates/audit.jsonl imports program.prose receipts.jsonl run.json state.db state.md workflows.db x_checkpoint.jsonl x_events.jsonl";

/// The longest `.env` file that is read, in bytes.
pub const LONGEST: u64 = 1 << 20;

/// Returns the secrets of an `.env` file.
pub fn in_env(text: &str) -> impl Iterator<Item = LocalSecret> + use<> {
    let variables = variables(text).into_iter();
    let secrets = variables.filter(Variable::is_secret);
    secrets.map(|variable| LocalSecret {
        name: variable.name,
        value: variable.value,
        kind: RuleKind::Secret,
    })
}

impl Wishes {
    /// Creates a redactor that applies these rules and follows these choices.
    ///
    /// # Errors
    /// A text of [`Wishes::redact`] that cannot be replaced, and the reason.
    pub fn redactor(
        &self,
        rules: Rules,
        known: impl IntoIterator<Item = LocalSecret>,
    ) -> Result<Redactor, (String, String)> {
        let mut table = if self.personal {
            rules.without(RuleKind::Personal)
        } else {
            rules
        };
        for name in &self.keep {
            if !table.without_rule(name) {
                table.keep_name(name);
            }
        }
        for LocalSecret { name, value, kind } in known {
            let exact = match kind {
                RuleKind::Secret => Exact::secret(&name, &value),
                RuleKind::Personal if self.personal => continue,
                RuleKind::Personal => Exact::personal(&name, &value),
            };
            // A value that is too short is refused here and skipped, because it would also be replaced where it
            // occurs by chance.
            let _ = table.exact(exact);
        }
        for text in &self.redact {
            let mut alone = Rules::new();
            let asked = alone.asked(text).and_then(|()| table.asked(text));
            asked.map_err(|refused| (text.clone(), refused.to_string()))?;
            let mut names = SecretNames::new();
            let is_part = |name: &&str| !alone.scan(name, &mut names).is_empty();
            if let Some(name) = FILES.split(' ').find(is_part) {
                let why = format!("runs have a file {name}. Next: name a longer text");
                return Err((text.clone(), why));
            }
        }
        if self.raw {
            return Ok(Redactor::raw(table));
        }
        let mut without = self.without.clone();
        if self.history {
            without.remove(&SharedContent::History)
        } else {
            without.insert(SharedContent::History)
        };
        let what = ShareWhat {
            without,
            max_value: self.max_value,
            people: self.personal,
            unsearched: self.anyway,
        };
        Ok(Redactor::new(table, what))
    }
}
