//! Reads OpenSSH's file of allowed signers: the owners, purposes and times of keys (`man ssh-keygen`, ALLOWED
//! SIGNERS).

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use prosescope_core::issue::Issue;
use prosescope_core::text::counted;
use ssh_key::PublicKey;
use ssh_key::public::KeyData;

use super::options::{Options, split};
use crate::error::CliError;
use crate::exit::Exit;

/// Maximum bytes of a file of signers.
const LONGEST: u64 = 16 << 20;
/// Maximum number of ignored lines that a message lists.
const NAMED: usize = 5;

/// The allowed signers.
#[derive(Debug, Default)]
pub(crate) struct Signers {
    lines: Vec<Line>,
    /// The lines that were ignored: their numbers, and the reasons.
    skipped: Vec<(usize, &'static str)>,
}

/// One line of the file: the owner of a key, the key, and its options.
#[derive(Debug)]
struct Line {
    principals: String,
    key: KeyData,
    options: Options,
}

impl Signers {
    /// Reads a file of allowed signers.
    pub(crate) fn read(path: &Path) -> Result<Signers, CliError> {
        let failed = |exit, why: String| {
            let message = format!("cannot read the allowed signers {}: {why}", path.display());
            CliError::new(exit, message)
                .hint("give a file with a line `NAME PUBLIC-KEY` for each signer; see ALLOWED SIGNERS in `man ssh-keygen`")
        };
        let io = |cause: io::Error| match cause.kind() {
            io::ErrorKind::NotFound => failed(Exit::NotFound, "the file does not exist".to_owned()),
            io::ErrorKind::InvalidData => {
                failed(Exit::Unreadable, "the file is not text".to_owned())
            }
            _ => failed(Exit::Io, cause.to_string()),
        };
        let mut text = String::new();
        let file = File::open(path).map_err(io)?;
        let read = file.take(LONGEST + 1).read_to_string(&mut text);
        if read.map_err(io)? as u64 > LONGEST {
            return Err(failed(Exit::Unreadable, "the file is too long".to_owned()));
        }
        Ok(Signers::of(&text))
    }

    fn of(text: &str) -> Signers {
        let mut signers = Signers::default();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match Line::of(line) {
                Ok(line) => signers.lines.push(line),
                Err(why) => signers.skipped.push((number, why)),
            }
        }
        signers
    }

    /// Returns the owner of a key, from the first line that allows the key to sign shared runs at the time `now`. If no
    /// line does, returns the reason.
    pub(crate) fn whose(&self, key: &KeyData, now: i64) -> Result<&str, String> {
        let lines = self.lines.iter().filter(|line| line.key == *key);
        let mut why = None;
        for line in lines {
            match line.options.refuses(now) {
                None => return Ok(&line.principals),
                Some(reason) => why = why.or(Some(format!("{}, who {reason}", line.principals))),
            }
        }
        Err(match why {
            None => "no allowed signer has this key".to_owned(),
            Some(why) => format!("the key belongs to {why}"),
        })
    }

    /// Returns an issue about ignored lines, if there are any.
    pub(crate) fn issue(&self) -> Option<Issue> {
        if self.skipped.is_empty() {
            return None;
        }
        let named = self.skipped.iter().take(NAMED);
        let mut named: Vec<String> = named.map(|(n, why)| format!("line {n} ({why})")).collect();
        if self.skipped.len() > NAMED {
            named.push("…".to_owned());
        }
        let lines = counted(self.skipped.len() as u64, "line does", "lines do");
        let message = format!(
            "In the file of allowed signers, {lines} not count: {}.",
            named.join(", ")
        );
        Some(Issue::warning("share-signers", message).hint(
            "Write each line as `NAMES [OPTIONS] KEY`; see ALLOWED SIGNERS in `man ssh-keygen`.",
        ))
    }
}

impl Line {
    fn of(line: &str) -> Result<Line, &'static str> {
        let (principals, rest) = word(line).ok_or("a quote does not end")?;
        let principals = principals.trim_matches('"');
        if principals.is_empty() {
            return Err("it has no name");
        }
        if rest.is_empty() {
            return Err("the line has no key");
        }
        let (options, key) = match key(rest) {
            Some(key) => (Options::default(), Some(key)),
            None => {
                let (options, rest) = word(rest).ok_or("a quote does not end")?;
                (Options::of(options)?, key(rest))
            }
        };
        Ok(Line {
            principals: principals.to_owned(),
            key: key.ok_or("the key is not readable")?,
            options,
        })
    }
}

fn key(text: &str) -> Option<KeyData> {
    let key = PublicKey::from_openssh(text).ok()?;
    Some(key.key_data().clone())
}

/// Splits off the first word; spaces between quotes belong to the word. `None` if a quote does not end.
fn word(text: &str) -> Option<(&str, &str)> {
    let first = split(text, ' ').next()?;
    if first.matches('"').count() % 2 == 1 {
        return None;
    }
    let rest = text.get(first.len()..)?;
    Some((first, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti a comment";
    const DAY: i64 = 86_400_000;

    #[track_caller]
    fn check(line: &str, expected: Result<&str, &str>) {
        let line = line.replace("KEY", KEY);
        let signers = Signers::of(&line);
        let key = key(KEY).expect("a key");
        // The test checks at the date 2026-01-31.
        let whose = signers.whose(&key, 20_484 * DAY);
        let skipped = signers.issue().map_or(String::new(), |issue| issue.message);
        match (whose, expected) {
            (Ok(who), expected) => assert_eq!(Ok(who), expected, "{line}"),
            (Err(why), Err(part)) => {
                assert!((why + &skipped).contains(part), "{line}: {skipped}");
            }
            (Err(why), _) => panic!("{line}: {why}: {skipped}"),
        }
    }

    #[test]
    fn a_line_says_whose_a_key_is_for_what_and_when() {
        let list: [(&str, Result<&str, &str>); 27] = [
            ("a@b KEY", Ok("a@b")),
            ("  a@b,c@d\t KEY", Ok("a@b,c@d")),
            ("\"a b\" KEY", Ok("a b")),
            ("# a@b KEY", Err("no allowed signer has this key")),
            ("", Err("no allowed signer has this key")),
            ("a@b", Err("line 1 (the line has no key)")),
            ("\"a@b KEY", Err("quote")),
            ("a@b ssh-ed25519 AAAA", Err("not known")),
            ("a@b cert-authority KEY", Err("authority")),
            ("a@b CERT-AUTHORITY,namespaces=\"*\" KEY", Err("authority")),
            ("a@b namespaces=\"prosescope-share\" KEY", Ok("a@b")),
            ("a@b namespaces=\"git,prose*-?hare\" KEY", Ok("a@b")),
            (
                "a@b namespaces=\"git\" KEY",
                Err("may not sign shared runs"),
            ),
            (
                "a@b namespaces=\"*,!prosescope-share\" KEY",
                Err("may not sign shared runs"),
            ),
            (
                "a@b namespaces=\"!git\" KEY",
                Err("may not sign shared runs"),
            ),
            (
                "a@b namespaces=\"prosescope\" KEY",
                Err("may not sign shared runs"),
            ),
            ("a@b namespaces=git KEY", Err("namespaces=")),
            ("a@b namespaces=\"git\",namespaces=\"*\" KEY", Err("twice")),
            ("a@b no-touch KEY", Err("not known")),
            ("a@b valid-before=\"20260131Z\" KEY", Ok("a@b")),
            ("a@b valid-before=\"20260130235959Z\" KEY", Err("any more")),
            ("a@b valid-after=\"202601310000Z\" KEY", Ok("a@b")),
            ("a@b valid-after=\"20260201Z\" KEY", Err("not sign yet")),
            ("a@b valid-after=\"20260229Z\" KEY", Err("not a time")),
            (
                "a@b valid-after=\"19990101\",valid-before=\"20990101\" KEY",
                Ok("a@b"),
            ),
            // The first line that allows the key counts.
            ("a@b namespaces=\"git\" KEY\nc@d KEY", Ok("c@d")),
            ("a@b what is this\nc@d KEY", Ok("c@d")),
        ];
        for (line, expected) in list {
            check(line, expected);
        }
    }
}
