//! Makes file names for saved values. A name is safe on every file system, and its ending never starts a program.

use serde::{Deserialize, Serialize};

/// The format in which a value is best displayed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum ValueFormat {
    /// Prose with Markdown marks.
    Markdown,
    /// A JSON document.
    Json,
    /// Text without Markdown marks.
    #[default]
    Text,
    /// Bytes that are not text.
    Binary,
}

/// Endings of files that programs display and do not execute.
const HARMLESS: &[&str] = &[
    "csv", "gif", "jpeg", "jpg", "json", "jsonl", "log", "md", "png", "prose", "toml", "tsv",
    "txt", "webp", "yaml", "yml",
];

/// Limit for a name before its ending, in characters.
const MOST: usize = 120;

/// Returns the file name for a saved value. A name from a run may end in `.exe` or `.html`, so an ending that fits the
/// value's format is appended, unless the name's own ending is known to be harmless.
pub fn download_name(name: &str, format: ValueFormat) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let clean: String = last
        .chars()
        .map(|c| match c {
            ':' | '*' | '?' | '"' | '<' | '>' | '|' => '_',
            c if c.is_control() || is_format(c) => '_',
            c => c,
        })
        .take(MOST)
        .collect();
    let clean = clean.trim_matches(['.', ' ']);
    let (stem, ending) = clean.rsplit_once('.').unwrap_or((clean, ""));
    let clean = match clean {
        "" => "value".to_owned(),
        // Windows reserves these names for devices, whatever ending follows.
        _ if is_device(stem) => format!("_{clean}"),
        _ => clean.to_owned(),
    };
    if HARMLESS.contains(&&*ending.to_ascii_lowercase()) {
        return clean;
    }
    let ending = match format {
        ValueFormat::Markdown => "md",
        ValueFormat::Json => "json",
        ValueFormat::Text => "txt",
        ValueFormat::Binary => "bin",
    };
    format!("{clean}.{ending}")
}

/// Returns whether a character changes how a name looks: `invoice\u{202e}fdp.exe` looks like `invoiceexe.pdf`.
fn is_format(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn is_device(stem: &str) -> bool {
    let first = stem.split('.').next().unwrap_or(stem).to_ascii_uppercase();
    let numbered = |name: &str| {
        let rest = first.strip_prefix(name);
        rest.is_some_and(|n| n.len() == 1 && n.bytes().all(|b| b.is_ascii_digit()))
    };
    matches!(&*first, "CON" | "PRN" | "AUX" | "NUL") || numbered("COM") || numbered("LPT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_value_starts_no_program() {
        use ValueFormat::{Binary, Json, Markdown, Text};

        for (name, format, saved) in [
            ("report", Text, "report.txt"),
            ("report", Markdown, "report.md"),
            ("research.findings", Json, "research.findings.json"),
            ("attachments/report.md", Markdown, "report.md"),
            ("picture.PNG", Binary, "picture.PNG"),
            ("invoice.exe", Binary, "invoice.exe.bin"),
            ("x.html", Text, "x.html.txt"),
            ("s.desktop", Text, "s.desktop.txt"),
            ("a.md.scr", Binary, "a.md.scr.bin"),
            ("x.exe. .", Binary, "x.exe.bin"),
            ("invoice\u{202e}fdp.exe", Binary, "invoice_fdp.exe.bin"),
            ("..", Text, "value.txt"),
            ("con.md", Markdown, "_con.md"),
            ("c:\\windows\\run.lnk", Binary, "run.lnk.bin"),
            ("", Binary, "value.bin"),
        ] {
            assert_eq!(download_name(name, format), saved, "{name:?}");
        }
        let long = format!("{}.exe", "x".repeat(300));
        assert!(download_name(&long, Text).ends_with("x.txt"));
    }
}
