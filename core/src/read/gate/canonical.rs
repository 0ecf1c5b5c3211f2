//! Parses and prints the canonical JSON of audit rows, over which the chain's hash is computed.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::model::issue::Issue;

/// Parses JSON and rejects an object in which a key occurs twice, because programs differ in which value they use.
pub(crate) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).map(|Once(value)| value)
}

/// Returns the parser's error for valid JSON with a repeated key; `None` for any other text.
pub(crate) fn key_twice(text: &str) -> Option<String> {
    let error = parse(text).err()?;
    serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
    Some(error.to_string())
}

/// Returns an issue if `text` is JSON with a repeated key; `what` describes the text in the message.
pub(crate) fn twice(what: &str, text: Option<&str>) -> Option<Issue> {
    let why = key_twice(text?)?;
    let message = format!("{what} can be read in two ways: {why}");
    let issue = Issue::error("json-key-twice", message);
    Some(issue.hint("Ask the writer which of the two values is right. Programs differ in which one they use, so Prosescope uses neither."))
}

/// Prints a value with its keys sorted by code point, without blanks. Numbers and escapes are as serde_json writes
/// them.
pub(crate) fn text(mut value: Value) -> String {
    // Objects keep their original order if any crate enables `serde_json`'s feature `preserve_order`.
    value.sort_all_objects();
    value.to_string()
}

/// A JSON value in which each key occurs once.
struct Once(Value);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Once, D::Error> {
        deserializer.deserialize_any(OnceReader).map(Once)
    }
}

struct OnceReader;

impl<'de> Visitor<'de> for OnceReader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).map(Value::Number);
        number.ok_or_else(|| E::custom("a number that is too large"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Once(entry)) = entries.next_element()? {
            list.push(entry);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Once(value))) = entries.next_entry::<String, Once>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {key:?} occurs twice")));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}
