//! A history: a generated program, recorded by what `next` offers.

use std::collections::BTreeMap;

use prosescope_core::record::{NextView, Style, WriteError};
use prosescope_core::trace::Trace;
use prosescope_test_support::chance::number;
use prosescope_test_support::programs;
use prosescope_test_support::random::Chance;

use crate::commands::{Command, decide, run};
use crate::playing::Playing;

/// The most steps of a history, and of a history's rounds and items.
pub(crate) const LONGEST: usize = 90;
const MOST_ROUNDS: usize = 2;

/// Runs a test for each history: `cases` of them, if `PROSE_CASES` does not say another number. Fails with the first
/// law that is broken, and lists the others.
pub(crate) fn each(cases: u64, test: impl Fn(u64) -> Result<(), Broken>) {
    let seed = number("PROSE_SEED").unwrap_or(1);
    let cases = number("PROSE_CASES").unwrap_or(cases);
    let seeds = (0..cases).map(|at| seed.wrapping_mul(1_000_003).wrapping_add(at));
    let seeds = seeds.filter(|seed| number("PROSE_HISTORY").is_none_or(|only| only == *seed));
    let broken: Vec<Broken> = seeds.filter_map(|seed| test(seed).err()).collect();
    let laws: Vec<&str> = broken.iter().map(|one| &*one.law).collect();
    if let Some(first) = broken.first() {
        panic!(
            "{} of {cases} histories break the law:\n{}\n\n{}",
            broken.len(),
            laws.join("\n"),
            first.history
        );
    }
}

/// A law that a history breaks.
pub(crate) struct Broken {
    pub(crate) law: String,
    pub(crate) history: String,
}

/// A run that is being recorded by what `next` offers.
pub(crate) struct History {
    pub(crate) seed: u64,
    pub(crate) memory: Playing,
    pub(crate) chance: Chance,
    /// How often each command that may come again and again was chosen.
    again: BTreeMap<String, usize>,
    items: usize,
    /// The commands so far, for the message of a law that is broken.
    pub(crate) told: Vec<String>,
}

impl History {
    pub(crate) fn new(seed: u64) -> History {
        let styles = [Style::AppendOnly, Style::InPlace, Style::Files];
        let style = styles[usize::try_from(seed % 3).unwrap_or_default()];
        History {
            seed,
            memory: Playing::new(style, &programs::program(seed)),
            chance: Chance::new(seed ^ 0x5eed),
            again: BTreeMap::new(),
            items: 0,
            told: Vec::new(),
        }
    }

    /// Tells the history that breaks a law.
    pub(crate) fn broken<T>(&self, law: &str) -> Result<T, Broken> {
        let program = self
            .memory
            .run
            .program
            .source
            .as_deref()
            .unwrap_or_default();
        let lines = (1..).zip(program.lines());
        let lines: Vec<String> = lines.map(|(n, line)| format!("{n:>3} {line}")).collect();
        let rows = self.memory.run.executions.iter().map(|row| {
            format!(
                "{} ({:?} {:?}) {} {}",
                row.id,
                row.parent,
                row.index,
                row.status.word(),
                row.text
            )
        });
        let trace = self.memory.trace();
        let nodes = trace.nodes.iter_enumerated().map(|(at, node)| {
            let (word, line) = (node.status.word(), node.line);
            format!("{at:?} ({:?} {line:?}) {word} {}", node.parent, node.text)
        });
        let rows: Vec<String> = rows.chain(nodes).collect();
        Err(Broken {
            law: format!("seed {} ({:?}): {law}", self.seed, self.memory.run.form),
            history: [lines.join("\n"), self.told.join("\n"), rows.join("\n")].join("\n\n"),
        })
    }

    pub(crate) fn next(&self, trace: &Trace) -> Result<NextView, Broken> {
        let next = self.memory.next(trace);
        next.or_else(|error| self.broken(&format!("next: {error}")))
    }

    /// Chooses one of the commands that `next` offers: another round or item seldom, so that the history ends.
    fn choose(&mut self, next: &NextView) -> Option<String> {
        let all: Vec<&str> = next.choices.iter().map(|choice| &*choice.command).collect();
        let repeats = |command: &&&str| {
            let again = [" round ", " retry ", "--item NAME"];
            again.iter().any(|part| command.contains(part))
        };
        let again = all.iter().find(repeats).copied();
        let out = all.iter().find(|command| !repeats(command)).copied();
        if let (Some(again), Some(out)) = (again, out) {
            let count = self.again.entry(again.to_owned()).or_default();
            *count += 1;
            let enough = *count > MOST_ROUNDS || self.chance.once_in(2);
            return Some(if enough { out } else { again }.to_owned());
        }
        self.chance.one(&all).map(|command| (*command).to_owned())
    }

    /// Records one step that `next` offers. Returns false at the end of the run.
    pub(crate) fn step(&mut self) -> Result<bool, Broken> {
        let trace = self.memory.trace();
        let next = self.next(&trace)?;
        let Some(text) = self.choose(&next) else {
            return Ok(false);
        };
        let mut text = text;
        let command = Command::of(&text);
        let leaf = command.verb() == "put" && command.option("--into").is_some();
        if leaf && self.chance.once_in(12) {
            let id = command.id().unwrap_or_default();
            text = format!("prosescope fail {id} TEXT");
        }
        self.told.push(text.clone());
        let command = Command::of(&text);
        if command.verb() == "resume" {
            // Rows do not tie to the program, so that what comes next is not known.
            return Ok(false);
        }
        let done = match command.verb() {
            "gate" if command.word(1) == "wait" && self.chance.once_in(8) => {
                self.memory.now += 7 * 24 * 3_600_000;
                Ok(())
            }
            "gate" if command.word(1) == "wait" => {
                let approve = !self.chance.once_in(3);
                decide(&mut self.memory, command.word(3), approve)
            }
            _ => self.run(&text, false).map(drop),
        };
        if let Err(error) = done {
            return self.broken(&format!("next offers `{text}`, which is refused: {error}"));
        }
        Ok(text.split(' ').nth(1) != Some("finish"))
    }

    pub(crate) fn run(&mut self, text: &str, force: bool) -> Result<Vec<String>, WriteError> {
        self.items += 1;
        let (value, item) = (
            format!("value {}", self.items),
            format!("item{}", self.items),
        );
        let words = (&*value, &*item);
        run(&mut self.memory, &Command::of(text), words, force)
    }
}
