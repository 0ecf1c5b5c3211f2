//! Which statement of the program each line of a log speaks of: what a line says is handed to
//! [`crate::program::LogTies`], which learns from the lines with names what the numbers mean.

use std::collections::BTreeMap;

use super::Ahead;
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
    let calls: Vec<Option<Call<'_>>> = log.lines.iter().map(|line| frames.call(line)).collect();
    let lines = || log.lines.iter().zip(&calls);
    let marks: Vec<Option<LogMark<'_>>> = lines()
        .map(|(line, call)| mark(line, call.as_ref()))
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
    for ((line, call), mark) in lines().zip(&marks) {
        let whole = whole_statement(line)
            .and_then(|text| texts.tie(text, None))
            .filter(|tie| !tie.guessed);
        let in_frame = call.as_ref().and_then(|call| frames.next(line, call));
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
    /// What runs in each block, in order.
    work: BTreeMap<u32, Work>,
    entered: BTreeMap<i64, Entered<'l>>,
}

/// The statements of a block that a line may speak of without a name.
#[derive(Default)]
struct Work {
    anonymous: Vec<u32>,
    named: Vec<u32>,
}

/// The call that a frame is of.
#[derive(Clone, Copy)]
struct Call<'l> {
    block: &'l Text,
    /// The branch that the call stands in, and so every line of its frame.
    branch: Option<&'l Text>,
}

impl<'l> Call<'l> {
    /// The branch of a parallel inside of the block that a line speaks of.
    fn branch_inside(&self, line: &'l LogLine) -> Option<&'l str> {
        let branch = line.branch.as_ref();
        branch.filter(|_| branch != self.branch).map(|b| &**b)
    }
}

/// A frame that was entered.
struct Entered<'l> {
    call: Call<'l>,
    /// The last statement of it that was tied.
    last: Option<u32>,
}

impl<'l, 'f, 'a> InFrames<'l, 'f, 'a> {
    fn new(facts: &'f Facts<'a>) -> InFrames<'l, 'f, 'a> {
        let mut work: BTreeMap<u32, Work> = BTreeMap::new();
        for (at, (statement, fact)) in (0_u32..).zip(facts.listing.statements.iter().zip(&facts.of))
        {
            let plain = is_work(statement) && !statement.kind.has_body();
            if let Some(block) = fact.block.filter(|_| plain) {
                let work = work.entry(block).or_default();
                match statement.name {
                    None => work.anonymous.push(at),
                    Some(_) => work.named.push(at),
                }
            }
        }
        InFrames {
            facts,
            work,
            entered: BTreeMap::new(),
        }
    }

    /// The call of the frame that a line lies in.
    fn call(&mut self, line: &'l LogLine) -> Option<Call<'l>> {
        if let LogEvent::Enter {
            block,
            id: Some(id),
            ..
        } = &line.event
        {
            let call = Call {
                block,
                branch: line.branch.as_ref(),
            };
            self.entered.insert(*id, Entered { call, last: None });
        }
        Some(self.entered.get(&line.frame?)?.call)
    }

    /// For a line without words: the next statement without a name. Where all have names, the next of these: nobody
    /// wrote its name down, so it is a guess.
    fn next(&self, line: &LogLine, call: &Call<'_>) -> Option<Tie> {
        let LogEvent::Statement { text, .. } = &line.event else {
            return None;
        };
        // A branch is known by its letter.
        let silent = text.is_empty() && call.branch_inside(line).is_none();
        let entered = self.entered.get(&line.frame?).filter(|_| silent)?;
        let work = self.work.get(self.facts.blocks.get(&**call.block)?)?;
        let next = |list: &[u32]| {
            let after = entered
                .last
                .map_or(0, |last| list.partition_point(|at| *at <= last));
            list.get(after).copied()
        };
        let (statement, guessed) = match work.anonymous.first() {
            // Behind the last one it is the first again: another round.
            Some(first) => (
                next(&work.anonymous).unwrap_or(*first),
                work.anonymous.len() > 1,
            ),
            None => (next(&work.named)?, true),
        };
        Some(Tie {
            statement,
            guessed,
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
fn mark<'a>(line: &'a LogLine, call: Option<&Call<'a>>) -> Option<LogMark<'a>> {
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
        branch: match call {
            Some(call) => call.branch_inside(line),
            None => line.branch.as_deref(),
        },
        block: call.map(|call| &**call.block),
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
