use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The members of a JSON object, each as it was written.
pub(super) type Members = BTreeMap<String, Box<RawValue>>;

/// JSON text. Numbers and members that we do not know stay as they were written: a number of thirty digits survives that
/// another member changes.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "unknown"))]
pub struct Json(String);

impl Json {
    /// Takes a text that is JSON, nested at most 128 deep.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Json, serde_json::Error> {
        // A value is made, because only that bounds the depth.
        serde_json::from_str::<serde_json::Value>(text)?;
        // Events are printed one a line. A line break is never within a JSON string, where it is written `\n`.
        Ok(Json(text.trim().replace(['\n', '\r'], " ")))
    }

    /// Takes what a column holds: what is not JSON becomes a JSON string of it, so that it is shown and kept.
    pub fn of_column(text: &str) -> Json {
        Json::parse(text).unwrap_or_else(|_| Json::string(text))
    }

    /// A JSON string.
    pub fn string(text: &str) -> Json {
        Json(serde_json::Value::from(text).to_string())
    }

    /// What any of our own structs is as JSON.
    pub fn of<T: Serialize>(value: &T) -> Json {
        Json(serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()))
    }

    /// An object without members.
    pub fn empty() -> Json {
        Json("{}".to_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value, for whoever looks into it.
    pub fn value(&self) -> serde_json::Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }

    /// The members, where it is an object.
    pub(super) fn members(&self) -> Option<Members> {
        serde_json::from_str(&self.0).ok()
    }

    /// Whether nothing is held.
    pub fn is_null(&self) -> bool {
        self.0 == "null"
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }

    /// Whether both are the same value, however they are written.
    pub fn is_same(&self, other: &Json) -> bool {
        self.0 == other.0 || self.value() == other.value()
    }

    /// As a member or an element of another one.
    pub(super) fn raw(&self) -> Box<RawValue> {
        RawValue::from_string(self.0.clone()).unwrap_or_else(|_| RawValue::NULL.to_owned())
    }
}

impl Default for Json {
    fn default() -> Json {
        Json("null".to_owned())
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Json::parse(raw.get()).map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "openapi")]
mod schema {
    use std::borrow::Cow;

    use utoipa::openapi::schema::{ObjectBuilder, SchemaType};
    use utoipa::openapi::{RefOr, Schema};
    use utoipa::{PartialSchema, ToSchema};

    /// Any JSON.
    impl PartialSchema for super::Json {
        fn schema() -> RefOr<Schema> {
            ObjectBuilder::new()
                .schema_type(SchemaType::AnyValue)
                .into()
        }
    }

    impl ToSchema for super::Json {
        fn name() -> Cow<'static, str> {
            "Json".into()
        }
    }
}
