//! What the words of a state.md would not give back, in one line of JSON at its end that Markdown does not show:
//!
//! ```text
//! <!-- prosescope 6b86b273ff34fce1 {"run":"(none)", …} -->
//! ```
//!
//! The number is that of the text above: once somebody has changed that, the text counts.

use sha2::{Digest, Sha256};

use super::escape::{escape, unescape};
use crate::model::{StateFile, Text};
use crate::text::hex;

const BEGINS: &str = "<!-- prosescope ";
const ENDS: &str = " -->";

/// Adds the line, where reading the text gives another file than the one it was written from.
pub(crate) fn carry(text: String, file: &StateFile) -> String {
    if compared(super::parse(&text).0) == compared(file.clone()) {
        return text;
    }
    let json = serde_json::to_string(file).unwrap_or_default();
    let (number, json) = (number(&text), escape(&json, &['>']));
    text + &format!("\n{BEGINS}{number} {json}{ENDS}\n")
}

/// The text above such a line, and the file that the line carries.
pub(super) fn carried(text: &str) -> (&str, Option<StateFile>) {
    let last = text.trim_end().rsplit_once('\n');
    let line = last.and_then(|(_, last)| last.strip_prefix(BEGINS)?.strip_suffix(ENDS));
    let Some(((above, _), (number, json))) = last.zip(line.and_then(|line| line.split_once(' ')))
    else {
        return (text, None);
    };
    let same = number == self::number(above);
    let file = same.then(|| serde_json::from_str(&unescape(json)).ok());
    (above, file.flatten())
}

fn number(text: &str) -> String {
    let digest = Sha256::digest(text);
    hex(digest.get(..8).unwrap_or_default())
}

/// What has to be the same: not how annotations are spelled, nor the row of the root, which is not written.
fn compared(mut file: StateFile) -> StateFile {
    file.root = None;
    for line in &mut file.trace {
        if let Some(said) = &mut line.annotation {
            said.raw = Text::default();
        }
    }
    file
}

#[cfg(test)]
mod tests {
    use crate::decode::state_md::parse;
    use crate::model::StateFile;
    use crate::render::state_md::from_state_file;

    #[test]
    fn what_reads_as_nothing_is_carried_until_the_text_is_changed() {
        let file = StateFile {
            run: Some("(none)".into()),
            program: Some("a --> b\u{202e}\u{1b}.prose".into()),
            ..StateFile::default()
        };
        let text = from_state_file(&file);
        assert_eq!(parse(&text).0, file);
        // Nothing in it ends the comment, or is hidden.
        assert_eq!(text.matches("-->").count(), 2, "{text}");
        assert!(!text.contains(['\u{202e}', '\u{1b}']), "{text}");
        let changed = text.replace("run: (none)", "run: other");
        assert_eq!(parse(&changed).0.run.as_deref(), Some("other"));
        assert!(parse(&changed).0.sections.is_empty());
        let broken = text.replace("{\"run\"", "{");
        assert_eq!(parse(&broken).0.run, None);
        // What reads as it was written needs no such line.
        let plain = StateFile {
            run: Some("r".into()),
            ..file
        };
        let plain = StateFile {
            program: None,
            ..plain
        };
        assert!(!from_state_file(&plain).contains("<!--"));
    }
}
