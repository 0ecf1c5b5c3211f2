//! Searches a text with a table of rules: a prefilter finds keywords, and a pattern runs only at its own keywords.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::automaton::{Automaton, OverlappingState};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, Input};
use regex_lite::Regex;
use serde::Deserialize;

use crate::find::Find;
use crate::hit::floor;
use crate::merge::RawHit;
use crate::rule::{Rule, WordEdge};

/// The number of bytes after a keyword that a pattern searches. A longer token extends over all following base64
/// characters.
const AHEAD: usize = 400;
/// The limit on the bytes that patterns search in one text: `STEPS_A_BYTE` for each byte of the text, plus `STEPS`. The
/// limit bounds the time for a text that repeats the beginning of a token.
const STEPS_A_BYTE: usize = 8;
const STEPS: usize = 256 << 10;

/// The built-in rules. All callers share them, and each pattern is compiled when its keyword first occurs.
pub(crate) static BUILT_IN: LazyLock<RuleTable> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct ParsedRules {
        rule: Vec<Rule>,
    }
    // `build.rs` writes this file from `rules.toml`.
    let text = include_str!(concat!(env!("OUT_DIR"), "/rules.json"));
    let file: ParsedRules = serde_json::from_str(text).expect("the tests parse this file");
    RuleTable::new(file.rule)
});

/// Returns every built-in rule, in the order of `rules.toml`.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    BUILT_IN.rules.iter()
}

/// Rules and the automaton of their keywords.
pub(crate) struct RuleTable {
    pub(crate) rules: Vec<Rule>,
    prefilter: Option<NFA>,
    /// For each keyword, the indices of its rules.
    owners: Vec<Vec<usize>>,
}

impl RuleTable {
    pub(crate) fn new(rules: Vec<Rule>) -> Self {
        let mut owners: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, rule) in rules.iter().enumerate() {
            let programs = rule.options.iter().flat_map(|option| &option.programs);
            for keyword in rule.keywords.iter().chain(programs) {
                let keyword = keyword.to_ascii_lowercase();
                owners.entry(keyword).or_default().push(index);
            }
        }
        let mut builder = NFA::builder();
        let builder = builder.ascii_case_insensitive(true).prefilter(false);
        RuleTable {
            prefilter: builder.build(owners.keys()).ok(),
            owners: owners.into_values().collect(),
            rules,
        }
    }

    /// Returns the hits of all rules except those that are switched off.
    pub(crate) fn find(&self, text: &str, off: &BTreeSet<String>) -> Vec<RawHit<'_>> {
        let mut raws = Vec::new();
        let Some(prefilter) = &self.prefilter else {
            return raws;
        };
        let mut done = vec![0; self.rules.len()];
        let mut ranges = Vec::new();
        let mut budget = text
            .len()
            .saturating_mul(STEPS_A_BYTE)
            .saturating_add(STEPS);
        let input = Input::new(text).anchored(Anchored::No);
        let mut state = OverlappingState::start();
        while prefilter.try_find_overlapping(&input, &mut state).is_ok() {
            let Some(keyword) = state.get_match() else {
                break;
            };
            for index in &self.owners[keyword.pattern().as_usize()] {
                let rule = &self.rules[*index];
                if keyword.start() < done[*index] || off.contains(&rule.id) {
                    continue;
                }
                let keyword = keyword.start()..keyword.end();
                ranges.clear();
                match rule.find {
                    Some(find) => {
                        done[*index] = find.at(rule, text, keyword, &mut ranges).max(done[*index]);
                    }
                    None => ranges.extend(rule.by_pattern(text, keyword, &mut budget)),
                }
                for mut range in ranges.drain(..) {
                    if rule.find.is_some_and(Find::reads_a_part) {
                        // The part that the function read ended within the value.
                        let rest = text.as_bytes().get(range.end..).unwrap_or_default();
                        range.end += rest
                            .iter()
                            .take_while(|b| b.is_ascii_alphanumeric())
                            .count();
                    }
                    let Some(value) = text.get(range.clone()) else {
                        continue;
                    };
                    done[*index] = done[*index].max(range.end);
                    if rule.accepts(value) {
                        raws.push(RawHit {
                            range,
                            rule: &rule.id,
                            stem: &rule.id,
                            kind: rule.kind,
                            rank: rule.rank(),
                            form: "plain",
                            value: None,
                        });
                    }
                }
            }
        }
        raws
    }
}

impl Rule {
    /// Finds the secret at this keyword. `budget` is the number of bytes that patterns may still search in this text.
    fn by_pattern(
        &self,
        text: &str,
        keyword: Range<usize>,
        budget: &mut usize,
    ) -> Option<Range<usize>> {
        // Most keywords occur inside words, so checking the boundary first saves most pattern searches.
        let starts = self
            .before
            .iter()
            .filter_map(|before| keyword.start.checked_sub(*before));
        let mut starts = starts.filter(|start| {
            text.is_char_boundary(*start) && (self.word.is_none() || boundary(text, *start))
        });
        let first = starts.next()?;
        let to = floor(text, keyword.end.saturating_add(AHEAD));
        let cost = (to - first).min(keyword.end - first + token_length(&text[keyword.end..to]) + 8);
        if *budget < cost {
            // The budget is spent, because this text repeats the beginning of a token over and over. The keyword and
            // everything up to the next blank are replaced without further search.
            let rest = text.as_bytes()[keyword.end..].iter();
            let rest = rest.take_while(|b| !b.is_ascii_whitespace()).count();
            return Some(keyword.start..keyword.end + rest);
        }
        *budget -= cost;
        let regex = &self.compiled()?.pattern;
        let (from, found) = std::iter::once(first).chain(starts).find_map(|from| {
            let found = matched(regex, &text[from..to])?;
            (keyword.end <= from + found.0).then_some((from, found.1))
        })?;
        let mut end = from + found.end;
        if end == to {
            let more = text.as_bytes()[to..].iter();
            end += more.take_while(token_byte).count();
        }
        let behind = text.as_bytes().get(end);
        let cut = behind.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        (self.word != Some(WordEdge::Whole) || !cut).then_some(from + found.start..end)
    }
}

/// Returns the end of a match at the beginning of the window, and its first group or else the whole match.
fn matched(regex: &Regex, window: &str) -> Option<(usize, Range<usize>)> {
    let all = regex.find(window)?.range();
    if regex.captures_len() == 1 {
        return Some((all.end, all));
    }
    let captures = regex.captures(window)?;
    let group = captures.iter().skip(1).flatten().next();
    Some((all.end, group.map_or(all, |group| group.range())))
}

/// Returns whether a byte can be part of a token.
fn token_byte(byte: &&u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-+/=.~%".contains(byte)
}

/// Returns the number of bytes before the first blank or quote: nearly every match ends there.
fn token_length(text: &str) -> usize {
    text.bytes()
        .take_while(|b| !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\''))
        .count()
}

/// Returns whether a word can begin at this position: not directly after a letter, digit or `_`, unless that character
/// ends an escape (`\n`, `%3D`, `\u003d`).
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
