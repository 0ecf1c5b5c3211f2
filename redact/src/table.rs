//! Searches a text with the table of rules: a prefilter finds keywords, and a pattern runs only at its own keywords.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::automaton::{Automaton, OverlappingState};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, Input};
use regex_lite::Regex;

use crate::hit::floor;
use crate::merge::Raw;
use crate::rule::{How, Rule};
use crate::rules::rules;

/// The number of bytes after a keyword that a pattern searches. A longer token extends over all following base64
/// characters.
const AHEAD: usize = 400;
/// The limit on the bytes that patterns search in one text: `STEPS_A_BYTE` for each byte of the text, plus `STEPS`. The
/// limit bounds the time for a text that repeats the beginning of a token.
const STEPS_A_BYTE: usize = 8;
const STEPS: usize = 256 << 10;

/// The only table: all callers share it, and each pattern is compiled when its keyword first occurs.
pub(crate) static TABLE: LazyLock<Table> = LazyLock::new(Table::new);

/// All rules and the automaton of their keywords.
pub(crate) struct Table {
    prefilter: Option<NFA>,
    /// For each keyword, the indices of its rules in `compiled`.
    owners: Vec<Vec<usize>>,
    compiled: Vec<Compiled>,
}

struct Compiled {
    rule: &'static Rule,
    regex: OnceLock<Option<Regex>>,
}

impl Table {
    fn new() -> Self {
        let ready = |rule| Compiled {
            rule,
            regex: OnceLock::new(),
        };
        let compiled: Vec<_> = rules().map(ready).collect();
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
        let mut builder = NFA::builder();
        let builder = builder.ascii_case_insensitive(true).prefilter(false);
        Table {
            prefilter: builder.build(&keywords).ok(),
            owners,
            compiled,
        }
    }

    /// Returns the hits of all rules except those that are switched off.
    pub(crate) fn find(&self, text: &str, off: &BTreeSet<&'static str>) -> Vec<Raw<'static>> {
        let mut raws = Vec::new();
        let Some(prefilter) = &self.prefilter else {
            return raws;
        };
        let mut done = vec![0; self.compiled.len()];
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
                let compiled = &self.compiled[*index];
                let rule = compiled.rule;
                if keyword.start() < done[*index] || off.contains(rule.id) {
                    continue;
                }
                let found = compiled.find(text, keyword.start()..keyword.end(), &mut budget);
                if let Err(skip) = found {
                    done[*index] = skip;
                }
                let Some(range) = found
                    .ok()
                    .flatten()
                    .filter(|range| text.get(range.clone()).is_some())
                else {
                    continue;
                };
                let real = (rule.check)(&text[range.clone()]);
                if real || matches!(rule.how, How::Pattern(_)) {
                    done[*index] = range.end;
                }
                if real {
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
        }
        raws
    }
}

impl Compiled {
    fn find(
        &self,
        text: &str,
        keyword: Range<usize>,
        budget: &mut usize,
    ) -> Result<Option<Range<usize>>, usize> {
        match self.rule.how {
            How::Pattern(pattern) => Ok(self.by_pattern(pattern, text, keyword, budget)),
            How::Code(find) => find(text, keyword),
        }
    }

    /// Finds the secret at this keyword. `budget` is the number of bytes that patterns may still search in this text.
    fn by_pattern(
        &self,
        pattern: &str,
        text: &str,
        keyword: Range<usize>,
        budget: &mut usize,
    ) -> Option<Range<usize>> {
        let rule = self.rule;
        // Most keywords occur inside words, so checking the boundary first saves most pattern searches.
        let starts = rule
            .back
            .iter()
            .filter_map(|back| keyword.start.checked_sub(*back));
        let mut starts = starts.filter(|start| {
            text.is_char_boundary(*start) && (rule.inside || boundary(text, *start))
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
        let anchored = || Regex::new(&format!("^(?:{pattern})")).ok();
        let regex = self.regex.get_or_init(anchored).as_ref()?;
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
        (rule.open || !cut).then_some(from + found.start..end)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert!(TABLE.prefilter.is_some());
        for rule in rules() {
            if let How::Pattern(pattern) = rule.how {
                let built = Regex::new(pattern);
                assert!(built.is_ok(), "{}: {:?}", rule.id, built.err());
            }
        }
    }
}
