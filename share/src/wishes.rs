//! What whoever shares wishes, and what they know to be secret.

use std::collections::BTreeSet;

use prosescope_redact::{Exact, Kind, Refused, Rules, Variable, rules, variables};
use serde::{Deserialize, Serialize};

use crate::copy::Redactor;
use crate::what::{Content, What};

/// What is to leave, as a person chose it; the default leaves out secrets, personal data and what was replaced in the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wishes {
    /// What is left out as a whole.
    pub without: BTreeSet<Content>,
    /// Whether names of people, home directories and the like stay.
    pub personal: bool,
    /// Whether values and memories that were replaced in the run leave, too.
    pub history: bool,
    /// Names of secrets that stay (`github-token #1`), and rules whose hits do (`github-token`).
    pub keep: Vec<String>,
    /// Texts that are replaced as well; between slashes, regular expressions.
    pub redact: Vec<String>,
    /// Bytes of the longest value that leaves.
    pub max_value: Option<u64>,
    /// Whether nothing is replaced, and nothing left out.
    pub raw: bool,
    /// The row of the trace that the copy opens on ([`Made::opens`](crate::pack::Made::opens)).
    pub opens: Option<String>,
}

/// A value that only a shell knows of: of `.env`, of the environment, of this machine. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Known {
    /// What it is called there.
    pub name: String,
    /// The value.
    pub value: String,
    /// Whether it is a secret, or only personal.
    pub kind: Kind,
}

/// Bytes of an `.env` file; a longer one is none.
pub const LONGEST: u64 = 1 << 20;

/// The secrets of an `.env` file.
pub fn in_env(text: &str) -> impl Iterator<Item = Known> + use<> {
    let variables = variables(text).into_iter();
    let secrets = variables.filter(Variable::is_secret);
    secrets.map(|variable| Known {
        name: variable.name,
        value: variable.value,
        kind: Kind::Secret,
    })
}

impl Wishes {
    /// A redactor that does so.
    ///
    /// # Errors
    /// The text of [`Wishes::redact`] that is no pattern, and why.
    pub fn redactor(
        &self,
        known: impl IntoIterator<Item = Known>,
    ) -> Result<Redactor, (String, Refused)> {
        let mut table = match self.personal {
            true => Rules::new().without(Kind::Personal),
            false => Rules::new(),
        };
        for name in &self.keep {
            match rules().any(|rule| rule.id == name.as_str()) {
                true => {
                    table.without_rule(name);
                }
                false => table.keep_name(name),
            }
        }
        for Known { name, value, kind } in known {
            let exact = match kind {
                Kind::Secret => Exact::secret(&name, &value),
                Kind::Personal if self.personal => continue,
                Kind::Personal => Exact::personal(&name, &value),
            };
            // One that is too short would be replaced where it only happens to stand.
            let _ = table.exact(exact);
        }
        for text in &self.redact {
            table
                .asked(text)
                .map_err(|refused| (text.clone(), refused))?;
        }
        if self.raw {
            return Ok(Redactor::raw(table));
        }
        let mut without = self.without.clone();
        match self.history {
            true => without.remove(&Content::History),
            false => without.insert(Content::History),
        };
        let what = What {
            without,
            max_value: self.max_value,
            people: self.personal,
        };
        Ok(Redactor::new(table, what))
    }
}
