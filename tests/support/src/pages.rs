//! Helpers for tests of JSON pages: removes keys that depend on the store, and finds keys that occur twice.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Keys of the JSON whose values depend on the form of the store, on the clock, or on the numbering of one reading.
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
    "true_for_ms",
    "waited",
    "waited_ms",
];

/// Returns a page of `--json` without the keys that depend on the form of its store.
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

/// Checks that no object in a JSON text has a key twice: readers disagree about which of the two values counts.
///
/// # Panics
/// If an object has a key twice, or the text is not JSON.
#[track_caller]
pub fn assert_keys_once(json: &str) {
    let checked: Result<Once, _> = serde_json::from_str(json);
    if let Err(error) = checked {
        panic!("{error}: {json}");
    }
}

/// A parser of any JSON value that fails if an object has a key twice.
struct Once;

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Once, D::Error> {
        from.deserialize_any(Once)
    }
}

impl<'de> Visitor<'de> for Once {
    type Value = Once;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_str<E>(self, _: &str) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Once, A::Error> {
        while list.next_element::<Once>()?.is_some() {}
        Ok(Once)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Once, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = object.next_key::<String>()? {
            object.next_value::<Once>()?;
            if let Some(twice) = keys.replace(key) {
                return Err(serde::de::Error::custom(format!(
                    "the key {twice} comes twice"
                )));
            }
        }
        Ok(Once)
    }
}
