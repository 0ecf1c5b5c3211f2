//! Defines a type for JSON text that keeps numbers and unknown members as they were written.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The members of a JSON object, each as it was written.
pub(super) type Members = BTreeMap<String, Box<RawValue>>;

/// JSON text that keeps numbers and unknown members as written: a number of thirty digits survives the change of
/// another member.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "unknown"))]
pub struct Json(String);

impl Json {
    /// Parses a text as JSON, nested at most 128 deep.
    ///
    /// # Errors
    /// The fault and its position.
    pub fn parse(text: &str) -> Result<Json, serde_json::Error> {
        // Only the check for valid JSON and its depth is needed, so the parsed value is dropped.
        serde_json::from_str::<serde_json::Value>(text)?;
        // Events are printed one per line, so line breaks between tokens become blanks. A JSON string never contains a
        // line break: it contains `\n`.
        Ok(Json(text.trim().replace(['\n', '\r'], " ")))
    }

    /// Returns the JSON of a column; a text that is not valid JSON becomes a JSON string, so that it is shown and kept.
    pub fn of_column(text: &str) -> Json {
        Json::parse(text).unwrap_or_else(|_| Json::string(text))
    }

    /// Returns a text as a JSON string.
    pub fn string(text: &str) -> Json {
        Json(serde_json::Value::from(text).to_string())
    }

    /// Returns a serializable value as JSON.
    pub fn of<T: Serialize>(value: &T) -> Json {
        Json(serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()))
    }

    /// Returns an object without members.
    pub fn empty() -> Json {
        Json("{}".to_owned())
    }

    /// Returns the JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the parsed value.
    pub fn value(&self) -> serde_json::Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }

    /// Returns the members if the value is an object, else `None`.
    pub(super) fn members(&self) -> Option<Members> {
        serde_json::from_str(&self.0).ok()
    }

    /// Returns whether the value is null.
    pub fn is_null(&self) -> bool {
        self.0 == "null"
    }

    /// Returns whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }

    /// Returns whether both texts contain the same value, in whatever spelling.
    pub fn is_same(&self, other: &Json) -> bool {
        self.0 == other.0 || self.value() == other.value()
    }

    /// Returns the JSON for use as a member or an element of another JSON text.
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

    /// Describes [`super::Json`] as any JSON value.
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
