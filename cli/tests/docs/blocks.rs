//! Finds the fenced blocks of commands in a page of the docs, and parses from their opening lines where they run.

use std::fs;
use std::path::PathBuf;

use prosescope_test_support::needs;

/// A fenced block that contains commands.
pub(crate) struct Block {
    path: PathBuf,
    /// The line of the opening fence, counted from 1.
    pub(crate) line: usize,
    /// The language of the block: `sh` or `console`.
    pub(crate) language: String,
    /// The text after the language on the opening line.
    about: String,
    pub(crate) text: String,
    /// The commands of earlier blocks that run in the same folder.
    pub(crate) earlier: Vec<String>,
}

/// Where a block runs.
pub(crate) enum Place {
    Folder {
        /// Whether the folder is a copy of `examples/`; otherwise it is empty.
        examples: bool,
        with: With,
        /// The word in the output of the block's command after which the test stops that command. `None`: the command
        /// ends by itself.
        until: Option<String>,
    },
    Checkout,
    Released,
    ToFillIn,
}

/// The services that a block needs besides its folder.
#[derive(Default)]
pub(crate) struct With {
    pub(crate) postgres: bool,
    pub(crate) serve: bool,
}

/// The pages outside of `docs/` that the test checks.
const BESIDE: &[&str] = &[
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "cli/README.md",
    "examples/README.md",
    "pkg/README.md",
];

/// Returns all pages, as paths in the checkout.
pub(crate) fn pages() -> Vec<String> {
    let mut pages: Vec<String> = BESIDE.iter().copied().map(str::to_owned).collect();
    let mut folders = vec!["docs".to_owned(), "core/src/pages/check/rules".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(needs::root().join(&folder)).expect("a folder") {
            let entry = entry.expect("an entry");
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            match entry.path().is_dir() {
                true => folders.push(path),
                false if path.ends_with(".md") => pages.push(path),
                false => {}
            }
        }
    }
    pages.sort();
    pages
}

/// Returns the blocks of commands of a page.
pub(crate) fn of(page: &str) -> Vec<Block> {
    let path = needs::root().join(page);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"));
    let mut blocks = Vec::new();
    let mut lines = text.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        let ticks = line.chars().take_while(|c| *c == '`').count();
        if ticks < 3 {
            continue;
        }
        let end = "`".repeat(ticks);
        let inside = lines.by_ref().map(|(line, _)| line);
        let inside: Vec<&str> = inside.take_while(|line| *line != end).collect();
        let info = &line[ticks..];
        let (language, about) = info.split_once(' ').unwrap_or((info, ""));
        if matches!(language, "sh" | "bash" | "shell" | "console") {
            let mut block = Block {
                path: path.clone(),
                line: number,
                language: language.to_owned(),
                about: about.to_owned(),
                text: inside.join("\n"),
                earlier: Vec::new(),
            };
            if let (SAME, Some(last)) = (about, blocks.last()) {
                block.goes_on_after(last);
            }
            blocks.push(block);
        }
    }
    blocks
}

/// The words on the opening line of a block that runs in the folder of the block before it.
const SAME: &str = "in the same folder";

impl Block {
    fn goes_on_after(&mut self, last: &Block) {
        last.about.clone_into(&mut self.about);
        self.earlier.clone_from(&last.earlier);
        self.earlier.extend(last.commands().map(str::to_owned));
    }

    /// Returns the commands of a session, or of a script with one command per line.
    fn commands(&self) -> impl Iterator<Item = &str> {
        let is_session = self.language == "console";
        let lines = self.text.lines();
        lines.filter_map(move |line| {
            if is_session {
                line.strip_prefix("$ ")
            } else {
                Some(line).filter(|line| !line.is_empty())
            }
        })
    }

    /// Returns where the block runs, according to its opening line.
    pub(crate) fn place(&self) -> Result<Place, String> {
        let (about, until) = match self.about.split_once(" until ") {
            Some((about, until)) => (about, Some(until.to_owned())),
            None => (self.about.as_str(), None),
        };
        let mut with = With::default();
        let about = match about.split_once(" with ") {
            Some((about, "PostgreSQL")) => {
                with.postgres = true;
                about
            }
            Some((about, "serve")) => {
                with.serve = true;
                about
            }
            _ => about,
        };
        match about {
            "in the checkout" => Ok(Place::Checkout),
            "once released" => Ok(Place::Released),
            "to fill in" => Ok(Place::ToFillIn),
            "in examples" | "in a new folder" => Ok(Place::Folder {
                examples: about == "in examples",
                with,
                until,
            }),
            _ => Err(format!(
                "the block's first line does not say where it runs: `{}`",
                self.about
            )),
        }
    }

    /// Writes the current output of the commands into the page, if the page differs.
    pub(crate) fn rewrite(&self, now: &str) {
        let page = fs::read_to_string(&self.path).expect("the page");
        let (shown, printed) = (by_command(&self.text), by_command(now));
        let parts = shown.iter().zip(&printed).map(|(shown, printed)| {
            let is_true = matches(shown, printed);
            if is_true { &**shown } else { &**printed }
        });
        let parts: Vec<&str> = parts.collect();
        let before = format!("\n{}\n", self.text);
        let after = format!("\n{}\n", parts.join("\n"));
        fs::write(&self.path, page.replacen(&before, &after, 1)).expect("written");
    }
}

/// Splits a session into one text per command.
fn by_command(session: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for line in session.lines() {
        match parts.last_mut() {
            Some(last) if !line.starts_with("$ ") => last.extend(["\n", line]),
            _ => parts.push(line.to_owned()),
        }
    }
    parts
}

/// Returns whether a session matches a page. `…` in the page stands for any text. A line with only `…` stands for any
/// lines.
pub(crate) fn matches(page: &str, now: &str) -> bool {
    let (page, now): (Vec<&str>, Vec<&str>) = (page.lines().collect(), now.lines().collect());
    lines_match(&page, &now)
}

fn lines_match(page: &[&str], now: &[&str]) -> bool {
    let Some((first, rest)) = page.split_first() else {
        return now.is_empty();
    };
    if *first == "…" {
        return (0..=now.len()).any(|skipped| lines_match(rest, &now[skipped..]));
    }
    let Some((said, after)) = now.split_first() else {
        return false;
    };
    line_matches(first, said) && lines_match(rest, after)
}

fn line_matches(page: &str, said: &str) -> bool {
    let mut parts = page.split('…');
    let begin = parts.next().unwrap_or_default();
    let Some(mut rest) = said.strip_prefix(begin) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[test]
fn what_is_left_out_may_be_anything() {
    for (page, now, fits) in [
        ("a\nb", "a\nb", true),
        ("a\nb", "a", false),
        ("a…c d", "abc d", true),
        ("a …\nb", "a x\nb", true),
        ("a\n…\nd", "a\nb\nc\nd", true),
        ("a\n…", "a\nb", true),
        ("…\nx", "a\nb", false),
        ("a…", "b", false),
    ] {
        assert_eq!(matches(page, now), fits, "{page:?} {now:?}");
    }
}
