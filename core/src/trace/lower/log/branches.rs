//! Parallels of a log: `∥start a,b` begins one, `3a→` lines are its branches, `∥done` joins them.

use std::collections::{BTreeMap, BTreeSet};

use super::{At, Lowering, Place, Said};
use crate::model::{LogEvent, LogLine, Meta, Status, Text};
use crate::program::StatementKind;
use crate::trace::lower::site;

/// Branches that are listed though nothing but their name is known.
const MOST_BRANCHES: usize = 10_000;

/// A parallel under way, or the last of its number.
pub(super) struct Parallel {
    pub(super) first: At,
    id: Text,
    announced: Vec<Text>,
    /// The same, to look up.
    names: BTreeSet<Text>,
    branches: BTreeMap<Text, At>,
    /// Branches by the letter of their lines.
    letters: BTreeMap<Text, At>,
}

impl Parallel {
    pub(super) fn announces(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

impl Lowering<'_, '_, '_> {
    /// Whether the program has a parallel where a line is tied to.
    pub(super) fn is_in_parallel(&self, at: usize) -> bool {
        let Some((tie, statement)) = self.tie(at) else {
            return false;
        };
        let is = |at: u32| {
            let kind = self.facts.statement(at).map(|s| s.kind);
            kind == Some(StatementKind::Parallel)
        };
        is(tie.statement) || statement.parent.is_some_and(is)
    }

    /// The branch of a letter or a name in the parallel of a line's number.
    pub(super) fn branch(&mut self, at: usize, line: &LogLine, scope: Place, letter: &Text) -> At {
        let told = match &line.event {
            LogEvent::Statement { text, .. } | LogEvent::Retry { text, .. } => text.clone(),
            _ => Text::from(""),
        };
        let key = (scope, line.number);
        if !self.parallels.contains_key(&key) {
            self.begin_parallel(at, line, scope, true);
        }
        let Some(state) = self.parallels.get(&key) else {
            return At::default();
        };
        if let Some(branch) = state.letters.get(letter) {
            return *branch;
        }
        let by_letter = letter_position(letter).and_then(|at| state.announced.get(at));
        let name = match by_letter {
            _ if state.announces(&told) => told,
            Some(name) => name.clone(),
            None if !told.is_empty() && !told.contains(' ') => told,
            None => letter.clone(),
        };
        if !state.announced.is_empty() && !state.announces(&name) {
            self.odd(
                "branch-not-announced",
                line,
                format!("branch {name} runs, but the parallel did not announce it"),
                "It is shown with the others.",
            );
        }
        let branch = self.branch_named(at, key, &name);
        if let Some(state) = self.parallels.get_mut(&key) {
            state.letters.insert(letter.clone(), branch);
        }
        branch
    }

    /// The branch of a name; it begins when a line first speaks of it.
    pub(super) fn branch_named(&mut self, at: usize, key: (Place, Option<u32>), name: &Text) -> At {
        let Some(state) = self.parallels.get(&key) else {
            return At::default();
        };
        if let Some(branch) = state.branches.get(name) {
            return *branch;
        }
        let parallel = state.first;
        let said = Said {
            label: name.clone(),
            meta: site::branch(state.id.clone(), name.clone()),
            ..Said::default()
        };
        let branch = self.begin(at, Some(parallel), Status::Started, said);
        // The line is tied to what runs in the branch; the branch itself goes by its name.
        if let Some(record) = self.story.get_mut(branch) {
            record.beside.tie = None;
            record.text = Text::from("");
        }
        if let Some(state) = self.parallels.get_mut(&key) {
            state.branches.insert(name.clone(), branch);
        }
        branch
    }

    /// The parallel of a line's number that no line began; the line is of one of its branches.
    fn begin_parallel(&mut self, at: usize, line: &LogLine, scope: Place, by_branch: bool) -> At {
        let place = self.inside(at, line, scope);
        let id: Text = format!("parallel {}", self.story.len()).into();
        let said = Said {
            label: "parallel".into(),
            meta: site::parallel(id.clone()),
            derived: by_branch,
            ..Said::default()
        };
        let first = self.begin(at, place, Status::Started, said);
        if by_branch {
            let around = self.tie(at).and_then(|(tie, own)| match own.kind {
                StatementKind::Parallel => Some(tie),
                _ => Some(crate::program::Tie {
                    statement: own.parent?,
                    ..tie
                }),
            });
            let around = around.filter(|tie| {
                let statement = self.facts.statement(tie.statement);
                statement.is_some_and(|s| s.kind == StatementKind::Parallel)
            });
            if let Some(record) = self.story.get_mut(first) {
                record.beside.tie = around;
            }
        }
        self.parallels.insert(
            (scope, line.number),
            Parallel {
                first,
                id,
                announced: Vec::new(),
                names: BTreeSet::new(),
                branches: BTreeMap::new(),
                letters: BTreeMap::new(),
            },
        );
        self.forks.insert(line.number, scope);
        first
    }

    pub(super) fn fork(&mut self, at: usize, line: &LogLine, scope: Place, names: &[Text]) {
        let key = (scope, line.number);
        let again = self.parallels.get(&key).map(|state| state.first);
        let first = match again.filter(|first| self.is_open(*first)) {
            // Begun again while it is open: after a `---resume`.
            Some(first) => {
                let said = Said {
                    meta: announcing(names),
                    ..Said::default()
                };
                self.go_on(Some(at), first, Status::Started, said);
                first
            }
            None => {
                let first = self.begin_parallel(at, line, scope, false);
                if let Some(record) = self.story.get_mut(first) {
                    let meta = record.meta.as_deref().cloned().unwrap_or_default();
                    let branches = announcing(names).branches;
                    record.meta = Some(Meta { branches, ..meta }.into());
                }
                first
            }
        };
        if let Some(state) = self.parallels.get_mut(&key).filter(|s| s.first == first) {
            for name in names {
                if state.announced.len() < MOST_BRANCHES && state.names.insert(name.clone()) {
                    state.announced.push(name.clone());
                }
            }
        }
    }

    pub(super) fn join(&mut self, at: usize, line: &LogLine, scope: Place, status: &Status) {
        let key = (scope, line.number);
        let first = match self.parallels.get(&key) {
            Some(state) => state.first,
            None => self.begin_parallel(at, line, scope, false),
        };
        // Branches that were joined are over, though no line says so.
        let branches = self.parallels.get(&key).map(|state| state.branches.clone());
        for branch in branches.into_iter().flat_map(BTreeMap::into_values) {
            if self.is_open(branch) {
                let said = Said {
                    derived: true,
                    ..Said::default()
                };
                self.go_on(None, branch, Status::Completed, said);
            }
        }
        self.go_on(Some(at), first, status.clone(), Said::default());
    }
}

fn announcing(names: &[Text]) -> Meta {
    Meta {
        branches: names.iter().take(MOST_BRANCHES).cloned().collect(),
        ..Meta::default()
    }
}

/// `a` is the first, `z` the 26th, `aa` the 27th.
fn letter_position(letter: &str) -> Option<usize> {
    let mut at = 0_usize;
    for b in letter.bytes() {
        let digit = b
            .to_ascii_lowercase()
            .checked_sub(b'a')
            .filter(|d| *d < 26)?;
        at = at.checked_mul(26)?.checked_add(usize::from(digit) + 1)?;
    }
    at.checked_sub(1)
}
