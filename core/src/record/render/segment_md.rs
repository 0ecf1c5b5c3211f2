//! Writes segments of an agent in the form that [`crate::read::decode::memory_md`] reads (OpenProse's filesystem.md,
//! "Agent Memory Files").

use crate::model::change::SegmentRow;

/// Returns the file's name in the agent's folder: `captain-003.md`; four digits from 1000 on.
pub fn file_name(agent: &str, number: i64) -> String {
    format!("{agent}-{number:03}.md")
}

/// Returns the content of a segment file.
pub fn write(row: &SegmentRow) -> String {
    let mut out = format!("# Segment {:03}\n\ntimestamp: {}\n", row.number, row.at);
    let prompt = row.prompt.trim();
    let plain = !prompt.contains(['\n', '\r']) && !prompt.starts_with('"');
    if prompt.is_empty() {
        out.push_str("prompt:\n");
    } else if plain {
        out.push_str(&format!("prompt: \"{prompt}\"\n"));
    } else if !prompt.contains("\"\"\"") && !prompt.ends_with('"') {
        out.push_str(&format!("prompt: \"\"\"\n{prompt}\n\"\"\"\n"));
    } else {
        out.push_str("prompt: |\n");
        // Blank lines of the prompt are left out, because a blank line would end the prompt when read.
        for line in prompt.lines().filter(|line| !line.trim().is_empty()) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    let summary = row.summary.trim();
    if !summary.is_empty() {
        out.push_str(&format!("\n## Summary\n\n{summary}\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::decode::memory_md::{segment, segment_number};

    #[test]
    fn what_is_written_is_read() {
        for prompt in [
            "Review the research",
            "say \"yes\"",
            "\"quoted\"",
            "two\nlines: here",
            "with\n\n\"\"\"\nquotes",
            "",
        ] {
            for summary in [
                "## Summary\n\n- fine",
                "prompt: none\ntimestamp: never",
                "# Segment 9",
                "plain",
            ] {
                let row = SegmentRow {
                    agent: "captain".into(),
                    scope: "execution".into(),
                    number: 1000,
                    at: "2026-01-15T14:32:15Z".into(),
                    prompt: prompt.into(),
                    summary: summary.into(),
                };
                let file = write(&row);
                let read = segment(&file);
                assert_eq!(read.number, Some(1000), "{file}");
                assert_eq!(read.timestamp.map(|t| t.to_string()), Some(row.at.clone()));
                let lines = prompt.replace("\n\n\"", "\n\"");
                assert_eq!(read.prompt.as_deref(), Some(lines.as_str()), "{file}");
                assert_eq!(read.summary.as_deref(), Some(summary), "{file}");
                let name = file_name("captain", 1000);
                assert_eq!(segment_number("captain", &name), Some(1000));
            }
        }
        assert_eq!(file_name("captain", 7), "captain-007.md");
    }
}
