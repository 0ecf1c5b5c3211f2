//! Parses the column `allow` of a gate, and checks whether a principal may decide the gate (errata G4).
//!
//! | recorded | who may decide |
//! |---|---|
//! | NULL | as `["user"]` |
//! | `["user"]` | anyone |
//! | `["ops-team"]` | `ops-team` itself, and anyone who acts for it |
//! | `[]` | nobody |
//! | anything else | nobody, until the list is corrected |
//!
//! Names are claims: this code cannot verify who a person is.

use serde_json::Value;
use thiserror::Error;

/// The entry of an `allow` list that admits any person.
pub const ANY_PERSON: &str = "user";
/// The principal under which time-outs are recorded. A person's decision under this name is refused.
pub const RESERVED: &str = "system";

/// The list of principals that may decide a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allow {
    entries: Vec<String>,
}

/// The reason why `allow` cannot be read. The gate then refuses every decision.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AllowError {
    /// The text is not JSON.
    #[error("`allow` is not valid JSON ({0}): expected a list of names, such as [\"user\"]")]
    NotJson(String),
    /// The JSON value is not a list.
    #[error("`allow` is {0}: expected a list of names, such as [\"user\"]")]
    NotAList(&'static str),
    /// An entry is not a name. Entries are counted from 1.
    #[error("entry {at} of `allow` is {what}: expected a name in quotes")]
    NotAName {
        /// The position of the entry, from 1.
        at: usize,
        /// The kind of value that the entry has.
        what: &'static str,
    },
}

/// The reason why a principal may not decide a gate.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The name is blank.
    #[error("a decision needs a name")]
    Nameless,
    /// The name is `system`, which is reserved for time-outs.
    #[error("`{RESERVED}` is reserved for time-outs: decide under another name")]
    Reserved,
    /// The list is empty.
    #[error("nobody may decide this gate: its `allow` is empty")]
    Nobody,
    /// The name is not on the list.
    #[error("{who} may not decide this gate: it admits {admitted}")]
    NotListed {
        /// The refused principal, with the principal for which it acts, if any: `` `lee`, acting for `dev`, ``.
        who: String,
        /// The principals that may decide, in words.
        admitted: String,
    },
}

impl Allow {
    /// Parses the column's text; NULL means `["user"]`.
    ///
    /// # Errors
    /// An error if the text is not a list of names. Such a gate refuses every decision (errata G4).
    pub fn parse(recorded: Option<&str>) -> Result<Allow, AllowError> {
        let Some(text) = recorded else {
            return Ok(Allow {
                entries: vec![ANY_PERSON.to_owned()],
            });
        };
        let value: Value =
            serde_json::from_str(text).map_err(|e| AllowError::NotJson(e.to_string()))?;
        let Value::Array(list) = value else {
            return Err(AllowError::NotAList(kind(&value)));
        };
        let name = |(at, entry): (usize, Value)| match entry {
            Value::String(name) if !name.trim().is_empty() => Ok(name.trim().to_owned()),
            other => Err(AllowError::NotAName {
                at: at + 1,
                what: kind(&other),
            }),
        };
        let entries = list.into_iter().enumerate().map(name);
        Ok(Allow {
            entries: entries.collect::<Result<_, _>>()?,
        })
    }

    /// Creates a list of the given names.
    pub fn of(entries: Vec<String>) -> Allow {
        Allow { entries }
    }

    /// Returns the names, as recorded.
    pub fn entries(&self) -> &[String] {
        &self.entries
    }

    /// Returns whether a principal may decide, for itself or for the principal `acting_for`.
    pub fn admits(&self, principal: &str, acting_for: Option<&str>) -> bool {
        self.check(principal, acting_for).is_ok()
    }

    /// Checks whether a principal may decide, for itself or for the principal `acting_for`.
    ///
    /// # Errors
    /// [`Refusal`] with the reason why the principal may not decide.
    pub fn check(&self, principal: &str, acting_for: Option<&str>) -> Result<(), Refusal> {
        let principal = principal.trim();
        let acting_for = acting_for.map(str::trim);
        if principal.is_empty() || acting_for == Some("") {
            return Err(Refusal::Nameless);
        }
        if principal == RESERVED || acting_for == Some(RESERVED) {
            return Err(Refusal::Reserved);
        }
        if self.entries.is_empty() {
            return Err(Refusal::Nobody);
        }
        let listed = |name: &str| self.entries.iter().any(|entry| entry == name);
        if listed(ANY_PERSON) || listed(principal) || acting_for.is_some_and(listed) {
            return Ok(());
        }
        Err(Refusal::NotListed {
            who: match acting_for {
                Some(other) => format!("`{principal}`, acting for `{other}`,"),
                None => format!("`{principal}`"),
            },
            admitted: self.words(),
        })
    }

    /// Returns the principals that may decide, in words: `anyone`, `ops-team or raymond`, `nobody`.
    pub fn words(&self) -> String {
        if self.entries.iter().any(|entry| entry == ANY_PERSON) {
            return "anyone".to_owned();
        }
        let names: Vec<&str> = self
            .entries
            .iter()
            .map(String::as_str)
            .filter(|name| *name != RESERVED)
            .collect();
        match names.split_last() {
            None => "nobody".to_owned(),
            Some((only, [])) => (*only).to_owned(),
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(text) if text.trim().is_empty() => "an empty text",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cases of errata G4.
    #[test]
    fn who_may_decide_g4() {
        for (recorded, principal, acting_for, expected) in [
            (None, "user", None, true),
            (None, "raymond", None, true),
            (Some(r#"["user"]"#), "raymond", None, true),
            (Some(r#"["user"]"#), "raymond", Some("ops-team"), true),
            (Some(r#"["ops-team"]"#), "raymond", None, false),
            (Some(r#"["ops-team"]"#), "user", None, false),
            (Some(r#"["ops-team"]"#), "ops-team", None, true),
            (Some(r#"["ops-team"]"#), "raymond", Some("ops-team"), true),
            (Some(r#"["ops-team"]"#), "raymond", Some("dev-team"), false),
            (Some(r#"["ops-team"]"#), "Ops-Team", None, false),
            (Some(r#"["a", " b "]"#), " b ", None, true),
            (Some("[]"), "user", None, false),
            (Some(r#"["user", "system"]"#), "system", None, false),
            (Some(r#"["system"]"#), "system", None, false),
            (Some(r#"["user"]"#), "raymond", Some("system"), false),
            (Some(r#"["user"]"#), " ", None, false),
            (Some(r#"["user"]"#), "raymond", Some(""), false),
        ] {
            let allow = Allow::parse(recorded).unwrap();
            assert_eq!(
                allow.admits(principal, acting_for),
                expected,
                "{recorded:?} {principal:?} {acting_for:?}"
            );
        }
    }

    #[test]
    fn a_refusal_says_who_is_admitted() {
        for (recorded, principal, acting_for, message) in [
            (
                r#"["ops-team", "raymond", "lee"]"#,
                "user",
                None,
                "`user` may not decide this gate: it admits ops-team, raymond or lee",
            ),
            (
                r#"["ops-team"]"#,
                "lee",
                Some("dev"),
                "`lee`, acting for `dev`, may not decide this gate: it admits ops-team",
            ),
            (
                "[]",
                "lee",
                None,
                "nobody may decide this gate: its `allow` is empty",
            ),
            (
                "[]",
                "system",
                None,
                "`system` is reserved for time-outs: decide under another name",
            ),
            ("[]", "", None, "a decision needs a name"),
        ] {
            let refusal = Allow::parse(Some(recorded))
                .unwrap()
                .check(principal, acting_for);
            assert_eq!(refusal.unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn who_is_admitted_in_words() {
        for (recorded, words) in [
            (None, "anyone"),
            (Some(r#"["lee", "user"]"#), "anyone"),
            (Some(r#"["lee"]"#), "lee"),
            (Some(r#"["a", "b"]"#), "a or b"),
            (Some("[]"), "nobody"),
            (Some(r#"["system"]"#), "nobody"),
        ] {
            assert_eq!(Allow::parse(recorded).unwrap().words(), words);
        }
    }

    /// A malformed list refuses every decision (errata G4).
    #[test]
    fn malformed_lists_are_errors_g4() {
        for (recorded, message) in [
            (
                "user",
                "`allow` is not valid JSON (expected value at line 1 column 1): expected a list of names, such as [\"user\"]",
            ),
            (
                "",
                "`allow` is not valid JSON (EOF while parsing a value at line 1 column 0): expected a list of names, such as [\"user\"]",
            ),
            (
                "\"user\"",
                "`allow` is a text: expected a list of names, such as [\"user\"]",
            ),
            (
                "null",
                "`allow` is null: expected a list of names, such as [\"user\"]",
            ),
            (
                "{}",
                "`allow` is an object: expected a list of names, such as [\"user\"]",
            ),
            (
                "[\"a\", 3]",
                "entry 2 of `allow` is a number: expected a name in quotes",
            ),
            (
                "[\" \"]",
                "entry 1 of `allow` is an empty text: expected a name in quotes",
            ),
            (
                "[[\"a\"]]",
                "entry 1 of `allow` is a list: expected a name in quotes",
            ),
        ] {
            assert_eq!(
                Allow::parse(Some(recorded)).unwrap_err().to_string(),
                message
            );
        }
    }
}
