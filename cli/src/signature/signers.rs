//! OpenSSH's file of allowed signers: whose a key is, for what, and when (`man ssh-keygen`, ALLOWED SIGNERS).

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use chrono::{Local, NaiveDate, NaiveDateTime, TimeZone};
use prosescope_core::issue::Issue;
use prosescope_core::text::counted;
use prosescope_share::signed::NAMESPACE;
use ssh_key::PublicKey;
use ssh_key::public::KeyData;

use crate::error::CliError;
use crate::exit::Exit;

/// A longer file is none of signers.
const LONGEST: u64 = 16 << 20;
/// Lines that do not count, of which each is named.
const NAMED: usize = 5;

/// Who may sign.
#[derive(Debug, Default)]
pub(crate) struct Signers {
    lines: Vec<Line>,
    /// Numbers of lines that do not count, and why.
    skipped: Vec<(usize, &'static str)>,
}

/// A line: whose key, and how far it is allowed.
#[derive(Debug)]
struct Line {
    principals: String,
    key: KeyData,
    options: Options,
}

/// What a key may sign, and when.
#[derive(Debug, Default)]
struct Options {
    /// Patterns of what for; `None` for everything.
    namespaces: Option<String>,
    /// Milliseconds since 1970.
    after: Option<i64>,
    before: Option<i64>,
}

impl Signers {
    /// Reads such a file.
    pub(crate) fn read(path: &Path) -> Result<Signers, CliError> {
        let failed = |exit, why: String| {
            let message = format!(
                "the allowed signers {} cannot be read: {why}",
                path.display()
            );
            CliError::new(exit, message)
                .hint("give a file with a line `NAME PUBLIC-KEY` for each signer: `man ssh-keygen`, ALLOWED SIGNERS")
        };
        let io = |cause: io::Error| match cause.kind() {
            io::ErrorKind::NotFound => failed(Exit::NotFound, "there is none".to_owned()),
            io::ErrorKind::InvalidData => failed(Exit::Unreadable, "it is no text".to_owned()),
            _ => failed(Exit::Io, cause.to_string()),
        };
        let mut text = String::new();
        let file = File::open(path).map_err(io)?;
        let read = file.take(LONGEST + 1).read_to_string(&mut text);
        if read.map_err(io)? as u64 > LONGEST {
            return Err(failed(Exit::Unreadable, "it is too long".to_owned()));
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

    /// Whose a key is that signed a shared run, by the first line that allows it now; else why none does, in words.
    pub(crate) fn whose(&self, key: &KeyData, now: i64) -> Result<&str, String> {
        let lines = self.lines.iter().filter(|line| line.key == *key);
        let mut why = None;
        for line in lines {
            match line.refuses(now) {
                None => return Ok(&line.principals),
                Some(reason) => why = why.or(Some(format!("{}, {reason}", line.principals))),
            }
        }
        Err(match why {
            None => "none of the allowed signers has it".to_owned(),
            Some(why) => format!("the key of {why}"),
        })
    }

    /// That lines do not count, where some do not.
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
            "Of the allowed signers {lines} not count: {}.",
            named.join(", ")
        );
        Some(
            Issue::warning("share-signers", message)
                .hint("A line is `NAMES [OPTIONS] KEY`: `man ssh-keygen`, ALLOWED SIGNERS."),
        )
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
            return Err("it has no key");
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
            key: key.ok_or("its key is not understood")?,
            options,
        })
    }

    /// Why the line does not allow its key to sign a shared run now.
    fn refuses(&self, now: i64) -> Option<&'static str> {
        let Options {
            namespaces,
            after,
            before,
        } = &self.options;
        if namespaces.as_ref().is_some_and(|list| !allows(list)) {
            return Some("may sign other things only (namespaces=)");
        }
        if after.is_some_and(|after| now < after) {
            return Some("may not sign yet (valid-after=)");
        }
        match before.is_some_and(|before| now > before) {
            true => Some("may not sign any more (valid-before=)"),
            false => None,
        }
    }
}

impl Options {
    fn of(text: &str) -> Result<Options, &'static str> {
        let mut options = Options::default();
        for option in split(text, ',') {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
            let is_new = match name.to_ascii_lowercase().as_str() {
                "cert-authority" => return Err("a certificate authority is not supported"),
                "namespaces" => {
                    let value = value.filter(|value| !value.is_empty());
                    let value = value.ok_or("namespaces= has no text in quotes")?;
                    options.namespaces.replace(value.to_owned()).is_none()
                }
                "valid-after" => {
                    let at = value.and_then(time).ok_or("valid-after= is no time")?;
                    options.after.replace(at).is_none()
                }
                "valid-before" => {
                    let at = value.and_then(time).ok_or("valid-before= is no time")?;
                    options.before.replace(at).is_none()
                }
                _ => return Err("an option or the kind of its key is not known"),
            };
            if !is_new {
                return Err("an option is there twice");
            }
        }
        Ok(options)
    }
}

fn key(text: &str) -> Option<KeyData> {
    let key = PublicKey::from_openssh(text).ok()?;
    Some(key.key_data().clone())
}

/// The first word, where spaces between quotes belong to it, and what follows; `None` where a quote does not end.
fn word(text: &str) -> Option<(&str, &str)> {
    let first = split(text, ' ').next()?;
    if first.matches('"').count() % 2 == 1 {
        return None;
    }
    let rest = text.get(first.len()..)?;
    Some((first, rest.trim_start()))
}

/// The parts of a text that a character separates outside of quotes; a space stands for a tab as well.
fn split(text: &str, at: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |c| {
        quoted ^= c == '"';
        !quoted && (c == at || (at == ' ' && c == '\t'))
    })
}

/// Whether a list of patterns names shared runs: one of them does, and none that begins with `!`.
fn allows(list: &str) -> bool {
    let mut allowed = false;
    for pattern in list.split(',') {
        match pattern.strip_prefix('!') {
            Some(not) if fits(not.as_bytes(), NAMESPACE.as_bytes()) => return false,
            Some(_) => {}
            None => allowed |= fits(pattern.as_bytes(), NAMESPACE.as_bytes()),
        }
    }
    allowed
}

/// Whether a pattern with `*` and `?` fits a whole text. Goes back to the last `*` only: as many steps as both are long, multiplied.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == b'?' || text.get(t) == Some(c) => {
                p += 1;
                t += 1;
            }
            _ => match &mut star {
                Some((at, from)) => {
                    *from += 1;
                    (p, t) = (*at + 1, *from);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|c| *c == b'*')
}

/// A time as OpenSSH writes it: `20260131`, `202601311530`, `20260131153000`, in local time, or in UTC with a `Z` behind it.
fn time(text: &str) -> Option<i64> {
    let digits = text.strip_suffix('Z').unwrap_or(text);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let at = match digits.len() {
        8 => NaiveDate::parse_from_str(digits, "%Y%m%d")
            .ok()?
            .and_hms_opt(0, 0, 0)?,
        12 => NaiveDateTime::parse_from_str(digits, "%Y%m%d%H%M").ok()?,
        14 => NaiveDateTime::parse_from_str(digits, "%Y%m%d%H%M%S").ok()?,
        _ => return None,
    };
    match digits.len() == text.len() {
        true => Some(
            Local
                .from_local_datetime(&at)
                .earliest()?
                .timestamp_millis(),
        ),
        false => Some(at.and_utc().timestamp_millis()),
    }
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
        // 2026-01-31.
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
            ("# a@b KEY", Err("none of")),
            ("", Err("none of")),
            ("a@b", Err("line 1 (it has no key)")),
            ("\"a@b KEY", Err("quote")),
            ("a@b ssh-ed25519 AAAA", Err("not known")),
            ("a@b cert-authority KEY", Err("authority")),
            ("a@b CERT-AUTHORITY,namespaces=\"*\" KEY", Err("authority")),
            ("a@b namespaces=\"prosescope-share\" KEY", Ok("a@b")),
            ("a@b namespaces=\"git,prose*-?hare\" KEY", Ok("a@b")),
            ("a@b namespaces=\"git\" KEY", Err("other things")),
            (
                "a@b namespaces=\"*,!prosescope-share\" KEY",
                Err("other things"),
            ),
            ("a@b namespaces=\"!git\" KEY", Err("other things")),
            ("a@b namespaces=\"prosescope\" KEY", Err("other things")),
            ("a@b namespaces=git KEY", Err("namespaces=")),
            ("a@b namespaces=\"git\",namespaces=\"*\" KEY", Err("twice")),
            ("a@b no-touch KEY", Err("not known")),
            ("a@b valid-before=\"20260131Z\" KEY", Ok("a@b")),
            ("a@b valid-before=\"20260130235959Z\" KEY", Err("any more")),
            ("a@b valid-after=\"202601310000Z\" KEY", Ok("a@b")),
            ("a@b valid-after=\"20260201Z\" KEY", Err("not sign yet")),
            ("a@b valid-after=\"20260229Z\" KEY", Err("no time")),
            (
                "a@b valid-after=\"19990101\",valid-before=\"20990101\" KEY",
                Ok("a@b"),
            ),
            // The first line that allows it counts.
            ("a@b namespaces=\"git\" KEY\nc@d KEY", Ok("c@d")),
            ("a@b what is this\nc@d KEY", Ok("c@d")),
        ];
        for (line, expected) in list {
            check(line, expected);
        }
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_time_without_end() {
        assert!(!fits("*a".repeat(5000).as_bytes(), NAMESPACE.as_bytes()));
        assert!(fits(b"*-*-*", b"a-b-c") && !fits(b"?", b"") && fits(b"**", b""));
    }
}
