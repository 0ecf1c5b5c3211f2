//! Applies and records a caller's overrides: `--force` overrides a rule, `--override` a value of the program. The
//! metadata of the execution records both: `forced` lists the rules, `override` the program's values and the given
//! values.

use serde_json::{Map, Value, json};

use super::WriteError;
use super::meta::MetaKeys;

/// The overrides that a caller gave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Insist {
    /// `--override`: a given value counts even if the program states another.
    pub overrides: bool,
    /// `--force`: a statement out of sequence is recorded anyway.
    pub force: bool,
}

/// The rules that `--force` overrode, and the given values that differ from the program.
#[derive(Debug, Default)]
pub(super) struct ForcedRules {
    insist: Insist,
    forced: Vec<&'static str>,
    differs: Map<String, Value>,
}

impl ForcedRules {
    pub(super) fn new(insist: Insist) -> ForcedRules {
        ForcedRules {
            insist,
            ..ForcedRules::default()
        }
    }

    /// Returns the result of a check. If the check refuses and the caller gave `--force`, records the rule and returns
    /// `None`.
    pub(super) fn sequence<T>(
        &mut self,
        checked: Result<T, WriteError>,
    ) -> Result<Option<T>, WriteError> {
        match checked {
            Err(WriteError::Refused { rule, .. }) if self.insist.force => {
                if !self.forced.contains(&rule) {
                    self.forced.push(rule);
                }
                Ok(None)
            }
            other => other.map(Some),
        }
    }

    /// Returns the effective value of one property of a statement: the given value, else the program's.
    ///
    /// # Errors
    /// A refusal by `against-program` if both values exist and differ, unless the caller overrides the program.
    pub(super) fn settle<T>(
        &mut self,
        what: &'static str,
        line: Option<u32>,
        says: Option<T>,
        given: Option<T>,
    ) -> Result<Option<T>, WriteError>
    where
        T: PartialEq + Clone + Into<Value>,
    {
        self.settle_by(what, line, says, given, |_, _| false)
    }

    /// Returns the effective value like [`ForcedRules::settle`], but treats two values as equal if `alike` returns
    /// true.
    pub(super) fn settle_by<T>(
        &mut self,
        what: &'static str,
        line: Option<u32>,
        says: Option<T>,
        given: Option<T>,
        alike: impl Fn(&T, &T) -> bool,
    ) -> Result<Option<T>, WriteError>
    where
        T: PartialEq + Clone + Into<Value>,
    {
        match (says, given) {
            (Some(says), Some(given)) if says != given && !alike(&says, &given) => {
                let (says, shown): (Value, Value) = (says.into(), given.clone().into());
                self.contradict(what, line, says, shown)?;
                Ok(Some(given))
            }
            (says, given) => Ok(given.or(says)),
        }
    }

    /// Records that the given value of `what` differs from the program's.
    ///
    /// # Errors
    /// A refusal by `against-program`, unless the caller overrides the program.
    pub(super) fn contradict(
        &mut self,
        what: &'static str,
        line: Option<u32>,
        says: Value,
        given: Value,
    ) -> Result<(), WriteError> {
        if !self.insist.overrides {
            let line = line.map_or(String::new(), |line| format!("line {line} of "));
            return Err(WriteError::refused(
                "against-program",
                format!(
                    "{what} {} contradicts {line}the program, which has {}",
                    plain(&given),
                    plain(&says)
                ),
                "leave your value out to record the program's; `--override` records yours and the difference",
            ));
        }
        self.differs
            .insert(what.to_owned(), json!({ "program": says, "given": given }));
        Ok(())
    }

    /// Returns the differences from the program, by property: `{"max": {"program": 3, "given": 5}}`.
    pub(super) fn differs(&self) -> &Map<String, Value> {
        &self.differs
    }

    /// Returns `keys` with the metadata keys that record the overrides.
    pub(super) fn keys(&self, keys: MetaKeys) -> MetaKeys {
        let forced: Vec<String> = self.forced.iter().map(|rule| (*rule).to_owned()).collect();
        keys.list("forced", &forced)
            .object("override", &self.differs)
    }
}

/// Returns a value as a message shows it: texts without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => super::instance::shown(text),
        Value::Array(list) => {
            let list: Vec<String> = list.iter().map(plain).collect();
            format!("[{}]", list.join(", "))
        }
        Value::Null => "nothing".to_owned(),
        other => other.to_string(),
    }
}
