//! Pages of runs, made comparable between stores.

use serde_json::Value;

/// Of the form, of the clock, and of numbers that one reading gives.
const OF_THE_FORM: &[&str] = &[
    "binding",
    "files",
    "form",
    "issues",
    "last_sign_ago",
    "last_sign_from",
    "place",
    "status_reason",
    "status_source",
    "store",
    "stored",
    "tables",
    "waited",
    "waited_ms",
];

/// Returns a page of `--json` without what names the form of its store.
#[must_use]
pub fn without_form(value: Value) -> Value {
    match value {
        Value::Object(object) => object
            .into_iter()
            .filter(|(key, _)| !OF_THE_FORM.contains(&&**key))
            .map(|(key, value)| (key, without_form(value)))
            .collect(),
        Value::Array(list) => list.into_iter().map(without_form).collect(),
        other => other,
    }
}
