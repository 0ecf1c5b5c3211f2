//! Redacts texts in JSON: each string is unescaped before it is scanned.

use serde::de::IgnoredAny;

use super::{Redactor, TextPlace};

/// The keys whose strings are names of people, in the formats of OpenProse and Prosescope.
const PEOPLE: [&str; 7] = [
    "allow",
    "on_behalf_of",
    "os_user",
    "principal",
    "resolved_by",
    "user",
    "approved_by",
];

impl Redactor {
    /// Redacts a text. If the text looks like JSON, each string is unescaped before it is scanned.
    pub(crate) fn said(&mut self, place: TextPlace<'_>, text: &str) -> Option<String> {
        if text.trim_start().starts_with(['{', '[']) {
            self.parsed(place, text, None)
        } else {
            self.text(place, text)
        }
    }

    /// Redacts a text that may be JSON; `None` if nothing is replaced. A string under a key of [`PEOPLE`] is redacted
    /// as a person's name. Numbers and blanks stay as written.
    pub(crate) fn json(&mut self, place: TextPlace<'_>, text: &str) -> Option<String> {
        self.json_under("", place, text)
    }

    /// Redacts JSON from a column named `key`, such as `allow`: a string without a key of its own is redacted as if
    /// under `key`.
    pub(crate) fn json_under(
        &mut self,
        key: &str,
        place: TextPlace<'_>,
        text: &str,
    ) -> Option<String> {
        self.parsed(place, text, Some(key))
    }

    /// Redacts a text that may be JSON. Unless `key` is `None`, a string under a key of [`PEOPLE`] is redacted as a
    /// name. A string without a key of its own is redacted as if under `key`, which may be empty.
    fn parsed(&mut self, place: TextPlace<'_>, text: &str, key: Option<&str>) -> Option<String> {
        if serde_json::from_str::<IgnoredAny>(text).is_err() {
            return self.text(place, text);
        }
        let strings = self.strings(place, text, key);
        // The JSON is also scanned as a whole, because some rules need a key together with its value.
        let Some(strings) = strings else {
            return self.text(place, text);
        };
        self.names.meet(text);
        let hits = self.rules.scan_again("", &strings, &mut self.names);
        self.replaced(place, &strings, &hits).or(Some(strings))
    }

    fn strings(&mut self, place: TextPlace<'_>, text: &str, key: Option<&str>) -> Option<String> {
        let mut out = String::new();
        let (mut kept, mut at) = (0, 0);
        let people = key.is_some();
        let mut key = key.unwrap_or_default().to_owned();
        while let Some(start) = text.get(at..)?.find('"').map(|found| at + found) {
            let end = start + end_of(text.get(start..)?)?;
            at = end;
            let token = text.get(start..end)?;
            // A string with a lone surrogate is not valid text, so it stays as written.
            let Ok(said) = serde_json::from_str::<String>(token) else {
                continue;
            };
            let now = match text.get(end..)?.trim_start().starts_with(':') {
                true => {
                    key.clone_from(&said);
                    // A key without escapes is scanned with the whole text, so only a key with escapes is scanned here.
                    if token.contains('\\') {
                        self.text(place, &said)
                    } else {
                        None
                    }
                }
                false if people && PEOPLE.contains(&key.as_str()) => self.person(place, &said),
                false => self.text(place, &said),
            };
            let Some(now) = now else { continue };
            out.push_str(text.get(kept..start)?);
            out.push_str(&serde_json::to_string(&now).ok()?);
            kept = end;
        }
        if kept == 0 {
            return None;
        }
        out.push_str(text.get(kept..)?);
        Some(out)
    }
}

/// Returns the length in bytes of the JSON string at the beginning of a text, with both quotes; `None` if the string
/// does not end.
fn end_of(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use prosescope_redact::Rules;

    use super::*;
    use crate::what::ShareWhat;

    fn redacted(text: &str) -> Option<String> {
        let mut rules = Rules::new();
        rules.asked("hunter2").expect("a text");
        let mut redactor = Redactor::new(rules, ShareWhat::default());
        redactor.json(TextPlace { of: "p", at: "a" }, text)
    }

    #[test]
    fn strings_are_looked_at_as_what_they_say() {
        let token = prosescope_redact::shape::fill("ghp_{A:36}", 1);
        for (before, now) in [
            (r#"{"a": 1.50, "b": [true, null]}"#.to_owned(), None),
            (
                r#"{"a" : "x hunter2 y", "n": 1e2}"#.to_owned(),
                Some(r#"{"a" : "x [asked #1] y", "n": 1e2}"#),
            ),
            // Escaped letters are unescaped before the scan.
            (
                r#"["h\u0075nter2", "\"hunter2\""]"#.to_owned(),
                Some(r#"["[asked #1]", "\"[asked #1]\""]"#),
            ),
            // A string with a lone surrogate stays as written.
            (
                r#"["\ud800", "hunter2"]"#.to_owned(),
                Some(r#"["\ud800", "[asked #1]"]"#),
            ),
            (
                r#"{"allow": ["user", "jo"], "principal": "jo"}"#.to_owned(),
                Some(r#"{"allow": ["user", "[person #1]"], "principal": "[person #1]"}"#),
            ),
            (
                format!(r#"{{"{token}": 1}}"#),
                Some(r#"{"[github-token #1]": 1}"#),
            ),
            // A key with escapes is unescaped and scanned, too.
            (
                r#"{"h\u0075nter2": {"\u0061": 1}}"#.to_owned(),
                Some(r#"{"[asked #1]": {"\u0061": 1}}"#),
            ),
            // A text that is not JSON is scanned as plain text.
            (r#"{"a": hunter2"#.to_owned(), Some(r#"{"a": [asked #1]"#)),
        ] {
            assert_eq!(redacted(&before).as_deref(), now, "{before}");
        }
    }
}
