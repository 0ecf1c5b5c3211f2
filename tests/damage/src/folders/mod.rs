//! Damages the files of run folders of every form.

mod seeds;

use crate::dice::Dice;
use crate::{Case, Entry, Outcome, What};

pub(crate) use seeds::{A, AGENTS, B, C, D, Files, RUNS};

/// Returns the n-th damaged folder.
pub(crate) fn folder(n: usize) -> Case {
    let mut dice = Dice::new(0xf01d_0000 + n as u64);
    let (word, files) = RUNS[n % RUNS.len()];
    let mut case = Case::new(format!("folder {n:03}: {word}"), Outcome::Either);
    for (path, text) in files {
        case = case.file(*path, *text);
    }
    for _ in 0..=dice.throw(4) {
        let word = damage(&mut case.entries, &mut dice);
        case.name.push_str(", ");
        case.name.push_str(word);
    }
    case
}

/// Words that readers of run folders treat specially.
const WORDS: [&str; 44] = [
    "# Execution State",
    "## Execution Trace",
    "## Active Constructs",
    "## Index",
    "## Call Stack",
    "# run:x y.prose",
    "# Run State — x",
    "# <-- EXECUTING",
    "# --> bindings/a.md",
    "# --> ../../../etc/passwd",
    "# (failed: x)",
    "# (complete)",
    "---",
    "```",
    "```prose",
    "````",
    "|",
    "| a | b | c | d |",
    "|---|---|",
    "- ",
    "> ",
    "kind: let",
    "kind: ",
    "execution_id: 99999999999999999999",
    "execution_id: -1",
    "source:",
    "run: x",
    "started: 2026-13-45T99:99:99Z",
    "1→ plan ✓",
    "9223372036854775808→ ✓",
    "3→ ∥start a,b,c",
    "3a→ a ✗ err",
    "3→ ∥done",
    "5→ loop:2/5 exit(**c**)",
    "5→ block:implement#1 X",
    "---end 2026-02-13T10:57:50-05:00",
    "---error",
    "---resume 0",
    "parallel:",
    "loop until **x** (max: 3):",
    "{\"id\": 1}",
    "\"\"\"",
    "**",
    "\u{feff}",
];

/// Damages one file in one way; returns the name of the damage.
fn damage(entries: &mut Vec<Entry>, dice: &mut Dice) -> &'static str {
    let at = dice.throw(entries.len());
    let donor = match &entries[dice.throw(entries.len())].what {
        What::File(bytes) => bytes.clone(),
        _ => Vec::new(),
    };
    let Some(entry) = entries.get_mut(at) else {
        return "nothing left";
    };
    let What::File(bytes) = &mut entry.what else {
        return "no file";
    };
    match dice.throw(22) {
        0 => {
            bytes.truncate(dice.throw(bytes.len()));
            "cut"
        }
        1 => {
            lines(bytes, |lines| shuffle(lines, dice));
            "lines shuffled"
        }
        2 => {
            lines(bytes, |lines| {
                for _ in 0..=dice.throw(5) {
                    let at = dice.throw(lines.len());
                    if at < lines.len() {
                        lines.remove(at);
                    }
                }
            });
            "lines gone"
        }
        3 => {
            lines(bytes, |lines| {
                let at = dice.throw(lines.len());
                if let Some(line) = lines.get(at).cloned() {
                    for _ in 0..dice.throw(400) {
                        lines.insert(at, line.clone());
                    }
                }
            });
            "a line many times"
        }
        4 => {
            for _ in 0..=dice.throw(30) {
                let at = dice.throw(bytes.len());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = 0x80 | dice.byte();
                }
            }
            "no UTF-8"
        }
        5 => {
            let at = dice.throw(bytes.len());
            let unit = *dice.pick(&["a", " ", "\t", "*", "[", "(", "`", "|", "∥"]);
            let long = unit.repeat(20_000 + dice.throw(80_000));
            bytes.splice(at..at, long.into_bytes());
            "a huge line"
        }
        6 => {
            let at = dice.throw(bytes.len());
            let unit = *dice.pick(&["> ", "- ", "[", "{\"a\":", "((", "**", "<b>", "do "]);
            let deep = unit.repeat(2_000 + dice.throw(18_000));
            bytes.splice(at..at, deep.into_bytes());
            "deeply nested"
        }
        7 => {
            lines(bytes, |lines| {
                for (n, line) in lines.iter_mut().enumerate() {
                    *line = format!("{}{line}", " ".repeat(n * 7 % 400));
                }
            });
            "indented anyhow"
        }
        8 => {
            *bytes = donor;
            "another file's text"
        }
        9 => {
            bytes.extend(donor);
            "two files in one"
        }
        10 => {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let le = dice.throw(2) == 0;
            *bytes = if le {
                vec![0xff, 0xfe]
            } else {
                vec![0xfe, 0xff]
            };
            for unit in text.encode_utf16() {
                bytes.extend(if le {
                    unit.to_le_bytes()
                } else {
                    unit.to_be_bytes()
                });
            }
            "UTF-16"
        }
        11 => {
            *bytes = String::from_utf8_lossy(bytes)
                .replace('\n', "\r\n")
                .into_bytes();
            "CRLF"
        }
        12 => {
            bytes.clear();
            "empty"
        }
        13 => {
            let len = dice.throw(4_000);
            *bytes = dice.noise(len);
            "noise"
        }
        14 => {
            for byte in bytes.iter_mut().filter(|b| b.is_ascii_digit()) {
                *byte = b'9';
            }
            "numbers"
        }
        15..=17 => {
            lines(bytes, |lines| {
                for _ in 0..=dice.throw(12) {
                    let at = dice.throw(lines.len() + 1);
                    lines.insert(at.min(lines.len()), (*dice.pick(&WORDS)).to_owned());
                }
            });
            "words in between"
        }
        18 => {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let at = dice.throw(text.chars().count());
            let word = *dice.pick(&WORDS);
            *bytes = text
                .char_indices()
                .enumerate()
                .flat_map(|(n, (_, c))| {
                    let before = if n == at { word } else { "" };
                    before.chars().chain([c])
                })
                .collect::<String>()
                .into_bytes();
            "a word in a line"
        }
        19 => {
            let path = hostile_path(&entry.path, dice);
            entry.path = path;
            "a hostile path"
        }
        20 => {
            let copy = Entry {
                path: hostile_path(&entry.path, dice),
                what: What::File(bytes.clone()),
            };
            entries.push(copy);
            "a copy"
        }
        _ => {
            entry.what = match dice.throw(4) {
                0 => What::Folder,
                1 => What::Link("../../..".to_owned()),
                2 => What::Link("/dev/zero".to_owned()),
                _ => What::Pipe,
            };
            "no file any more"
        }
    }
}

fn lines(bytes: &mut Vec<u8>, change: impl FnOnce(&mut Vec<String>)) {
    let mut lines: Vec<String> = String::from_utf8_lossy(bytes)
        .lines()
        .map(str::to_owned)
        .collect();
    change(&mut lines);
    *bytes = lines.join("\n").into_bytes();
}

fn shuffle(lines: &mut [String], dice: &mut Dice) {
    for at in (1..lines.len()).rev() {
        lines.swap(at, dice.throw(at + 1));
    }
}

fn hostile_path(path: &str, dice: &mut Dice) -> String {
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    match dice.throw(16) {
        0 => format!("../{path}"),
        1 => format!("/{path}"),
        2 => format!("{dir}/../../{name}"),
        3 => format!("{dir}//{name}"),
        4 => format!("{dir}/./{name}"),
        5 => format!("C:/{path}"),
        6 => path.replace('/', "\\"),
        7 => format!("{dir}/CON"),
        8 => format!("{dir}/{name}\0.md"),
        9 => format!("{dir}/{}.md", "n".repeat(3_000)),
        10 => format!("{}{name}", "d/".repeat(900)),
        11 => format!("{dir}/\u{202e}{name}"),
        12 => format!("{dir}/{}", name.to_uppercase()),
        13 => format!(
            "{dir}/{}__99999999999999999999.md",
            name.trim_end_matches(".md")
        ),
        14 => format!("{dir}/{name} ."),
        _ => format!("{dir}/x\u{1b}[2J\n{name}"),
    }
}
