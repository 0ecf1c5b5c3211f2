//! Which statement of the program each line of a log speaks of: what a line says is handed to
//! [`crate::program::LogTies`], which learns from the lines with names what the numbers mean.

use std::collections::BTreeMap;

use super::ahead::Ahead;
use crate::model::{CompactLog, LogEvent, LogLine, Text};
use crate::program::{LogMark, StatementKind as Kind, Tie, TiedBy};
use crate::trace::from_state::facts::Facts;
use crate::trace::from_state::statements::is_work;

/// How many branches of a parallel teach what its number means.
const TEACHERS: usize = 8;

/// The tie of each line.
pub(super) fn of(log: &CompactLog, ahead: &Ahead, facts: &Facts<'_>) -> Vec<Option<Tie>> {
    let listing = facts.listing;
    if listing.statements.is_empty() {
        return vec![None; log.lines.len()];
    }
    let mut frames = InFrames::new(facts);
    let blocks: Vec<Option<&Text>> = log.lines.iter().map(|line| frames.block(line)).collect();
    let lines = || log.lines.iter().zip(&blocks);
    let marks: Vec<Option<LogMark<'_>>> = lines()
        .map(|(line, block)| mark(line, block.map(|b| &**b)))
        .collect();
    // The names of its branches say which parallel a number means.
    let taught = log.lines.iter().flat_map(|line| {
        let names: &[Text] = match &line.event {
            LogEvent::Fork { branches } if line.frame.is_none() => branches,
            _ => &[],
        };
        let number = line.number;
        names.iter().take(TEACHERS).map(move |label| LogMark {
            number,
            label,
            ..LogMark::default()
        })
    });
    let all: Vec<LogMark<'_>> = marks.iter().flatten().copied().chain(taught).collect();
    let mut ties = listing.log_ties(&all);
    let mut texts = listing.ties();
    let mut found: Vec<Option<Tie>> = Vec::with_capacity(marks.len());
    for ((line, block), mark) in lines().zip(&marks) {
        let whole = whole_statement(line)
            .and_then(|text| texts.tie(text, None))
            .filter(|tie| !tie.guessed);
        let in_frame = block.and_then(|_| frames.next_anonymous(line));
        let tie = whole
            .or(in_frame)
            .or_else(|| mark.as_ref().and_then(|mark| ties.tie(mark)));
        // A block is declared; what runs is its invocation.
        let tie = tie.filter(|tie| {
            facts
                .statement(tie.statement)
                .is_some_and(|s| s.kind != Kind::Block)
        });
        frames.seen(line, tie);
        found.push(tie);
    }
    // The markers of one pass speak of one loop: the first that is sure, else the first.
    let mut loops: BTreeMap<u32, Tie> = BTreeMap::new();
    for (at, tie) in found.iter().enumerate() {
        if let (Some(tie), Some((pass, _))) = (tie, ahead.pass(at)) {
            let known = loops.entry(pass).or_insert(*tie);
            if known.guessed && !tie.guessed {
                *known = *tie;
            }
        }
    }
    for (at, tie) in found.iter_mut().enumerate() {
        if let Some((pass, _)) = ahead.pass(at) {
            *tie = loops.get(&pass).copied();
        }
    }
    found
}

/// What runs in frames: their lines bear the number of the call, so that only names and order tell.
struct InFrames<'l, 'f, 'a> {
    facts: &'f Facts<'a>,
    /// Statements without a name, by the block that they lie in.
    anonymous: BTreeMap<u32, Vec<u32>>,
    entered: BTreeMap<i64, Entered<'l>>,
}

/// A frame that was entered.
struct Entered<'l> {
    block: &'l Text,
    /// The last statement of it that was tied.
    last: Option<u32>,
}

impl<'l, 'f, 'a> InFrames<'l, 'f, 'a> {
    fn new(facts: &'f Facts<'a>) -> InFrames<'l, 'f, 'a> {
        let mut anonymous: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (at, (statement, fact)) in (0_u32..).zip(facts.listing.statements.iter().zip(&facts.of))
        {
            let plain =
                statement.name.is_none() && is_work(statement) && !statement.kind.has_body();
            if let Some(block) = fact.block.filter(|_| plain) {
                anonymous.entry(block).or_default().push(at);
            }
        }
        InFrames {
            facts,
            anonymous,
            entered: BTreeMap::new(),
        }
    }

    /// The block that a line's frame runs.
    fn block(&mut self, line: &'l LogLine) -> Option<&'l Text> {
        if let LogEvent::Enter {
            block,
            id: Some(id),
            ..
        } = &line.event
        {
            self.entered.insert(*id, Entered { block, last: None });
        }
        Some(self.entered.get(&line.frame?)?.block)
    }

    /// The next statement without a name, for a line without one.
    fn next_anonymous(&self, line: &LogLine) -> Option<Tie> {
        let LogEvent::Statement { text, .. } = &line.event else {
            return None;
        };
        let entered = self.entered.get(&line.frame?).filter(|_| text.is_empty())?;
        let list = self
            .anonymous
            .get(self.facts.blocks.get(&**entered.block)?)?;
        let after = entered
            .last
            .map_or(0, |last| list.partition_point(|at| *at <= last));
        let statement = *list.get(after).or(list.first())?;
        Some(Tie {
            statement,
            guessed: list.len() > 1,
            by: TiedBy::Number,
        })
    }

    fn seen(&mut self, line: &LogLine, tie: Option<Tie>) {
        if let LogEvent::Enter { id: Some(id), .. } = &line.event {
            if let Some(entered) = self.entered.get_mut(id) {
                entered.last = None;
            }
            return;
        }
        let entered = line.frame.and_then(|id| self.entered.get_mut(&id));
        if let (Some(entered), Some(tie)) = (entered, tie) {
            entered.last = Some(tie.statement);
        }
    }
}

/// A statement as the program writes it, as the older narration does.
fn whole_statement(line: &LogLine) -> Option<&str> {
    let LogEvent::Statement { text, .. } = &line.event else {
        return None;
    };
    text.contains(['"', '=', ':']).then_some(text)
}

/// What a line says of the statement that it speaks of.
fn mark<'a>(line: &'a LogLine, block: Option<&'a str>) -> Option<LogMark<'a>> {
    let (kind, label): (Option<Kind>, &str) = match &line.event {
        LogEvent::Statement { text, .. } | LogEvent::Retry { text, .. } => words(text),
        LogEvent::Fork { .. } | LogEvent::Join { .. } => (Some(Kind::Parallel), ""),
        LogEvent::Round { .. } => (Some(Kind::Loop), ""),
        LogEvent::Enter { block, .. } => (Some(Kind::Do), block),
        LogEvent::Gate { gate, .. } => (Some(Kind::Gate), gate),
        LogEvent::Leave { .. } | LogEvent::Trailer { .. } | LogEvent::Note => return None,
    };
    Some(LogMark {
        number: line.number,
        branch: line.branch.as_deref(),
        block,
        kind,
        label,
    })
}

/// `exec .version` and `if(false)` say what they are.
fn words(text: &str) -> (Option<Kind>, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (lead, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    match lead {
        "exec" if rest.starts_with(' ') => (Some(Kind::Exec), rest.trim_start()),
        "if" | "elif" | "else" | "choice" | "option" if !rest.starts_with(['_', '-']) => {
            (Some(Kind::If), "")
        }
        _ => (None, text),
    }
}
