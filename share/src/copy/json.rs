//! Texts in JSON: each string is looked at as what it says, not as it is escaped.

use serde::de::IgnoredAny;

use super::{Place, Redactor};

/// Keys whose strings are names of people, in what the documents and we write.
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
    /// A text that may be JSON, without what must not leave; `None` where nothing is replaced. Keys, numbers and blanks stay.
    pub(crate) fn json(&mut self, place: Place<'_>, text: &str) -> Option<String> {
        self.json_with(place, text, "", &mut |_, _, _| {})
    }

    /// The same of a text that stands under a key itself; `changed` hears of each string that is replaced: its key, what it was, what
    /// it is.
    pub(crate) fn json_with(
        &mut self,
        place: Place<'_>,
        text: &str,
        key: &str,
        changed: &mut dyn FnMut(&str, &str, &str),
    ) -> Option<String> {
        if serde_json::from_str::<IgnoredAny>(text).is_err() {
            return self.text(place, text);
        }
        // Of a key and its value the rules make sense only together.
        let first = self.text(place, text);
        let first = first.filter(|first| serde_json::from_str::<IgnoredAny>(first).is_ok());
        let now = first.as_deref().unwrap_or(text);
        let strings = self.strings(place, now, key, changed);
        strings.or(first)
    }

    fn strings(
        &mut self,
        place: Place<'_>,
        text: &str,
        key: &str,
        changed: &mut dyn FnMut(&str, &str, &str),
    ) -> Option<String> {
        let mut out = String::new();
        let (mut kept, mut at) = (0, 0);
        let mut key = key.to_owned();
        while let Some(start) = text.get(at..)?.find('"').map(|found| at + found) {
            let end = start + end_of(text.get(start..)?)?;
            at = end;
            let token = text.get(start..end)?;
            // Half of a pair of surrogates is no text: it stays as it is written.
            let Ok(said) = serde_json::from_str::<String>(token) else {
                continue;
            };
            if text.get(end..)?.trim_start().starts_with(':') {
                key = said;
                continue;
            }
            let now = match PEOPLE.contains(&key.as_str()) {
                true => self.person(place, &said),
                // What the first look found in it as it is written is replaced already.
                false => self.text(place, &said),
            };
            let Some(now) = now else { continue };
            changed(&key, &said, &now);
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

/// The length of a string that begins a text, its quotes included.
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
