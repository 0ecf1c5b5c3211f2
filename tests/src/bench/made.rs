//! Builds, in memory, the runs that the benchmarks measure.

use std::fmt::Write as _;
use std::sync::Arc;

use prosescope_core::model::{Execution, Meta, Program, Run, RunStatus, Status};

/// The structure of a run's statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Each statement has a program line of its own; a tenth of the statements are parallels with branches.
    Lines,
    /// The statements are those of the many rounds of a loop of ten lines.
    Rounds,
    /// The statements are calls of a block that calls itself, each with one session.
    Frames,
}

impl Shape {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Shape::Lines => "a program as long as its run, parallels among its statements",
            Shape::Rounds => "a loop of ten statements, round after round",
            Shape::Frames => "a block that calls itself, as deep as half the statements",
        }
    }
}

/// Returns a run with this structure and number of executed statements, each with a row, and its program.
pub(crate) fn run_of(shape: Shape, statements: usize) -> Run {
    let mut made = Made::default();
    match shape {
        Shape::Lines => made.lines(statements),
        Shape::Rounds => made.rounds(statements),
        Shape::Frames => made.frames(statements),
    }
    Run {
        id: "20260110-000000-bench1".into(),
        status: Some(RunStatus::Completed),
        program: Program {
            source: Some(made.program.into()),
            ..Program::default()
        },
        executions: made.rows,
        ..Run::default()
    }
}

#[derive(Default)]
struct Made {
    rows: Vec<Execution>,
    program: String,
}

impl Made {
    fn row(
        &mut self,
        parent: Option<i64>,
        index: usize,
        text: String,
        status: Status,
        meta: Option<Meta>,
    ) -> i64 {
        let id = self.rows.len() as i64 + 1;
        self.rows.push(Execution {
            parent,
            index: Some(index as i64),
            text: text.into(),
            meta: meta.map(Arc::new),
            ..Execution::new(id, status)
        });
        id
    }

    fn lines(&mut self, statements: usize) {
        let mut index = 0;
        while self.rows.len() < statements {
            index += 1;
            if index % 20 == 0 {
                let (a, b) = (
                    format!("a{index} = session \"A {index}\""),
                    format!("b{index} = session \"B {index}\""),
                );
                let _ = writeln!(self.program, "parallel:\n  {a}\n  {b}");
                let meta = |branch: &str| Meta {
                    parallel_id: Some(format!("p{index}").into()),
                    branch: Some(branch.into()).filter(|b: &Arc<str>| !b.is_empty()),
                    ..Meta::default()
                };
                let parent = self.row(
                    None,
                    index,
                    "parallel:".into(),
                    Status::Completed,
                    Some(meta("")),
                );
                self.row(Some(parent), index, a, Status::Completed, Some(meta("a")));
                self.row(Some(parent), index, b, Status::Completed, Some(meta("b")));
            } else {
                let text = format!("let v{index} = session \"Step {index}\"");
                let _ = writeln!(self.program, "{text}");
                self.row(None, index, text, Status::Completed, None);
            }
        }
    }

    fn rounds(&mut self, statements: usize) {
        let meta = |round: usize| {
            Some(Meta {
                loop_id: Some("l1".into()),
                iteration: Some(round as i64),
                ..Meta::default()
            })
        };
        let head = "loop until **done**:";
        let _ = writeln!(self.program, "{head}");
        for step in 1..=9 {
            let _ = writeln!(self.program, "  session \"Step {step}\"");
        }
        let parent = self.row(None, 1, head.into(), Status::Started, meta(0));
        while self.rows.len() < statements {
            for step in 1..=9 {
                self.row(
                    Some(parent),
                    1 + step,
                    format!("session \"Step {step}\""),
                    Status::Completed,
                    None,
                );
            }
            let round = self.rows.len() / 10;
            self.row(None, 1, head.into(), Status::Iteration, meta(round));
        }
    }

    fn frames(&mut self, statements: usize) {
        self.program
            .push_str("block deeper():\n  session \"Look\"\n  do deeper()\n\ndo deeper()\n");
        let mut above = None;
        while self.rows.len() < statements {
            let frame = self.row(above, 2, "do deeper()".into(), Status::Executing, None);
            self.row(
                Some(frame),
                1,
                "session \"Look\"".into(),
                Status::Completed,
                None,
            );
            above = Some(frame);
        }
    }
}
