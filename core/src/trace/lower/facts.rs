//! Ties each annotated line of a state file to a statement of the program, and collects the facts about each statement.

use std::collections::BTreeMap;

use crate::model::issue::{Issue, Severity};
use crate::model::{Annotation, FolderForm, Form, Run, Status, Text};
use crate::program::{LineRole, Listing, Statement, StatementKind, Tie, TiedBy};
use crate::trace::NodeStatus;
use crate::trace::emit::word;
use crate::trace::rows::Ledger;

/// The facts that a state file and the disk give about each statement of a program.
pub(in crate::trace) struct LineEvidence<'a> {
    pub(in crate::trace) listing: &'a Listing,
    /// The facts about each statement, by the statement's index in `listing`.
    pub(in crate::trace) of: Vec<Fact>,
    /// Annotated lines that do not match any statement of the program.
    pub(in crate::trace) strays: Vec<Stray>,
    /// The declarations of blocks, by the block's name.
    pub(in crate::trace) blocks: BTreeMap<&'a str, u32>,
    /// Whether the program is missing, so that the listing is the trace itself.
    pub(in crate::trace) is_trace: bool,
    /// Whether any line was annotated.
    pub(in crate::trace) annotated: bool,
}

/// The facts about one statement.
#[derive(Debug, Clone, Default)]
pub(in crate::trace) struct Fact {
    /// The status of the statement, if recorded.
    pub(in crate::trace) status: Option<NodeStatus>,
    /// The statement's line in the state file's trace, from 0.
    pub(in crate::trace) state_line: Option<u32>,
    /// Whether the tie between that line and the statement is a guess.
    pub(in crate::trace) guessed: bool,
    /// The evidence for the tie between the statement and its line in the state file.
    pub(in crate::trace) by: Option<TiedBy>,
    /// Whether the statement is marked as not yet reached, as by `[...next...]`.
    pub(in crate::trace) ahead: bool,
    pub(in crate::trace) attempt: Option<(u32, Option<u32>)>,
    /// The id of the gate at which the statement waits.
    pub(in crate::trace) gate: Option<Text>,
    /// Whether the state file marks the statement as a declaration.
    pub(in crate::trace) declared: bool,
    /// Whether a binding on disk is the only evidence that the statement ran.
    pub(in crate::trace) derived: bool,
    /// The statement's entry in "Active Constructs": an index into the file's parallels or loops.
    pub(in crate::trace) construct: Option<usize>,
    /// The current round of a loop: from the state file, or from a binding on disk of a later round.
    pub(in crate::trace) round: Option<u32>,
    /// The block whose body contains the statement.
    pub(in crate::trace) block: Option<u32>,
    /// The innermost loop around the statement.
    pub(in crate::trace) in_loop: Option<u32>,
    /// Whether the statement is inside an `if`, a `choice` or a `try`, so that it may never run.
    pub(in crate::trace) may_not_run: bool,
}

/// An annotated line of a state file that is not in the program.
pub(in crate::trace) struct Stray {
    pub(in crate::trace) fact: Fact,
    pub(in crate::trace) text: Text,
    /// The statement around the line, by the indentation of the state file's trace.
    pub(in crate::trace) inside: Option<u32>,
    /// The last statement that was tied to a line before this line.
    pub(in crate::trace) after: Option<u32>,
}

impl<'a> LineEvidence<'a> {
    /// Ties the annotated lines of the state file. `told` is the file's trace, scanned as a program.
    pub(in crate::trace) fn of(
        run: &Run,
        listing: &'a Listing,
        told: &Listing,
        is_trace: bool,
        ledger: &mut Ledger,
    ) -> LineEvidence<'a> {
        let mut facts = LineEvidence {
            listing,
            of: surroundings(listing),
            strays: Vec::new(),
            blocks: BTreeMap::new(),
            is_trace,
            annotated: false,
        };
        for (at, statement) in (0..).zip(&listing.statements) {
            if let (StatementKind::Block, Some(name)) = (statement.kind, statement.name.as_deref())
            {
                facts.blocks.entry(name).or_insert(at);
            }
        }
        facts.tie(run, told, ledger);
        facts
    }

    pub(in crate::trace) fn get(&self, statement: u32) -> Option<&Fact> {
        self.of.get(statement as usize)
    }

    pub(in crate::trace) fn statement(&self, statement: u32) -> Option<&'a Statement> {
        self.listing.get(statement)
    }

    /// Removes facts that are about another frame than the block's innermost frame: `# --> bindings/parts__41.md` while
    /// frame 43 is running. The binding itself still records that the statement ran in frame 41.
    pub(in crate::trace) fn part(&mut self, run: &Run, innermost: &BTreeMap<u32, i64>) {
        let Some(file) = run.state_file.as_ref().filter(|_| !innermost.is_empty()) else {
            return;
        };
        let indexed: BTreeMap<&str, i64> = file
            .bindings
            .iter()
            .filter_map(|row| Some((&*row.path, row.execution_id?)))
            .collect();
        for fact in &mut self.of {
            let line = fact
                .state_line
                .and_then(|line| file.trace.get(line as usize));
            let path = line.and_then(|line| line.annotation.as_ref()?.path.as_deref());
            let frame = path.and_then(|path| indexed.get(path).copied().or_else(|| frame_of(path)));
            let current = fact.block.and_then(|block| innermost.get(&block).copied());
            if current.is_some() && frame.is_some() && frame != current {
                fact.take(Fact::default());
            }
        }
    }

    fn tie(&mut self, run: &Run, told: &Listing, ledger: &mut Ledger) {
        let Some(file) = &run.state_file else { return };
        let said = annotations(run, told);
        let mut ties = self.listing.ties();
        let mut often: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for statement in &told.statements {
            often.entry(&statement.text).or_default().1 += 1;
        }
        let mut after: Option<u32> = None;
        // The tied statements of the trace. Statements without an annotation are included, because annotated
        // statements may be inside of them.
        let mut tied: Vec<Option<u32>> = Vec::with_capacity(told.statements.len());
        let mut strays = 0_u32;
        for (at, statement) in (0_usize..).zip(&told.statements) {
            let mut nth = (0, 0);
            if let Some(came) = often.get_mut(statement.text.as_str()) {
                nth = *came;
                came.0 += 1;
            }
            let line = file
                .trace
                .get(statement.line.saturating_sub(1) as usize)
                .and_then(|l| l.line);
            let is_trace = self.is_trace.then_some(at as u32);
            let exact = is_trace.or_else(|| self.same_line(line?, told, statement.line));
            let tie = match exact {
                Some(statement) => super::tied(statement, TiedBy::Text),
                // A line is searched for in the program only if it is annotated or may contain annotated lines.
                None if said.contains_key(&(at as u32)) || statement.kind.has_body() => {
                    ties.tie_nth(&told.own_text(at as u32), nth, after)
                }
                None => None,
            };
            if let Some(tie) = tie.filter(|tie| !tie.guessed) {
                after = Some(tie.statement);
            }
            tied.push(tie.map(|tie| tie.statement));
            let Some((line, annotation)) = said.get(&(at as u32)) else {
                continue;
            };
            self.annotated = true;
            let fact = fact(*line, annotation, tie);
            match tie.and_then(|tie| self.of.get_mut(tie.statement as usize)) {
                // Of two lines for the same statement, the later line is closer to the run's position.
                Some(known) if known.state_line.is_none() || !fact.ahead => known.take(fact),
                Some(_) => {}
                None if fact.declared => {}
                None => {
                    strays += 1;
                    let inside = statement
                        .parent
                        .and_then(|p| tied.get(p as usize).copied().flatten());
                    let text = statement.text.as_str().into();
                    self.strays.push(Stray {
                        fact,
                        text,
                        inside,
                        after,
                    });
                }
            }
        }
        // A folder with receipts identifies statements by ids of its own, which are not in the program.
        let by_receipts = matches!(
            run.form,
            Form::Folder {
                form: FolderForm::Receipts
            }
        );
        if strays > 0 && !self.is_trace && !by_receipts {
            ledger.note(Severity::Note, "trace-beyond-program", || {
                Issue::noted("", format!("{strays} annotated lines of the state file are not in the program"))
                    .at_file("state.md")
                    .hint("These lines are shown without a line number. The program may have been shortened or changed.")
            });
        }
    }

    /// Returns the statement that begins at `line` of the program, if its text equals line `told_line` of the trace.
    fn same_line(&self, line: u32, told: &Listing, told_line: u32) -> Option<u32> {
        let text = |listing: &Listing, line: u32| {
            listing
                .lines
                .get(line.checked_sub(1)? as usize)
                .map(|l| l.text.trim_end().to_owned())
        };
        let same = text(self.listing, line)? == text(told, told_line)?;
        let at = self.listing.statement_at(line).filter(|_| same)?;
        (self.statement(at)?.line == line).then_some(at)
    }
}

impl Fact {
    /// Takes the facts of a line, but keeps the facts about the statement's surroundings (block and loop).
    fn take(&mut self, said: Fact) {
        *self = Fact {
            block: self.block,
            in_loop: self.in_loop,
            may_not_run: self.may_not_run,
            ..said
        };
    }

    /// Whether the statement's start is recorded.
    pub(in crate::trace) fn ran(&self) -> bool {
        self.status.is_some()
    }

    /// Whether a mark in unknown words says what became of the statement. A file cannot settle what the words mean.
    pub(in crate::trace) fn is_in_other_words(&self) -> bool {
        matches!(&self.status, Some(NodeStatus::Other(word)) if !word.is_empty())
    }

    /// Whether the statement's end is recorded.
    pub(in crate::trace) fn is_over(&self) -> bool {
        self.status.as_ref().is_some_and(|status| !status.is_open())
    }
}

/// Returns the annotation of each statement of the trace, with its line in the file. An annotation on the statement's
/// own line takes precedence.
fn annotations<'r>(run: &'r Run, told: &Listing) -> BTreeMap<u32, (u32, &'r Annotation)> {
    let mut said: BTreeMap<u32, (u32, &Annotation)> = BTreeMap::new();
    let mut last: Option<u32> = None;
    let lines = run.state_file.iter().flat_map(|file| &file.trace);
    for (at, line) in (0_u32..).zip(lines) {
        let scanned = told.lines.get(at as usize);
        let own = scanned.and_then(|l| l.statement);
        if scanned.is_some_and(|l| l.role == LineRole::Statement) {
            last = own;
        }
        // An annotation on a separate line belongs to the statement above.
        let Some((annotation, statement)) = line.annotation.as_ref().zip(own.or(last)) else {
            continue;
        };
        let begins = told.get(statement).is_some_and(|s| s.line == at + 1);
        if begins {
            said.insert(statement, (at, annotation));
        } else {
            said.entry(statement).or_insert((at, annotation));
        }
    }
    said
}

fn fact(line: u32, annotation: &Annotation, tie: Option<Tie>) -> Fact {
    let status = match &annotation.status {
        _ if annotation.ahead || annotation.declared => None,
        // An annotation with a path but without a status means that the binding was written.
        None => Some(NodeStatus::Completed),
        Some(Status::Other(said)) => Some(match &**said {
            "approved" => NodeStatus::Approved,
            "rejected" => NodeStatus::Rejected,
            "timed out" => NodeStatus::Timeout,
            "abandoned" => NodeStatus::Abandoned,
            _ => NodeStatus::Other(said.clone()),
        }),
        Some(status) => Some(word(status)),
    };
    Fact {
        status,
        state_line: Some(line),
        guessed: tie.is_some_and(|tie| tie.guessed),
        by: tie.map(|tie| tie.by),
        ahead: annotation.ahead,
        declared: annotation.declared,
        attempt: annotation.attempt,
        gate: annotation.gate.clone(),
        ..Fact::default()
    }
}

/// Returns for each statement the block and the loop around it, and whether it may never run. Takes linear time,
/// because parents precede their children.
fn surroundings(listing: &Listing) -> Vec<Fact> {
    use StatementKind as K;
    let mut of: Vec<Fact> = Vec::with_capacity(listing.statements.len());
    for (at, statement) in (0_u32..).zip(&listing.statements) {
        let parent = statement.parent.filter(|p| *p < at);
        let above = parent
            .and_then(|p| of.get(p as usize).cloned())
            .unwrap_or_default();
        let outer = parent.and_then(|p| listing.get(p)).map(|s| s.kind);
        let optional = matches!(
            outer,
            Some(
                K::If | K::Elif | K::Else | K::Choice | K::Option | K::Try | K::Catch | K::Finally
            )
        );
        of.push(Fact {
            block: if outer == Some(K::Block) {
                parent
            } else {
                above.block
            },
            // A block's body runs in its own frames, so a loop around the declaration does not count.
            in_loop: match outer {
                Some(K::Block) => None,
                Some(kind) if kind.is_loop() => parent,
                _ => above.in_loop,
            },
            may_not_run: optional || above.may_not_run,
            ..Fact::default()
        });
    }
    of
}

/// Returns the frame in a binding's file name: `bindings/parts__41.md` belongs to frame 41.
fn frame_of(path: &str) -> Option<i64> {
    let stem = path.rsplit('/').next()?;
    let (name, digits) = stem.strip_suffix(".md").unwrap_or(stem).rsplit_once("__")?;
    let plain = !name.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}
