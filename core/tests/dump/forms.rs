//! Generates random runs in each format: as rows, as compact logs, and as state files with bindings.

use prosescope_core::model::{Program, Run, RunStatus, Status};

use crate::runs::{NOW, folded, opened};
use crate::simulate::{Simulated, Truth};
use crate::text::Dumped;

/// Number of runs in each format.
const ROWS: u64 = 120;
const LOGS: u64 = 100;
const STATES: u64 = 60;

pub(crate) fn rows() -> Vec<Dumped> {
    (0..ROWS)
        .map(|seed| Simulated::new(0x7e11_0000 + seed).into_rows(seed))
        .collect()
}

pub(crate) fn logs() -> Vec<Dumped> {
    (0..LOGS)
        .flat_map(|seed| Simulated::new(0x1095_0000 + seed).into_log(seed))
        .collect()
}

pub(crate) fn states() -> Vec<Dumped> {
    (0..STATES)
        .flat_map(|seed| Simulated::new(0x57a7_0000 + seed).into_state(seed))
        .collect()
}

/// A generated run that is recorded up to its end.
pub(crate) struct Whole {
    pub(crate) truth: Truth,
    pub(crate) rows: Run,
    pub(crate) program: String,
    pub(crate) log: String,
}

pub(crate) fn whole_stories() -> Vec<Whole> {
    let simulated = (0..ROWS).map(|seed| Simulated::new(0x7210_0000 + seed));
    let whole = simulated.filter(|simulated| simulated.is_whole);
    let story = |simulated: Simulated| Whole {
        rows: simulated.run_of_rows(),
        program: simulated.story.lines.join("\n"),
        log: simulated.log_text(),
        truth: simulated.truth,
    };
    whole.map(story).collect()
}
impl Simulated {
    /// Returns the run as its rows record it.
    fn run_of_rows(&self) -> Run {
        Run {
            status: self.status.map(RunStatus::parse),
            program: Program {
                source: Some(self.story.lines.join("\n").into()),
                ..Program::default()
            },
            executions: self.rows.clone(),
            gates: self.gates.clone(),
            ..Run::default()
        }
    }

    fn log_text(&self) -> String {
        let lines = self.log.join("\n");
        format!("# run:20260213-113205-told01 p.prose\n{lines}\n")
    }

    fn into_rows(self, seed: u64) -> Dumped {
        let habit = &self.habit;
        let name = format!(
            "rows {seed}: opens {}, in place {}, parents {}, {} statements",
            habit.opens,
            habit.in_place,
            habit.parents,
            self.story.steps.len()
        );
        let mut run = self.run_of_rows();
        if seed % 4 == 3 {
            run.program = Program::default();
        }
        folded(&name, &run, Some(NOW))
    }

    fn into_log(self, seed: u64) -> Vec<Dumped> {
        let mut files = vec![("state.md".to_owned(), self.log_text().into_bytes())];
        if seed % 4 != 3 {
            let program = self.story.lines.join("\n");
            files.push(("program.prose".to_owned(), program.into_bytes()));
        }
        opened(&format!("log {seed}"), files)
    }

    /// Returns the run as a state file and bindings. The state file marks the status of each line's last row. Its index
    /// lacks some of the bindings.
    fn into_state(mut self, seed: u64) -> Vec<Dumped> {
        let mut files = Vec::new();
        let mut file = |path: String, text: String| files.push((path, text.into_bytes()));
        let (mut trace, mut index) = (String::new(), String::new());
        for (n, line) in self.story.lines.iter().enumerate() {
            let last = self
                .rows
                .iter()
                .rfind(|row| row.index == Some(n as i64 + 1));
            let name = line.trim().strip_prefix("let ");
            let name = name.and_then(|rest| rest.split(' ').next());
            let is_over = |status: &Status| {
                matches!(status, Status::Completed | Status::Joined | Status::Exited)
            };
            let is_done = last.is_some_and(|row| is_over(&row.status));
            if let Some(name) = name.filter(|_| is_done && self.dice.throw(4) > 0) {
                let header = format!(
                    "# {name}\n\nkind: let\n\nsource:\n```prose\n{}\n```\n",
                    line.trim()
                );
                file(
                    format!("bindings/{name}.md"),
                    format!("{header}\n---\n\n{name}\n"),
                );
                if self.dice.throw(4) > 0 {
                    index.push_str(&format!("| {name} | let | bindings/{name}.md | (root) |\n"));
                }
            }
            let mark = match (last.map(|row| &row.status), name) {
                (None, _) => String::new(),
                (Some(status), Some(name)) if is_over(status) => {
                    format!("  # --> bindings/{name}.md")
                }
                (Some(status), None) if is_over(status) => "  # (complete)".to_owned(),
                (Some(Status::Failed), _) => "  # (failed: no wind)".to_owned(),
                (Some(Status::Skipped), _) => "  # (skipped)".to_owned(),
                (Some(Status::Iteration), _) => "  # iteration 1/3".to_owned(),
                (Some(Status::Waiting), _) => "  # <-- WAITING".to_owned(),
                (Some(_), _) => "  # <-- EXECUTING".to_owned(),
            };
            trace.push_str(&format!("{line}{mark}\n"));
        }
        let status = self
            .status
            .map_or_else(String::new, |word| format!("status: {word}\n"));
        let head = format!(
            "# Execution State\n\nrun: 20260213-113205-told{seed}\nprogram: p.prose\n{status}"
        );
        let table = format!("| Name | Kind | Path | Execution ID |\n|---|---|---|---|\n{index}");
        let text = format!(
            "{head}\n## Execution Trace\n\n```prose\n{trace}```\n\n## Index\n\n### Bindings\n\n{table}"
        );
        file("state.md".to_owned(), text);
        if seed % 4 != 3 {
            file("program.prose".to_owned(), self.story.lines.join("\n"));
        }
        opened(&format!("state {seed}"), files)
    }
}
