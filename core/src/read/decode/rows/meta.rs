//! Parses the JSON in `execution.metadata`. A key is accepted in the spelling of either dialect, such as `iteration`
//! or `current_iteration`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::cells::Texts;
use crate::model::{Meta, Text};

/// A parsed metadata text.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ParsedMeta {
    /// The known keys; `None` if the text has none of them.
    pub(crate) meta: Option<Arc<Meta>>,
    /// Whether the text has keys that only the in-place dialect writes.
    pub(crate) in_place_words: bool,
    /// Why the text could not be parsed (errata X13).
    pub(crate) malformed: Option<String>,
}

/// A cache of parsed metadata. Rows with equal metadata share one parsed value.
#[derive(Debug, Default)]
pub(crate) struct Metas {
    by_text: BTreeMap<String, ParsedMeta>,
    /// Bytes of the texts in `by_text`.
    remembered: usize,
    held: BTreeMap<Arc<Meta>, ()>,
}

/// Maximum bytes of remembered metadata texts; beyond this limit, each text is parsed anew.
const REMEMBERED: usize = 1 << 20;

impl Metas {
    pub(crate) fn parse(&mut self, text: &str, texts: &mut Texts) -> ParsedMeta {
        if text.trim().is_empty() || text == "{}" {
            return ParsedMeta::default();
        }
        if let Some(known) = self.by_text.get(text) {
            return known.clone();
        }
        let mut parsed = read(text, texts);
        parsed.meta = parsed
            .meta
            .map(|meta| match self.held.get_key_value(&meta) {
                Some((same, ())) => Arc::clone(same),
                None => {
                    self.held.insert(Arc::clone(&meta), ());
                    meta
                }
            });
        if self.remembered + text.len() <= REMEMBERED {
            self.remembered += text.len();
            self.by_text.insert(text.to_owned(), parsed.clone());
        }
        parsed
    }
}

/// Returns the known keys of one metadata text; `None` without known keys or if the text is not a JSON object.
pub fn meta_of(text: &str) -> Option<Arc<Meta>> {
    Metas::default().parse(text, &mut Texts::default()).meta
}

fn read(text: &str, texts: &mut Texts) -> ParsedMeta {
    let object = match serde_json::from_str(text) {
        Ok(Value::Object(object)) => object,
        Ok(_) => {
            return ParsedMeta {
                malformed: Some("the text is JSON, but not an object".into()),
                ..ParsedMeta::default()
            };
        }
        Err(error) => {
            return ParsedMeta {
                malformed: Some(error.to_string()),
                ..ParsedMeta::default()
            };
        }
    };
    let mut get = |key: &str| object.get(key).and_then(|v| word(v, texts));
    let mut meta = Meta {
        parallel_id: get("parallel_id"),
        branch: get("branch"),
        strategy: get("strategy"),
        loop_id: get("loop_id"),
        condition: get("condition"),
        gate_id: get("gate_id"),
        block: get("block"),
        reason: get("reason"),
        reopened: get("reopened"),
        binding: get("binding"),
        ..Meta::default()
    };
    meta.forced = words_of(&object, "forced", texts);
    meta.overridden = object.contains_key("override");
    meta.branches = words_of(&object, "branches", texts);
    // The dialects use different keys for the same value. The append-only dialect's key comes first (errata F7).
    meta.iteration = first(&object, &["iteration", "current_iteration"]);
    meta.max = first(&object, &["max", "max_iterations", "max_retries"]);
    meta.attempt = first(&object, &["attempt", "retry_attempt"]);
    meta.round_from = first(&object, &["round_from"]);
    meta.depth = first(&object, &["depth"]);
    meta.program_line = first(&object, &["program_line"]);
    meta.audit_seq = first(&object, &["audit_seq"]);
    meta.count = first(&object, &["count"]).filter(|_| meta.parallel_id.is_some());
    meta.binding_scope = first(&object, &["binding_scope"]).filter(|_| meta.binding.is_some());
    meta.in_place = object.contains_key("current_iteration");
    let in_place_words = [
        "current_iteration",
        "max_iterations",
        "retry_attempt",
        "max_retries",
    ]
    .iter()
    .any(|key| object.contains_key(*key));
    ParsedMeta {
        meta: (meta != Meta::default()).then(|| Arc::new(meta)),
        in_place_words,
        malformed: None,
    }
}

fn words_of(object: &Map<String, Value>, key: &str, texts: &mut Texts) -> Vec<Text> {
    match object.get(key) {
        Some(Value::Array(list)) => list.iter().filter_map(|v| word(v, texts)).collect(),
        _ => Vec::new(),
    }
}

fn first(object: &Map<String, Value>, keys: &[&str]) -> Option<i64> {
    keys.iter().find_map(|key| match object.get(*key)? {
        Value::Number(n) => n
            .as_i64()
            .or_else(|| n.as_f64().filter(|x| x.fract() == 0.0).map(|x| x as i64)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    })
}

fn word(value: &Value, texts: &mut Texts) -> Option<Text> {
    match value {
        Value::String(text) => Some(texts.share(text)),
        Value::Number(n) => Some(texts.share(&n.to_string())),
        Value::Bool(b) => Some(texts.share(&b.to_string())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> ParsedMeta {
        Metas::default().parse(text, &mut Texts::default())
    }

    #[test]
    fn both_spellings_are_read() {
        for (text, iteration, max, attempt, in_place) in [
            (r#"{"loop_id": "l1", "max": 5}"#, None, Some(5), None, false),
            (
                r#"{"loop_id": "l1", "iteration": 2}"#,
                Some(2),
                None,
                None,
                false,
            ),
            (
                r#"{"loop_id": "l1", "max_iterations": 5, "current_iteration": 0}"#,
                Some(0),
                Some(5),
                None,
                true,
            ),
            (r#"{"attempt": 2, "max": 3}"#, None, Some(3), Some(2), false),
            (
                r#"{"retry_attempt": "2", "max_retries": 3.0}"#,
                None,
                Some(3),
                Some(2),
                false,
            ),
        ] {
            let meta = parse(text).meta.unwrap();
            assert_eq!(
                (meta.iteration, meta.max, meta.attempt, meta.in_place),
                (iteration, max, attempt, in_place),
                "{text}"
            );
        }
        assert!(parse(r#"{"retry_attempt": 1}"#).in_place_words);
        assert!(!parse(r#"{"attempt": 1}"#).in_place_words);
    }

    #[test]
    fn a_parallel_announces_its_branches() {
        let meta = parse(r#"{"parallel_id": 7, "strategy": "all", "branches": ["a", 2, null]}"#)
            .meta
            .unwrap();
        assert_eq!(meta.parallel_id.as_deref(), Some("7"));
        assert_eq!(meta.strategy.as_deref(), Some("all"));
        let branches: Vec<&str> = meta.branches.iter().map(|b| &**b).collect();
        assert_eq!(branches, ["a", "2"]);
    }

    /// Metadata that is not JSON makes OpenProse's own query fail as a whole. Prosescope only adds an issue to the row
    /// (errata X13).
    #[test]
    fn x13_malformed_json_is_said_and_nothing_more() {
        for (text, said) in [
            (
                r#"{"a": "#,
                Some("EOF while parsing a value at line 1 column 6"),
            ),
            ("[1]", Some("the text is JSON, but not an object")),
            ("", None),
            ("{}", None),
            (r#"{"tokens": 12}"#, None),
        ] {
            let parsed = parse(text);
            assert_eq!(parsed.meta, None);
            assert_eq!(parsed.malformed.as_deref(), said, "{text}");
        }
        let deep = "[".repeat(100_000);
        assert!(parse(&deep).malformed.unwrap().contains("recursion limit"));
    }

    #[test]
    fn equal_metadata_is_held_once() {
        let (mut metas, mut texts) = (Metas::default(), Texts::default());
        let one = metas.parse(r#"{"branch": "a", "ms": 1}"#, &mut texts);
        let two = metas.parse(r#"{"branch": "a", "ms": 2}"#, &mut texts);
        assert!(Arc::ptr_eq(&one.meta.unwrap(), &two.meta.unwrap()));
    }
}
