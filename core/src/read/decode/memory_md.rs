//! Parses the files of a persistent agent: `memory.md` and its segments (filesystem.md, "Agent Memory Files").
//!
//! ```
//! use prosescope_core::read::decode::memory_md::{segment, segment_number};
//! assert_eq!(segment_number("captain", "captain-003.md"), Some(3));
//! let read = segment("# Segment 003\n\ntimestamp: 2026-01-15T14:32:15Z\nprompt: \"Review\"\n\n## Summary\n\n- fine\n");
//! assert_eq!(read.prompt.as_deref(), Some("Review"));
//! assert_eq!(read.summary.as_deref(), Some("- fine"));
//! ```

use super::state_md::lines::heading;
use crate::model::time::Stamp;
use crate::model::{Segment, Text};

/// Maximum bytes read of a segment file. Segments are short records, so a small limit is enough.
pub const SEGMENT_MOST: usize = 64 << 10;

/// A parsed segment file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SegmentFile {
    /// The number in the segment's heading (`# Segment 003`).
    pub number: Option<i64>,
    /// When the agent was called.
    pub timestamp: Option<Stamp>,
    /// The agent's prompt.
    pub prompt: Option<Text>,
    /// The whole text after the header, without its heading `## Summary`.
    pub summary: Option<Text>,
}

impl SegmentFile {
    /// Converts the file's content to a segment. `number` is the number in the file's name.
    pub(crate) fn numbered(self, number: i64) -> Segment {
        Segment {
            number,
            timestamp: self.timestamp,
            prompt: self.prompt,
            summary: self.summary,
        }
    }
}

/// Returns the segment number in a file's name, such as 1 for `captain-001.md`; `None` for other names. The count of
/// digits is not fixed, because numbers from 1000 on need more than three.
pub fn segment_number(agent: &str, file: &str) -> Option<i64> {
    let digits = file
        .strip_suffix(".md")?
        .strip_prefix(agent)?
        .strip_prefix('-')?;
    let plain =
        !digits.is_empty() && digits.len() <= 18 && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

/// Returns the agent's name from the heading of a memory file, such as `captain` for `# Agent Memory: captain`.
pub fn agent_of(head: &str) -> Option<&str> {
    let first = head.lines().map(str::trim).find(|line| !line.is_empty())?;
    let (_, title) = heading(first.trim_start_matches('\u{feff}'))?;
    let (words, name) = title.split_once(':')?;
    words
        .trim()
        .eq_ignore_ascii_case("agent memory")
        .then_some(name.trim())
        .filter(|name| !name.is_empty())
}

/// Parses a segment file. Never fails: all text from the first line that is not a header line is the summary.
pub fn segment(text: &str) -> SegmentFile {
    let mut read = SegmentFile::default();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let trimmed = line.trim();
        if trimmed.is_empty() {
            rest = after;
            continue;
        }
        if let (None, Some((1, title))) = (read.number, heading(trimmed))
            && let Some(number) = title.to_lowercase().strip_prefix("segment")
        {
            read.number = number.trim().parse().ok();
            rest = after;
            continue;
        }
        let Some((key, value)) = trimmed.split_once(':') else {
            break;
        };
        match key.trim().trim_matches('*').to_lowercase().as_str() {
            "timestamp" if read.timestamp.is_none() => {
                read.timestamp = Some(Stamp::parse(value.trim()));
            }
            "prompt" if read.prompt.is_none() => {
                let (prompt, behind) = prompt(value.trim(), after);
                read.prompt = Some(prompt.as_str().into());
                rest = behind;
                continue;
            }
            _ => break,
        }
        rest = after;
    }
    let mut rest = rest.trim_start_matches(['\n', '\r']).trim_end();
    if let Some((2, title)) = heading(rest.lines().next().unwrap_or_default())
        && title.trim().eq_ignore_ascii_case("summary")
    {
        let (_, below) = rest.split_once('\n').unwrap_or_default();
        rest = below.trim_start_matches(['\n', '\r']);
    }
    read.summary = (!rest.is_empty()).then(|| rest.into());
    read
}

/// Parses a prompt that begins with `value` and may continue in the lines `after`. The prompt is in quotes, in triple
/// quotes over several lines, or plain with indented lines after it. Returns the prompt and the remaining text.
fn prompt<'a>(value: &str, after: &'a str) -> (String, &'a str) {
    if let Some(open) = value.strip_prefix("\"\"\"") {
        if let Some((inside, _)) = open.split_once("\"\"\"") {
            return (inside.to_owned(), after);
        }
        if let Some((inside, behind)) = after.split_once("\"\"\"") {
            let behind = behind.split_once('\n').map_or("", |(_, behind)| behind);
            return (format!("{open}\n{inside}").trim().to_owned(), behind);
        }
    }
    let inside = value
        .strip_prefix('"')
        .and_then(|v| v.strip_suffix('"'))
        .filter(|v| !v.is_empty());
    let mut text = if matches!(value, "|" | ">") {
        String::new()
    } else {
        inside.unwrap_or(value).to_owned()
    };
    let mut rest = after;
    while let Some((line, behind)) = rest
        .split_once('\n')
        .or((!rest.is_empty()).then_some((rest, "")))
    {
        if !line.starts_with([' ', '\t']) || line.trim().is_empty() {
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line.trim());
        rest = behind;
    }
    (text, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, number: Option<i64>, at: &str, prompt: &str, summary: &str) {
        let read = segment(text);
        assert_eq!(read.number, number, "{text}");
        assert_eq!(
            read.timestamp.map(|t| t.to_string()).unwrap_or_default(),
            at,
            "{text}"
        );
        assert_eq!(read.prompt.as_deref().unwrap_or_default(), prompt, "{text}");
        assert_eq!(
            read.summary.as_deref().unwrap_or_default(),
            summary,
            "{text}"
        );
    }

    #[test]
    fn reads_segments() {
        check(
            "# Segment 001\n\ntimestamp: 2026-01-15T14:32:15Z\nprompt: \"Review the findings\"\n\n## Summary\n\n- a\n",
            Some(1),
            "2026-01-15T14:32:15Z",
            "Review the findings",
            "- a",
        );
        check(
            "# Segment 1000\r\nprompt: two\r\n  lines\r\n\r\nDone: all\r\n",
            Some(1000),
            "",
            "two\nlines",
            "Done: all",
        );
        check(
            "prompt: \"\"\"\nIn three\nlines\n\"\"\"\ntimestamp: soon\nx",
            None,
            "soon",
            "In three\nlines",
            "x",
        );
        check(
            "Just text: with a colon\n# Segment 2",
            None,
            "",
            "",
            "Just text: with a colon\n# Segment 2",
        );
        check("", None, "", "", "");
    }

    #[test]
    fn numbers_segments_by_their_names() {
        for (file, number) in [
            ("captain-001.md", Some(1)),
            ("captain-1000.md", Some(1000)),
            ("captain-1.md", Some(1)),
            ("captain-.md", None),
            ("captain-1a.md", None),
            ("other-001.md", None),
            ("memory.md", None),
            ("captain-9999999999999999999.md", None),
        ] {
            assert_eq!(segment_number("captain", file), number, "{file}");
        }
        assert_eq!(segment_number("a-b", "a-b-002.md"), Some(2));
    }

    #[test]
    fn a_memory_names_its_agent() {
        assert_eq!(
            agent_of("\n# Agent Memory: captain\n\n## x"),
            Some("captain")
        );
        assert_eq!(agent_of("# Notes"), None);
    }
}
