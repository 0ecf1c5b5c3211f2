//! The rules made ready, and one text scanned with them.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::automaton::{Automaton, OverlappingState};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, Input};
use regex_lite::Regex;

use crate::exact::Exact;
use crate::hit::{Hit, floor};
use crate::names::Names;
use crate::needles::Needles;
use crate::pattern::{Pattern, Refused};
use crate::plausible;
use crate::rule::{How, Kind, Rule};
use crate::rules::rules;

/// How far behind its keyword a pattern looks, in bytes. A token that is longer goes on over the characters of base64.
const AHEAD: usize = 1024;

/// The rules of one share: the table, exact values, patterns of the user's, and what is kept.
///
/// ```
/// use prosescope_redact::{Names, Rules, replace, shape};
///
/// let text = format!("log in with {}\n", shape::fill("ghp_{A:36}", 1));
/// let mut names = Names::new();
/// let hits = Rules::new().scan(&text, &mut names);
/// assert_eq!(replace(&text, &hits), "log in with [github-token #1]\n");
/// ```
pub struct Rules {
    prefilter: Option<NFA>,
    /// By keyword: the rules that have it.
    owners: Vec<Vec<usize>>,
    compiled: Vec<Compiled>,
    off: BTreeSet<&'static str>,
    exact: Vec<Exact>,
    needles: OnceLock<Needles>,
    patterns: Vec<Pattern>,
    kept_names: BTreeSet<String>,
    kept_secrets: BTreeSet<String>,
}

struct Compiled {
    rule: &'static Rule,
    regex: OnceLock<Option<Regex>>,
}

/// A hit before overlapping ones are merged.
struct Raw<'a> {
    range: Range<usize>,
    rule: &'static str,
    stem: &'a str,
    kind: Kind,
    rank: u8,
    form: &'static str,
    /// The secret itself where it stands in another form.
    value: Option<&'a str>,
}

impl Rules {
    /// Returns the whole table, without exact values.
    pub fn new() -> Self {
        let compiled: Vec<_> = rules()
            .map(|rule| Compiled {
                rule,
                regex: OnceLock::new(),
            })
            .collect();
        let mut keywords: Vec<String> = Vec::new();
        let mut owners: Vec<Vec<usize>> = Vec::new();
        for (index, compiled) in compiled.iter().enumerate() {
            for keyword in compiled.rule.keywords {
                let keyword = keyword.to_ascii_lowercase();
                match keywords.iter().position(|known| *known == keyword) {
                    Some(at) => owners[at].push(index),
                    None => {
                        keywords.push(keyword);
                        owners.push(vec![index]);
                    }
                }
            }
        }
        let prefilter = NFA::builder()
            .ascii_case_insensitive(true)
            .prefilter(false)
            .build(&keywords)
            .ok();
        Rules {
            prefilter,
            owners,
            compiled,
            off: BTreeSet::new(),
            exact: Vec::new(),
            needles: OnceLock::new(),
            patterns: Vec::new(),
            kept_names: BTreeSet::new(),
            kept_secrets: BTreeSet::new(),
        }
    }

    /// Switches off all rules of a kind; exact values stay.
    pub fn without(mut self, kind: Kind) -> Self {
        self.off
            .extend(rules().filter(|rule| rule.kind == kind).map(|rule| rule.id));
        self
    }

    /// Switches off one rule; returns whether there is one of this id.
    pub fn without_rule(&mut self, id: &str) -> bool {
        let rule = rules().find(|rule| rule.id == id);
        rule.is_some_and(|rule| {
            self.off.insert(rule.id);
            true
        })
    }

    /// Adds a value that is replaced wherever it stands.
    ///
    /// # Errors
    /// [`Refused::TooShort`] where it is too short and the user did not ask for it.
    pub fn exact(&mut self, exact: Exact) -> Result<(), Refused> {
        if !exact.usable() {
            return Err(Refused::TooShort);
        }
        if !self.exact.iter().any(|known| known.value == exact.value) {
            self.exact.push(exact);
            self.needles = OnceLock::new();
        }
        Ok(())
    }

    /// Adds what the user named: a text, or a regular expression between slashes.
    ///
    /// # Errors
    /// [`Refused`] says what is wrong with the pattern.
    pub fn asked(&mut self, text: &str) -> Result<(), Refused> {
        match text
            .strip_prefix('/')
            .and_then(|rest| rest.strip_suffix('/'))
            .filter(|pattern| !pattern.is_empty())
        {
            Some(pattern) => {
                self.patterns.push(Pattern::new(pattern)?);
                Ok(())
            }
            None => self.exact(Exact::secret("asked", text).asked()),
        }
    }

    /// Keeps the secret of this name, as a report shows it: `github-token #1`. The names of the others stay what they are.
    pub fn keep_name(&mut self, name: &str) {
        self.kept_names
            .insert(name.trim_matches(['[', ']']).to_owned());
    }

    /// Keeps this secret wherever it stands.
    pub fn keep_secret(&mut self, secret: &str) {
        self.kept_secrets.insert(secret.to_owned());
    }

    /// Adds every secret that was replaced so far as an exact value: what a first scan found by its form is then found encoded
    /// and split as well. Shorter ones than [`crate::SHORTEST`] are left out, and those that a rule of personal data found.
    pub fn learn(&mut self, names: &Names) {
        for (secret, name) in names.replacements() {
            let stem = name.split(" #").next().unwrap_or_default();
            if !rules().any(|rule| rule.id == stem && rule.kind == Kind::Personal) {
                let _ = self.exact(Exact::secret(stem, secret));
            }
        }
    }

    /// Returns what is to be replaced in this text, in order, without overlaps.
    ///
    /// The time grows in proportion to the text's length. One value of `names` serves all texts of a file. A caller who keeps one
    /// place leaves its hit out: the names of the others do not change.
    pub fn scan(&self, text: &str, names: &mut Names) -> Vec<Hit> {
        let mut raws = self.by_rules(text, &mut 0);
        self.by_values(text, &mut raws);
        for pattern in &self.patterns {
            let found = pattern
                .0
                .find_iter(text)
                .filter(|found| !found.range().is_empty());
            raws.extend(found.map(|found| Raw {
                range: found.range(),
                rule: "pattern",
                stem: "asked",
                kind: Kind::Secret,
                rank: 4,
                form: "plain",
                value: None,
            }));
        }
        raws.retain(|raw| {
            text.get(raw.range.clone())
                .is_some_and(|hit| !hit.is_empty())
        });
        self.named(text, merged(text, raws), names)
    }

    fn named(&self, text: &str, raws: Vec<Raw<'_>>, names: &mut Names) -> Vec<Hit> {
        let mut hits = Vec::new();
        for raw in raws {
            let secret = raw.value.unwrap_or(&text[raw.range.clone()]);
            let name = names.name(secret, raw.stem);
            if self.kept_names.contains(&name) || self.kept_secrets.contains(secret) {
                continue;
            }
            names.replaced(secret);
            hits.push(Hit {
                range: raw.range,
                rule: raw.rule,
                kind: raw.kind,
                name,
                form: raw.form,
            });
        }
        hits
    }

    fn by_values<'a>(&'a self, text: &str, raws: &mut Vec<Raw<'a>>) {
        if self.exact.is_empty() {
            return;
        }
        let needles = self.needles.get_or_init(|| {
            Needles::new(
                self.exact
                    .iter()
                    .map(|exact| (exact.value.as_str(), exact.word)),
                false,
            )
        });
        for found in needles.find(text.as_bytes(), &mut |_| false) {
            let exact = &self.exact[found.value];
            raws.push(Raw {
                range: found.range,
                rule: "exact",
                stem: &exact.stem,
                kind: exact.kind,
                rank: 5,
                form: found.form,
                value: Some(&exact.value),
            });
        }
    }

    /// The table's hits. `work` counts the bytes that patterns were given.
    fn by_rules(&self, text: &str, work: &mut usize) -> Vec<Raw<'_>> {
        let mut raws = Vec::new();
        let Some(prefilter) = &self.prefilter else {
            return raws;
        };
        let mut done = vec![0; self.compiled.len()];
        let input = Input::new(text).anchored(Anchored::No);
        let mut state = OverlappingState::start();
        while prefilter.try_find_overlapping(&input, &mut state).is_ok() {
            let Some(keyword) = state.get_match() else {
                break;
            };
            for index in &self.owners[keyword.pattern().as_usize()] {
                let compiled = &self.compiled[*index];
                let rule = compiled.rule;
                if keyword.start() < done[*index] || self.off.contains(rule.id) {
                    continue;
                }
                let Some(range) = compiled.find(text, keyword.start()..keyword.end(), work) else {
                    continue;
                };
                if !(rule.check)(&text[range.clone()]) {
                    continue;
                }
                done[*index] = range.end;
                raws.push(Raw {
                    range,
                    rule: rule.id,
                    stem: rule.id,
                    kind: rule.kind,
                    rank: rule.rank,
                    form: "plain",
                    value: None,
                });
            }
        }
        raws
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows no value.
impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules")
            .field("off", &self.off)
            .field("exact", &self.exact)
            .field("patterns", &self.patterns)
            .finish_non_exhaustive()
    }
}

impl Compiled {
    /// Finds the secret at this keyword.
    fn find(&self, text: &str, keyword: Range<usize>, work: &mut usize) -> Option<Range<usize>> {
        let rule = self.rule;
        let pattern = match rule.how {
            How::Pattern(pattern) => pattern,
            How::Code(find) => {
                *work += keyword.len();
                return find(text, keyword).filter(|range| {
                    text.get(range.clone())
                        .is_some_and(|found| !found.is_empty())
                });
            }
        };
        // Most keywords are parts of words: the boundary is asked before the pattern.
        if rule.back == 0 && !rule.inside && !boundary(text, keyword.start) {
            return None;
        }
        let regex = self.regex.get_or_init(|| {
            let anchored = if rule.back == 0 {
                format!("^(?:{pattern})")
            } else {
                pattern.to_owned()
            };
            Regex::new(&anchored).ok()
        });
        let from = floor(text, keyword.start.saturating_sub(rule.back));
        let to = floor(text, keyword.end.saturating_add(AHEAD));
        let window = &text[from..to];
        *work += window.len().min(256);
        let mut at = 0;
        loop {
            let all = regex.as_ref()?.find_at(window, at)?;
            let covers = from + all.start() <= keyword.start && keyword.end <= from + all.end();
            if covers && (rule.inside || boundary(text, from + all.start())) {
                let captures = regex.as_ref()?.captures_at(window, all.start())?;
                let found = captures
                    .iter()
                    .skip(1)
                    .flatten()
                    .next()
                    .unwrap_or(all)
                    .range();
                let mut end = from + found.end;
                if end == to {
                    end += text[to..]
                        .bytes()
                        .take_while(|b| b.is_ascii_alphanumeric() || b"_-+/=.~%".contains(b))
                        .count();
                }
                let cut = !rule.open
                    && text
                        .as_bytes()
                        .get(end)
                        .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
                return (!cut).then_some(from + found.start..end);
            }
            // Another beginning before the same keyword.
            at = all.start() + window[all.start()..].chars().next()?.len_utf8();
            if rule.back == 0 || from + at > keyword.start {
                return None;
            }
        }
    }
}

/// Whether a word can begin at this place: no letter, digit or `_` before it, but for one that ends an escape (`\n`, `%3D`,
/// `\u003d`).
fn boundary(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    let Some(last) = before.last() else {
        return true;
    };
    if !(last.is_ascii_alphanumeric() || *last == b'_') {
        return true;
    }
    let hex = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_hexdigit);
    match before {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => true,
        [.., b'%', a, b] => hex(&[*a, *b]),
        [.., b'\\', b'u', a, b, c, d] => hex(&[*a, *b, *c, *d]),
        _ => false,
    }
}

/// Overlapping hits as one: its range is all of theirs, its name that of a secret rather than of personal data,
/// then of the longest, then of the most specific.
fn merged<'a>(text: &str, mut raws: Vec<Raw<'a>>) -> Vec<Raw<'a>> {
    raws.sort_by_key(|raw| (raw.range.start, Reverse(raw.range.end), Reverse(raw.rank)));
    let mut merged: Vec<Raw<'a>> = Vec::new();
    // How long the hit is that gave the name.
    let mut winner = 0;
    for raw in raws {
        if inside_marker(text, &raw.range) {
            continue;
        }
        match merged.last_mut() {
            Some(last) if raw.range.start < last.range.end => {
                let union = last.range.start..last.range.end.max(raw.range.end);
                let kind = last.kind.min(raw.kind);
                if (Reverse(raw.kind), raw.range.len(), raw.rank)
                    > (Reverse(last.kind), winner, last.rank)
                {
                    winner = raw.range.len();
                    *last = raw;
                }
                if last.range != union {
                    last.range = union;
                    last.value = None;
                }
                last.kind = kind;
            }
            _ => {
                winner = raw.range.len();
                merged.push(raw);
            }
        }
    }
    merged
}

/// Whether a hit is a part of a replacement: what was replaced once stays as it is.
fn inside_marker(text: &str, range: &Range<usize>) -> bool {
    let from = floor(text, range.start.saturating_sub(96));
    let open = text[from..floor(text, range.start + 1)]
        .rfind('[')
        .map(|at| from + at);
    open.is_some_and(|open| {
        plausible::marker(&text[open..]).is_some_and(|length| range.end <= open + length)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for rule in rules() {
            if let How::Pattern(pattern) = rule.how {
                assert!(
                    Regex::new(pattern).is_ok(),
                    "{}: {:?}",
                    rule.id,
                    Regex::new(pattern).err()
                );
            }
        }
    }

    #[test]
    fn work_grows_with_the_text_whatever_it_repeats() {
        for rule in rules() {
            for keyword in rule.keywords {
                let text = keyword.repeat(20_000 / keyword.len());
                let mut work = 0;
                Rules::new().by_rules(&text, &mut work);
                assert!(
                    work < 200 * text.len(),
                    "{}: {work} for {}",
                    rule.id,
                    text.len()
                );
            }
        }
    }
}
