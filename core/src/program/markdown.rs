//! Programs in Markdown: contracts, skills and notes hold them in fences.
//!
//! A file is Markdown when it begins with front matter, or when a fence for programs comes before the first line that
//! plainly is a statement. (A fence inside of a prompt makes no Markdown of a program.)

use std::ops::Range;

use super::head::begins_statement;
use super::lex::{Lexer, Source};

/// The lines of the programs of a Markdown file, without their fences; `None` for a plain program.
pub(super) fn programs(source: &Source<'_>) -> Option<Vec<Range<usize>>> {
    if !is_markdown(source) {
        return None;
    }
    let mut found = Vec::new();
    let mut open: Option<(Fence<'_>, usize)> = None;
    for at in 0..source.lines.len() {
        let Some(fence) = Fence::read(source.line(at)) else {
            continue;
        };
        match open {
            None => open = Some((fence, at + 1)),
            Some((outer, from)) if fence.closes(&outer) => {
                if outer.is_program() {
                    found.push(from..at);
                }
                open = None;
            }
            Some(_) => {}
        }
    }
    // A file that was cut.
    if let Some((outer, from)) = open
        && outer.is_program()
    {
        found.push(from..source.lines.len());
    }
    Some(found)
}

fn is_markdown(source: &Source<'_>) -> bool {
    let mut lexer = Lexer::new(source);
    let lines = source.lines.len();
    let mut at = 0;
    while at < lines && source.is_blank(at) {
        at += 1;
    }
    let rule = |at: usize| source.line(at).trim_end() == "---";
    if at < lines && rule(at) {
        return (at + 1..lines).any(rule);
    }
    while at < lines {
        if Fence::read(source.line(at)).is_some_and(|fence| fence.is_program()) {
            return true;
        }
        if source.is_blank(at) || source.is_comment(at) {
            at += 1;
            continue;
        }
        if begins_statement(source.line(at)) {
            return false;
        }
        at = lexer.read(at).last + 1;
    }
    false
}

/// A line that opens or closes a fence.
#[derive(Clone, Copy)]
struct Fence<'a> {
    sign: char,
    length: usize,
    info: &'a str,
}

impl<'a> Fence<'a> {
    fn read(line: &'a str) -> Option<Fence<'a>> {
        let line = line.trim();
        let sign = line.chars().next().filter(|sign| "`~".contains(*sign))?;
        let info = line.trim_start_matches(sign);
        let length = line.len() - info.len();
        (length >= 3).then_some(Fence {
            sign,
            length,
            info: info.trim(),
        })
    }

    fn closes(&self, outer: &Fence<'_>) -> bool {
        self.sign == outer.sign && self.length >= outer.length && self.info.is_empty()
    }

    fn is_program(&self) -> bool {
        let language = self.info.split([' ', '{', ':']).next().unwrap_or_default();
        ["prose", "openprose", "open-prose"]
            .iter()
            .any(|known| language.eq_ignore_ascii_case(known))
    }
}
