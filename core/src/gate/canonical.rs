//! Canonical JSON of audit rows: what the chain's hash is taken over.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::issue::Issue;

/// Parses a text as JSON that says everything the text says: an object with a key twice is an error, because readers
/// differ in which of the two they take.
pub(crate) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).map(|Once(value)| value)
}

/// Returns what is wrong with a text that is JSON for some readers, and has a key twice: they differ in which of the two they
/// take. `None` where it is no JSON at all.
pub(crate) fn key_twice(text: &str) -> Option<String> {
    let error = parse(text).err()?;
    serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
    Some(error.to_string())
}

/// Says of a text that it has a key twice, where it has.
pub(crate) fn twice(what: &str, text: Option<&str>) -> Option<Issue> {
    let why = key_twice(text?)?;
    let message = format!("{what} can be read in two ways: {why}");
    let issue = Issue::error("json-key-twice", message);
    Some(issue.hint("Programs differ in which of the two they take: nothing is decided by it. Ask who wrote it."))
}

/// Returns a value with keys sorted by their code points, no blanks, numbers and escapes as serde_json writes them.
pub(super) fn text(mut value: Value) -> String {
    // However serde_json is built: a feature of it keeps keys as they came.
    value.sort_all_objects();
    value.to_string()
}

/// A value in which no key is there twice.
struct Once(Value);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Once, D::Error> {
        deserializer.deserialize_any(Reader).map(Once)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
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
        number.ok_or_else(|| E::custom("a number beyond all bounds"))
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
                return Err(A::Error::custom(format!("the key {key:?} is there twice")));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}
