//! Finds corresponding statements of two programs, which may be two versions of one program.
//!
//! Statements on equal lines correspond. The remaining statements are paired in three steps. The first step pairs
//! statements whose text occurs once in each program: these statements were moved. The second step pairs statements
//! whose name occurs once in each program. The third step is a guess. In an edited range of lines, it pairs statements
//! of the same kind and depth in order, if both programs have equally many of them.

use std::collections::BTreeMap;

use imara_diff::InternedInput;

use super::super::lines::hunks;
use super::words::lines;
use crate::model::text::{count as number, counted};
use crate::pages::session::Opened;
use crate::pages::view::{ComparedPrograms, ProgramRelation};
use crate::program::{Listing, Statement, StatementKind};

/// Two programs with different names count as different programs if they share less than one in four (`1 / HARDLY`) of
/// the shorter program's statements.
const HARDLY: u32 = 4;

/// The beginning of a message that a comparison would be useless.
const DIFFERENT: &str = "A and B are runs of different programs";

/// The statement of A's program that corresponds to a statement of B's program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) a: u32,
    pub(super) guessed: bool,
}

/// The corresponding statements, by the index of the statement in B's program.
pub(super) struct Pairs {
    of_b: BTreeMap<u32, Pair>,
}

impl Pairs {
    /// Returns the statement of A's program that corresponds to this statement of B's program.
    pub(super) fn of(&self, b: u32) -> Option<Pair> {
        self.of_b.get(&b).copied()
    }
}

/// Compares the programs of two runs. The pairs are `None` if a run does not contain its program.
pub(super) fn compare(a: &Opened, b: &Opened) -> (ComparedPrograms, Option<Pairs>) {
    let (Some(of_a), Some(of_b)) = (a.listing(), b.listing()) else {
        return (unknown(a, b), None);
    };
    let counts = (count(of_a), count(of_b));
    if of_a.lines == of_b.lines {
        let all = (0..).zip(&of_b.statements);
        let same = all.map(|(at, _)| (at, certain(at))).collect();
        let view = ComparedPrograms {
            relation: ProgramRelation::Same,
            words: "The programs are the same.".to_owned(),
            shared: counts.0,
            a_statements: counts.0,
            b_statements: counts.1,
            ..ComparedPrograms::default()
        };
        return (view, Some(Pairs { of_b: same }));
    }
    let (before, after) = (text(of_a), text(of_b));
    let input = InternedInput::new(before.as_str(), after.as_str());
    let mut pairing = StatementPairing {
        a: of_a,
        b: of_b,
        of_b: BTreeMap::new(),
        taken: vec![false; of_a.statements.len()],
    };
    let mut at = (0, 0);
    let hunks = hunks(&input);
    for (before, after) in &hunks {
        pairing.equal(at, before.start.saturating_sub(at.0));
        at = (before.end, after.end);
    }
    pairing.equal(
        at,
        of_a.lines.len() as u32 - at.0.min(of_a.lines.len() as u32),
    );
    pairing.alone(|s| Some((s.kind, s.text.as_str())));
    let shared = pairing.of_b.keys().filter_map(|at| of_b.get(*at));
    let shared = shared.filter(|s| counts_as_one(s)).count() as u32;
    pairing.alone(|s| Some((s.kind, s.name.as_deref()?)));
    for (before, after) in &hunks {
        pairing.by_place(before.start..before.end, after.start..after.end);
    }
    let (lines, more_lines) = lines(&input, hunks);
    let least = counts.0.min(counts.1);
    let hardly = shared.saturating_mul(HARDLY) < least.max(1) && !same_name(a, b);
    let words = format!(
        "{} of the {} in A and the {} in B are in both programs.",
        number(shared.into()),
        counted(counts.0.into(), "statement", "statements"),
        number(counts.1.into()),
    );
    let view = ComparedPrograms {
        relation: if hardly {
            ProgramRelation::Different
        } else {
            ProgramRelation::Differs
        },
        words: if hardly {
            format!("{DIFFERENT}: {words}")
        } else {
            format!("The programs differ: {words}")
        },
        shared,
        a_statements: counts.0,
        b_statements: counts.1,
        more_lines,
        lines,
    };
    let of_b = pairing.of_b;
    (view, Some(Pairs { of_b }))
}

/// Describes the relation if a run does not contain its program, so that only the names can be compared.
fn unknown(a: &Opened, b: &Opened) -> ComparedPrograms {
    let lacks = |name: &str, opened: &Opened| {
        let missing = opened.run().program.missing();
        let none = opened.listing().is_none();
        none.then(|| format!("of {name}, {missing}"))
    };
    let lacks = [lacks("A", a), lacks("B", b)];
    let why: Vec<String> = lacks.into_iter().flatten().collect();
    let names = (name(a), name(b));
    let relation = match names {
        (Some(of_a), Some(of_b)) if of_a != of_b => ProgramRelation::Different,
        _ => ProgramRelation::Unknown,
    };
    let words = match (relation, names) {
        (ProgramRelation::Different, (Some(of_a), Some(of_b))) => {
            format!("{DIFFERENT}: A of {of_a}, B of {of_b}.")
        }
        _ => format!(
            "It is not known whether the programs are the same: {}.",
            why.join("; ")
        ),
    };
    ComparedPrograms {
        relation,
        words,
        a_statements: a.listing().map_or(0, count),
        b_statements: b.listing().map_or(0, count),
        ..ComparedPrograms::default()
    }
}

/// Returns the file name of a run's program. `program.prose` does not count, because every run folder uses it.
fn name(opened: &Opened) -> Option<&str> {
    let path = opened.run().program.path.as_deref()?;
    let name = path.trim().rsplit(['/', '\\']).next()?;
    (!name.is_empty() && name != "program.prose").then_some(name)
}

fn same_name(a: &Opened, b: &Opened) -> bool {
    name(a).is_some() && name(a) == name(b)
}

fn text(listing: &Listing) -> String {
    let mut text = String::new();
    for line in &listing.lines {
        text.push_str(&line.text);
        text.push('\n');
    }
    text
}

fn count(listing: &Listing) -> u32 {
    listing
        .statements
        .iter()
        .filter(|s| counts_as_one(s))
        .count() as u32
}

/// Returns whether a statement counts. A line that could not be parsed does not count.
fn counts_as_one(statement: &Statement) -> bool {
    statement.kind != StatementKind::Other
}

/// Returns a pair that is certain.
pub(super) fn certain(a: u32) -> Pair {
    Pair { a, guessed: false }
}

/// The pairing of statements, while it is being computed.
struct StatementPairing<'l> {
    a: &'l Listing,
    b: &'l Listing,
    of_b: BTreeMap<u32, Pair>,
    /// Whether each statement of A is already paired.
    taken: Vec<bool>,
}

impl<'l> StatementPairing<'l> {
    fn add(&mut self, a: u32, b: u32, guessed: bool) {
        if let Some(taken) = self.taken.get_mut(a as usize).filter(|taken| !**taken)
            && !self.of_b.contains_key(&b)
        {
            *taken = true;
            self.of_b.insert(b, Pair { a, guessed });
        }
    }

    /// Pairs the statements that begin on `len` equal lines, from line `a` of A and line `b` of B on (counted from 0).
    fn equal(&mut self, (a, b): (u32, u32), len: u32) {
        for at in 0..len {
            let of_a = self.a.begun_at(a.saturating_add(at).saturating_add(1));
            let of_b = self.b.begun_at(b.saturating_add(at).saturating_add(1));
            let (Some(of_a), Some(of_b)) = (of_a, of_b) else {
                continue;
            };
            let kind = |listing: &Listing, at| listing.get(at).map(|s: &Statement| s.kind);
            if kind(self.a, of_a) == kind(self.b, of_b) {
                self.add(of_a, of_b, false);
            }
        }
    }

    /// Returns the statements of A that are not paired yet.
    fn left_of_a(&self) -> impl Iterator<Item = (u32, &'l Statement)> {
        let all = (0..).zip(&self.a.statements).zip(&self.taken);
        all.filter(|(_, taken)| !**taken).map(|(of, _)| of)
    }

    /// Returns the statements of B that are not paired yet.
    fn left_of_b(&self) -> impl Iterator<Item = (u32, &'l Statement)> {
        let all = (0..).zip(&self.b.statements);
        all.filter(|(at, _)| !self.of_b.contains_key(at))
    }

    /// Pairs remaining statements whose key occurs once in each program.
    fn alone<K: Ord>(&mut self, key: impl Fn(&'l Statement) -> Option<K>) {
        let mut found: BTreeMap<K, (Vec<u32>, Vec<u32>)> = BTreeMap::new();
        for (at, statement) in self.left_of_a() {
            if let Some(key) = key(statement) {
                found.entry(key).or_default().0.push(at);
            }
        }
        for (at, statement) in self.left_of_b() {
            if let Some(key) = key(statement) {
                found.entry(key).or_default().1.push(at);
            }
        }
        for (a, b) in found.into_values() {
            if let ([a], [b]) = (a.as_slice(), b.as_slice()) {
                self.add(*a, *b, false);
            }
        }
    }

    /// Pairs the remaining statements in two ranges of lines (from 0) in order, if both ranges have equally many
    /// statements of the same kind and depth.
    fn by_place(&mut self, a: std::ops::Range<u32>, b: std::ops::Range<u32>) {
        let mut found: BTreeMap<(StatementKind, u32), (Vec<u32>, Vec<u32>)> = BTreeMap::new();
        for at in self.a.begun_in(a).filter(|at| {
            let taken = self.taken.get(*at as usize);
            taken == Some(&false)
        }) {
            if let Some(s) = self.a.get(at) {
                found.entry((s.kind, s.depth)).or_default().0.push(at);
            }
        }
        for at in self.b.begun_in(b).filter(|at| !self.of_b.contains_key(at)) {
            if let Some(s) = self.b.get(at) {
                found.entry((s.kind, s.depth)).or_default().1.push(at);
            }
        }
        for (a, b) in found.into_values() {
            if a.len() == b.len() {
                for (a, b) in a.into_iter().zip(b) {
                    self.add(a, b, true);
                }
            }
        }
    }
}
