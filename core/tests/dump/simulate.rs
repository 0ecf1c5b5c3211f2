//! Simulates runs of random programs. No program is executed: a random number decides how each statement ends. Each run
//! is recorded both as rows and as a log.

use std::collections::BTreeMap;
use std::sync::Arc;

use prosescope_core::model::{Execution, Gate, Meta, Status};
use prosescope_damage::Dice;

use crate::make::{gate_of, made};
use crate::story::{Step, Story, What};

/// Limit for the depth of nested calls.
const DEEPEST: usize = 3;

/// Limit for the rows of a run. A run with more rows ends, even if statements are left.
const MOST: usize = 200;

/// The style in which a run is recorded.
pub(crate) struct Habit {
    /// Whether the start of a statement gets a row of its own.
    pub(crate) opens: bool,
    /// Whether each execution has only one row, which later events update.
    pub(crate) in_place: bool,
    /// Whether `parent_id` is written.
    pub(crate) parents: bool,
}

/// A simulated run and its records.
pub(crate) struct Simulated {
    pub(crate) dice: Dice,
    pub(crate) story: Story,
    pub(crate) habit: Habit,
    pub(crate) rows: Vec<Execution>,
    pub(crate) gates: Vec<Gate>,
    pub(crate) log: Vec<String>,
    pub(crate) ids: usize,
    pub(crate) status: Option<&'static str>,
    /// Whether all events up to the end of the run are recorded.
    pub(crate) is_whole: bool,
    pub(crate) truth: Truth,
}

/// How often a session, branch or gate of each line ended with each status, as the random numbers decided.
pub(crate) type Truth = BTreeMap<(u32, String), usize>;

/// The place where a statement is executed.
#[derive(Clone, Copy, Default)]
struct At {
    /// The number of the call in a log.
    number: i64,
    parent: Option<i64>,
    frame: Option<i64>,
    depth: usize,
}

impl Simulated {
    pub(crate) fn new(seed: u64) -> Simulated {
        let mut dice = Dice::new(seed);
        let story = Story::new(&mut dice);
        let in_place = dice.throw(4) == 0;
        let mut simulated = Simulated {
            habit: Habit {
                opens: in_place || dice.throw(2) == 0,
                in_place,
                parents: dice.throw(2) == 0,
            },
            dice,
            story,
            rows: Vec::new(),
            gates: Vec::new(),
            log: Vec::new(),
            ids: 0,
            status: None,
            is_whole: false,
            truth: Truth::default(),
        };
        let steps = simulated.story.steps.clone();
        let went_well = simulated.all(&steps, At::default());
        let end = if went_well { "completed" } else { "failed" };
        simulated.status = Some(end);
        match simulated.dice.throw(6) {
            0 | 1 => simulated.cut(),
            2 => simulated.status = None,
            _ => {
                simulated.is_whole = simulated.rows.len() <= MOST;
                simulated.log.push(match went_well {
                    true => "---end 2026-02-13T10:57:50Z".to_owned(),
                    false => "---error 2026-02-13T10:57:50Z it broke".to_owned(),
                });
            }
        }
        simulated
    }

    /// Removes the records after a random moment, as if the recording had been interrupted.
    fn cut(&mut self) {
        let rows = self.dice.throw(self.rows.len() + 1);
        self.rows.truncate(rows);
        let lines = self.dice.throw(self.log.len() + 1);
        self.log.truncate(lines);
        self.status = Some("running");
    }

    /// Simulates statements in sequence; returns whether all succeeded.
    fn all(&mut self, steps: &[Step], at: At) -> bool {
        steps
            .iter()
            .all(|step| self.rows.len() > MOST || self.one(step, at))
    }

    fn one(&mut self, step: &Step, at: At) -> bool {
        match &step.what {
            What::Session => self.session(step, at),
            What::Parallel(branches) => self.parallel(step, branches, at),
            What::Loop(max, body) => self.rounds(step, *max, body, at),
            What::Call(block) => self.call(step, block, at),
            What::Gate => self.gate(step, at),
            What::Try(body, catch) => self.all(body, at) || self.all(catch, at),
            What::If(body) => {
                let holds = self.dice.throw(2) == 0;
                let word = if holds { "if: true" } else { "if(false) skip" };
                self.write(step, at, "", word);
                if !holds {
                    self.row(step, at, "skipped", Meta::default());
                }
                !holds || self.all(body, at)
            }
        }
    }

    fn session(&mut self, step: &Step, at: At) -> bool {
        let begun = self.begin(step, at, "executing", Meta::default());
        for attempt in 1..3 {
            let mark = if step.name.is_empty() {
                String::new()
            } else {
                format!("{} ", step.name)
            };
            if self.dice.throw(9) > 0 {
                self.write(step, at, "", &format!("{mark}✓"));
                self.end(begun, step, at, "completed", Meta::default());
                self.ended(step, "completed");
                return true;
            }
            self.write(step, at, "", &format!("{mark}✗ no wind"));
            if attempt == 2 || self.dice.throw(2) == 0 {
                break;
            }
            self.write(step, at, "", "retry:2/3");
            if !self.habit.in_place {
                self.row(step, at, "failed", Meta::default());
                let again = Meta {
                    attempt: Some(2),
                    max: Some(3),
                    ..Meta::default()
                };
                self.row(step, at, "retry", again);
            }
        }
        self.end(begun, step, at, "failed", Meta::default());
        self.ended(step, "failed");
        false
    }

    fn parallel(&mut self, step: &Step, branches: &[Step], at: At) -> bool {
        self.ids += 1;
        let id: Arc<str> = format!("p{}", self.ids).into();
        let names: Vec<Arc<str>> = branches.iter().map(|b| Arc::from(&*b.name)).collect();
        let meta = |branch: Option<&Arc<str>>| Meta {
            parallel_id: Some(Arc::clone(&id)),
            branch: branch.cloned(),
            branches: if branch.is_none() {
                names.clone()
            } else {
                Vec::new()
            },
            ..Meta::default()
        };
        let begun = self.begin(step, at, "started", meta(None));
        self.write(step, at, "", &format!("∥start {}", names.join(",")));
        let inside = self.inside(begun, at);
        let mut well = true;
        for (n, (branch, name)) in branches.iter().zip(&names).enumerate() {
            let letter = char::from(b'a' + n as u8).to_string();
            let went = self.dice.throw(8) > 0;
            let (mark, word) = if went {
                ("✓", "completed")
            } else {
                ("✗ no wind", "failed")
            };
            let row = self.begin(branch, inside, "executing", meta(Some(name)));
            self.write(step, at, &letter, &format!("{name} {mark}"));
            self.end(row, branch, inside, word, meta(Some(name)));
            self.ended(branch, word);
            well &= went;
        }
        self.write(step, at, "", if well { "∥done" } else { "∥done ✗" });
        self.end(
            begun,
            step,
            at,
            if well { "joined" } else { "failed" },
            meta(None),
        );
        well
    }

    fn rounds(&mut self, step: &Step, max: u32, body: &[Step], at: At) -> bool {
        self.ids += 1;
        let id: Arc<str> = format!("l{}", self.ids).into();
        let meta = |n: u32| Meta {
            loop_id: Some(Arc::clone(&id)),
            iteration: Some(i64::from(n)),
            max: Some(i64::from(max)),
            ..Meta::default()
        };
        let begun = self.begin(step, at, "started", meta(0));
        let inside = self.inside(begun, at);
        let rounds = 1 + self.dice.throw(max as usize) as u32;
        for n in 1..=rounds {
            self.write(step, at, "", &format!("loop:{n}/{max}"));
            if !self.all(body, inside) {
                self.end(begun, step, at, "failed", meta(n));
                return false;
            }
            if !self.habit.in_place {
                self.row(step, at, "iteration", meta(n));
            }
        }
        self.write(step, at, "", &format!("loop:{rounds}/{max} exit(**done**)"));
        let word = if self.habit.in_place {
            "completed"
        } else {
            "exited"
        };
        let last = Meta {
            in_place: self.habit.in_place,
            ..meta(rounds)
        };
        self.end(begun, step, at, word, last);
        true
    }

    fn call(&mut self, step: &Step, block: &str, at: At) -> bool {
        let body = self.story.blocks.iter().find(|(name, _)| name == block);
        let body = body.map(|(_, body)| body.clone()).unwrap_or_default();
        if at.depth >= DEEPEST {
            return true;
        }
        self.ids += 1;
        let meta = Meta {
            block: Some(block.into()),
            depth: Some(at.depth as i64 + 1),
            ..Meta::default()
        };
        let begun = self.begin(step, at, "executing", meta.clone());
        self.write(step, at, "", &format!("block:{block}#{}", self.ids));
        let inside = At {
            frame: Some(self.ids as i64),
            number: if at.frame.is_some() {
                at.number
            } else {
                step.number
            },
            depth: at.depth + 1,
            ..self.inside(begun, at)
        };
        let well = self.all(&body, inside);
        if well {
            self.write(step, inside, "", "done");
        }
        self.end(
            begun,
            step,
            at,
            if well { "completed" } else { "failed" },
            meta,
        );
        well
    }

    fn gate(&mut self, step: &Step, at: At) -> bool {
        let meta = Meta {
            gate_id: Some((*step.name).into()),
            ..Meta::default()
        };
        let begun = self.begin(step, at, "waiting", meta.clone());
        let well = self.dice.throw(6) > 0;
        let (word, mark, end) = match well {
            true => ("approved", "✓ approved", "completed"),
            false => ("rejected", "✗ rejected", "failed"),
        };
        self.write(step, at, "", &format!("gate:{} {mark}", step.name));
        if self.gates.iter().all(|gate| *gate.id != *step.name) {
            self.gates.push(gate_of(
                &serde_json::json!({ "id": step.name, "execution_id": begun, "status": word }),
            ));
        }
        self.end(begun, step, at, end, meta);
        self.ended(step, end);
        well
    }

    /// Returns the place for the statements of a body.
    fn inside(&self, begun: Option<i64>, at: At) -> At {
        At {
            parent: begun.or(at.parent),
            ..at
        }
    }

    /// Records the beginning of a statement if the style requires it; returns the row's id.
    fn begin(&mut self, step: &Step, at: At, word: &str, meta: Meta) -> Option<i64> {
        self.habit.opens.then(|| self.row(step, at, word, meta))
    }

    fn end(&mut self, begun: Option<i64>, step: &Step, at: At, word: &str, meta: Meta) {
        let own = begun.filter(|_| self.habit.in_place);
        match own.and_then(|id| self.rows.get_mut(id as usize - 1)) {
            Some(row) => {
                row.status = Status::parse(word);
                row.meta = Some(Arc::new(meta));
            }
            None => {
                self.row(step, at, word, meta);
            }
        }
    }

    fn ended(&mut self, step: &Step, status: &str) {
        let key = (step.line as u32, status.to_owned());
        *self.truth.entry(key).or_default() += 1;
    }

    fn row(&mut self, step: &Step, at: At, word: &str, meta: Meta) -> i64 {
        let id = self.rows.len() as i64 + 1;
        let parent = at.parent.filter(|_| self.habit.parents);
        let meta = (meta != Meta::default()).then(|| Arc::new(meta));
        let status = Status::parse(word);
        self.rows
            .push(made(id, parent, step.line, &step.text, status, &meta));
        id
    }

    fn write(&mut self, step: &Step, at: At, letter: &str, what: &str) {
        let frame = at.frame.map_or_else(String::new, |id| format!("#{id} "));
        let number = if at.frame.is_some() {
            at.number
        } else {
            step.number
        };
        self.log.push(format!("{number}{letter}→ {frame}{what}"));
    }
}
