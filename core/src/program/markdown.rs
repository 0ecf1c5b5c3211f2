//! Finds programs in Markdown files. Contracts, skills and notes contain programs in fences, or in a section called
//! Execution.
//!
//! A file is Markdown if a fence for programs precedes the first line that clearly is a statement. A file is also
//! Markdown if it begins with front matter and has a section called Execution. A fence inside a prompt does not make a
//! program Markdown. A program may have front matter as well.

use std::ops::Range;

use super::head::begins_statement;
use super::lex::{LexedSource, Lexer};

/// Returns the lines of the programs in a Markdown file, without their fences; `None` for a plain program.
pub(super) fn programs(source: &LexedSource<'_>) -> Option<Vec<Range<usize>>> {
    let end = source.lines.len();
    let front = front_matter(source);
    let from = front.unwrap_or(0);
    match first_sign(source, from) {
        Some(Sign::Fence) => Some(fenced(source, from)),
        Some(Sign::Section) => Some(sections(source, from)),
        Some(Sign::Statement) => front.map(|from| std::iter::once(from..end).collect()),
        None => front.map(|_| Vec::new()),
    }
}

/// The first line that distinguishes a program from Markdown.
enum Sign {
    Statement,
    Fence,
    Section,
}

/// Returns the first line after the front matter.
fn front_matter(source: &LexedSource<'_>) -> Option<usize> {
    let mut lines = 0..source.lines.len();
    let rule = |at: usize| source.line(at).trim_end() == "---";
    let first = lines.find(|at| !source.is_blank(*at))?;
    if !rule(first) {
        return None;
    }
    lines.find(|at| rule(*at)).map(|at| at + 1)
}

fn first_sign(source: &LexedSource<'_>, from: usize) -> Option<Sign> {
    let mut lexer = Lexer::new(source);
    let mut at = from;
    while at < source.lines.len() {
        let line = source.line(at);
        if Fence::read(line).is_some_and(|fence| fence.is_program()) {
            return Some(Sign::Fence);
        }
        if from > 0 && is_section(line) {
            return Some(Sign::Section);
        }
        if source.is_blank(at) || source.is_comment(at) {
            at += 1;
            continue;
        }
        if begins_statement(line) {
            return Some(Sign::Statement);
        }
        at = lexer.read(at).last + 1;
    }
    None
}

fn fenced(source: &LexedSource<'_>, from: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<(Fence<'_>, usize)> = None;
    for at in from..source.lines.len() {
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
    // A fence that is still open was cut off before its closing line.
    if let Some((outer, from)) = open
        && outer.is_program()
    {
        found.push(from..source.lines.len());
    }
    found
}

/// Returns the lines inside fences; without any fence, the lines of the sections called Execution or Delegation.
fn sections(source: &LexedSource<'_>, from: usize) -> Vec<Range<usize>> {
    let fences = fenced(source, from);
    if !fences.is_empty() {
        return fences;
    }
    let mut found = Vec::new();
    let mut open = None;
    for at in from..source.lines.len() {
        let line = source.line(at);
        if line.starts_with("## ") || line.starts_with("### ") {
            found.extend(open.take().map(|from| from..at));
            open = is_section(line).then_some(at + 1);
        }
    }
    found.extend(open.map(|from| from..source.lines.len()));
    found
}

/// Whether a line is a heading of a section with programs, such as `### Execution`. Comments of programs begin with a
/// single `#`.
fn is_section(line: &str) -> bool {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    (2..=4).contains(&level) && matches!(title.trim(), "Execution" | "Delegation")
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
