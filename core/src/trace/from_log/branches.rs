//! Parallels of a log: `∥start a,b` begins one, `3a→` lines are its branches, `∥done` joins them.

use std::collections::{BTreeMap, BTreeSet};

use super::build::{Builder, Place};
use crate::model::{LogLine, Status, Text};
use crate::program::StatementKind;
use crate::trace::emit::{derived, word};
use crate::trace::{NodeKind, NodeStatus};

/// Branches that are listed though nothing but their name is known.
const MOST_BRANCHES: usize = 10_000;

/// A parallel under way, or the last of its number.
pub(super) struct Parallel {
    pub(super) node: u32,
    pub(super) announced: Vec<Text>,
    /// The same, to look up.
    names: BTreeSet<Text>,
    /// Branches by what they are called, and by the letter of their lines.
    pub(super) branches: BTreeMap<Text, u32>,
    letters: BTreeMap<Text, u32>,
}

impl Parallel {
    pub(super) fn announces(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    fn new(node: u32) -> Parallel {
        Parallel {
            node,
            announced: Vec::new(),
            names: BTreeSet::new(),
            branches: BTreeMap::new(),
            letters: BTreeMap::new(),
        }
    }
}

impl Builder<'_, '_> {
    /// The branch of a letter or a name in the parallel of a line's number.
    pub(super) fn branch(
        &mut self,
        at: usize,
        line: &LogLine,
        frame: Place,
        letter: &Text,
        told: &Text,
    ) -> u32 {
        let parallel = self.parallel_of(at, line, frame);
        let key = (frame, line.number);
        let position = letter_position(letter);
        let Some(state) = self.parallels.get(&key) else {
            return parallel;
        };
        if let Some(branch) = state.letters.get(letter) {
            return *branch;
        }
        let by_letter = position.and_then(|at| state.announced.get(at)).cloned();
        let is_announced = state.announces(told);
        let name = match by_letter {
            _ if is_announced => told.clone(),
            Some(name) => name,
            None if !told.is_empty() && !told.contains(' ') => told.clone(),
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
        let branch = self.branch_named(at, line, key, &name);
        if let Some(state) = self.parallels.get_mut(&key) {
            state.letters.insert(letter.clone(), branch);
        }
        branch
    }

    /// The branch of a name; it is made when it is first spoken of.
    pub(super) fn branch_named(
        &mut self,
        at: usize,
        line: &LogLine,
        key: (Place, Option<u32>),
        name: &Text,
    ) -> u32 {
        let Some(state) = self.parallels.get(&key) else {
            return 0;
        };
        if let Some(branch) = state.branches.get(name) {
            return *branch;
        }
        let parallel = state.node;
        let of_program = self
            .about
            .get(parallel as usize)
            .and_then(|a| a.statement)
            .and_then(|at| self.facts.listing.branch_of(at, name));
        let statement = of_program.and_then(|at| self.facts.statement(at));
        let text: Text = statement.map_or_else(|| name.clone(), |s| s.text.as_str().into());
        let mut node = derived(
            NodeKind::Branch {
                branch: name.clone(),
            },
            text,
            NodeStatus::Started,
        );
        node.derived = false;
        node.line = statement.map(|s| s.line);
        let branch = self.push(node, Some(parallel));
        if let Some(about) = self.about.get_mut(branch as usize) {
            about.statement = of_program;
            about.number = line.number;
        }
        self.tell(branch, at);
        if let Some(state) = self.parallels.get_mut(&key) {
            state.branches.insert(name.clone(), branch);
        }
        branch
    }

    /// The parallel of a line's number; one that nothing began is made.
    pub(super) fn parallel_of(&mut self, at: usize, line: &LogLine, scope: Place) -> u32 {
        if let Some(state) = self.parallels.get(&(scope, line.number)) {
            return state.node;
        }
        let place = self.inside(at, line, scope);
        let mut node = derived(NodeKind::Parallel, "parallel".into(), NodeStatus::Started);
        // The branch's line is tied to the branch; the parallel is what that lies in.
        let of_program = self.tie(at).and_then(|(statement, _, own)| match own.kind {
            StatementKind::Parallel => Some(statement),
            _ => own.parent,
        });
        let found = of_program.and_then(|at| Some((at, self.facts.statement(at)?)));
        let found = found.filter(|(_, s)| s.kind == StatementKind::Parallel);
        if let Some((_, statement)) = found {
            node.text = statement.text.as_str().into();
            node.line = Some(statement.line);
        }
        let node = self.push(node, place);
        if let Some(about) = self.about.get_mut(node as usize) {
            about.statement = found.map(|(at, _)| at);
            about.number = line.number;
        }
        self.parallels
            .insert((scope, line.number), Parallel::new(node));
        node
    }

    pub(super) fn fork(&mut self, at: usize, line: &LogLine, scope: Place, names: &[Text]) {
        let key = (scope, line.number);
        let again = self
            .parallels
            .get(&key)
            .map(|state| state.node)
            .filter(|node| self.is_open(*node));
        let node = match again {
            // Told again while it is open: after a `---resume`.
            Some(node) => {
                self.tell(node, at);
                node
            }
            None => {
                let place = self.inside(at, line, scope);
                let node = self.make(
                    at,
                    line,
                    place,
                    NodeKind::Parallel,
                    "parallel",
                    NodeStatus::Started,
                );
                let before = self.parallels.insert(key, Parallel::new(node));
                self.earlier.extend(before);
                self.forks.insert(line.number, scope);
                node
            }
        };
        if let Some(state) = self
            .parallels
            .get_mut(&key)
            .filter(|state| state.node == node)
        {
            for name in names {
                if state.announced.len() < MOST_BRANCHES && state.names.insert(name.clone()) {
                    state.announced.push(name.clone());
                }
            }
        }
    }

    pub(super) fn join(&mut self, at: usize, line: &LogLine, scope: Place, status: &Status) {
        let node = self.parallel_of(at, line, scope);
        self.tell(node, at);
        self.close(node, word(status));
    }

    /// What became of the branches when all lines are read: those that nobody told of, and those that were only
    /// spoken in.
    pub(super) fn settle_parallel(&mut self, parallel: &Parallel) {
        let joined = !self.is_open(parallel.node);
        for branch in parallel.branches.values().copied() {
            if joined && self.is_open(branch) {
                self.imply(branch, NodeStatus::Completed);
            }
        }
        let unseen = parallel
            .announced
            .iter()
            .filter(|name| !parallel.branches.contains_key(*name));
        let statement = self.about(parallel.node).and_then(|about| about.statement);
        for name in unseen {
            let of_program = statement.and_then(|at| self.facts.listing.branch_of(at, name));
            let own = of_program.and_then(|at| self.facts.statement(at));
            let text: Text = own.map_or_else(|| name.clone(), |s| s.text.as_str().into());
            let status = if joined {
                NodeStatus::Skipped
            } else {
                NodeStatus::Pending
            };
            let mut node = derived(
                NodeKind::Branch {
                    branch: name.clone(),
                },
                text,
                status,
            );
            node.line = own.map(|s| s.line);
            let branch = self.push(node, Some(parallel.node));
            if let Some(about) = self.about.get_mut(branch as usize) {
                about.statement = of_program;
            }
        }
    }

    /// Sets a status that no line says and that follows from others.
    pub(super) fn imply(&mut self, at: u32, status: NodeStatus) {
        if let Some(node) = self.node_mut(at) {
            node.status = status;
            node.derived = true;
        }
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
