//! Writes briefs: the instructions that `brief` prints for a subagent, with the place of the output and the command
//! that writes the output (OpenProse's sqlite.md, "From Subagents"; filesystem.md, "Subagent Output Writing").
//!
//! In OpenProse, the VM inserts the value into SQL or into a file, where a quote in the value does harm. Therefore a
//! brief names `prosescope` commands, which read the value from standard input.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::model::shell::{command, option, word};
use crate::program::Listing;

/// The work of one session, for the subagent that carries it out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TaskView {
    /// The name of the binding that the session writes; `None` for an anonymous binding (`put --anon`).
    pub binding: Option<String>,
    /// The kind of the binding: `input`, `output`, `let` or `const`; `None` for an anonymous binding.
    pub kind: Option<String>,
    /// The place of the output: a file, or a row of a database.
    pub location: String,
    /// The frame in which the session's names are resolved; `None` is the root.
    pub frame: Option<FrameView>,
    /// The persistent agent that carries out the session; `None` if no agent with a memory does.
    pub agent: Option<AgentOfTask>,
    /// The agent that the program declares for the session; `None` if the session names no declared agent.
    pub role: Option<RoleOfTask>,
    /// The session's prompt; `None` if the statement has no prompt.
    pub prompt: Option<String>,
    /// What the program sets for the session or its agent, such as the model, skills and permissions.
    pub settings: Vec<SettingOfTask>,
    /// The error of the previous attempt; `None` if there was no previous attempt, or if its error was not recorded.
    pub failed: Option<String>,
    /// The values that the session receives: the names in its prompt and its context.
    pub inputs: Vec<InputOfTask>,
    /// The command that writes the output and completes the execution. It reads the output from standard input.
    pub put: String,
    /// The whole task as instructions for the subagent, in Markdown.
    pub brief: String,
}

/// The declared agent of a task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RoleOfTask {
    /// The name of the agent.
    pub name: String,
    /// The agent's own prompt; `None` if the declaration has none.
    pub prompt: Option<String>,
}

/// One property of a session or its agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SettingOfTask {
    /// The name in the program: `model`, `skills`, `permissions.bash`.
    pub name: String,
    /// The value in the program.
    pub value: String,
}

/// A value that a task receives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InputOfTask {
    /// The name of the value in the program.
    pub name: String,
    /// How the value can be read.
    pub state: InputState,
    /// The command that prints the value, or a larger value that contains it; `None` if the value is not in a binding.
    pub get: Option<String>,
    /// The value itself, if it is a text of the program or an error. Names in braces inside of it are inputs, too.
    pub value: Option<String>,
    /// An explanation of the value, or why it is missing; `None` if `get` is enough.
    pub note: Option<String>,
    /// The binding that has the value, by name and frame.
    #[serde(skip)]
    pub binding: Option<(String, Option<i64>)>,
}

/// How the value of an input can be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum InputState {
    /// The command `get` prints the value.
    Bound,
    /// The field `value` contains the value.
    Text,
    /// The value is a part of `value` or of what `get` prints; `note` names the part.
    Part,
    /// The run does not record the value; only the VM that runs the program has it.
    Told,
    /// The value is missing; `note` gives the reason.
    Missing,
    /// No binding has this name, so the text in braces may not be a name at all.
    #[default]
    Unknown,
}

/// What the VM does itself, without a subagent, after a statement has begun.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NextStep {
    /// The step, in a sentence.
    pub say: String,
    /// The command that ends the execution after that step.
    pub command: String,
}

/// A call of a block.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FrameView {
    /// The execution id of the call.
    pub id: i64,
    /// The name of the block.
    pub block: String,
    /// The depth of the call in frames, from 1.
    pub depth: i64,
}

/// The persistent agent that carries out a task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AgentOfTask {
    /// The name of the agent.
    pub name: String,
    /// How long the memory lives: `execution`, `project`, `user` or `custom`.
    #[cfg_attr(
        feature = "typescript",
        ts(as = "crate::pages::view::known::AgentScope")
    )]
    pub scope: String,
    /// The path of the memory, if the program declares one (scope `custom`).
    pub path: Option<String>,
}

impl AgentOfTask {
    /// Creates an agent with its scope and path as the program declares them. The memory of an undeclared agent lives
    /// as long as the run.
    pub fn new(name: &str, program: Option<&Listing>) -> AgentOfTask {
        let scope = program.and_then(|program| program.agent_scope(name));
        let scope = scope.unwrap_or_default();
        let path = program.and_then(|program| program.agent_path(name));
        AgentOfTask {
            name: name.to_owned(),
            scope: scope.word().to_owned(),
            path: path.map(str::to_owned),
        }
    }

    /// Returns the options of `prosescope agent` that select the agent's store.
    fn store(&self, run: &str) -> String {
        match &self.path {
            Some(path) => format!("{} {}", option("--path", path), option("--run", run)),
            None => format!("--scope {} {}", self.scope, option("--run", run)),
        }
    }
}

/// All facts from which a brief is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Brief {
    /// The task. [`TaskView::location`] is `….prose/runs/{id}/state.db`, or the file of the binding.
    pub task: TaskView,
    /// The run's id, as commands take it.
    pub run: String,
    /// The execution that the subagent carries out.
    pub execution: i64,
}

impl Brief {
    /// Returns the task with its instructions and with the commands for its inputs and its output.
    pub fn told(mut self) -> TaskView {
        self.find_inputs();
        TaskView {
            put: self.put(),
            brief: brief(&self),
            ..self.task
        }
    }

    /// Adds to each input the command that prints the input's value.
    fn find_inputs(&mut self) {
        for input in &mut self.task.inputs {
            let Some((name, scope)) = &input.binding else {
                continue;
            };
            let from = scope.map_or(String::new(), |id| format!(" --from {id}"));
            let run = option("--run", &self.run);
            input.get = Some(command("get", &[name], &format!("{run}{from}")));
        }
    }

    /// Returns the command that writes the output. The command reads the output from standard input.
    fn put(&self) -> String {
        let (run, id) = (option("--run", &self.run), self.execution);
        match &self.task.binding {
            Some(name) => format!("prosescope put {} --into {id} {run}", word(name)),
            None => format!("prosescope put --anon --into {id} {run}"),
        }
    }

    /// Returns the names of the files for the agent's memory and its segment.
    fn files(&self) -> (String, String) {
        let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
        let name = self.task.agent.as_ref().map_or("", |agent| &agent.name);
        let name: String = name.chars().map(plain).collect();
        let id = self.execution;
        (
            format!("{name}-{id}.memory.md"),
            format!("{name}-{id}.segment.md"),
        )
    }

    /// Returns whether the command that writes the output also writes the agent's memory. This is the case if the
    /// memory belongs to the run.
    fn remembers(&self) -> bool {
        let agent = self.task.agent.as_ref();
        agent.is_some_and(|agent| agent.scope == "execution")
    }
}

/// Writes the instructions as Markdown.
fn brief(of: &Brief) -> String {
    let mut out = String::new();
    let task = &of.task;
    if let Some(FrameView { id, block, depth }) = &task.frame {
        let _ = writeln!(
            out,
            "Execution scope:\n  execution_id: {id}\n  block: {block}\n  depth: {depth}\n"
        );
    }
    role(&mut out, task);
    if let Some(agent) = &task.agent {
        let (name, store) = (&agent.name, agent.store(&of.run));
        let _ = writeln!(
            out,
            "{} Read your memory first (exit code 3: there is none yet):\n\n```sh\nprosescope agent memory get {} {store}\n```\n",
            match task.role {
                Some(_) => "You keep a memory.".to_owned(),
                None => format!("You are the persistent agent {name}."),
            },
            word(name)
        );
    }
    if let Some(prompt) = &task.prompt {
        let _ = writeln!(out, "Your task:\n\n{}\n", quoted(prompt));
    }
    if let Some(error) = &task.failed {
        let _ = writeln!(out, "An earlier attempt failed:\n\n{}\n", quoted(error));
    }
    inputs(&mut out, &task.inputs);
    // The subagent writes by a command, so the brief shows the path of the database, but not the row.
    let place = task.location.split(" (bindings table").next();
    let place = place.unwrap_or_default();
    let _ = writeln!(out, "Your output is kept in:\n  {place}\n");
    let mut put = of.put();
    let mut with = String::new();
    if of.remembers() {
        // Branches run at the same time and may have the same working directory, so each has files of its own.
        let (memory, segment) = of.files();
        let _ = write!(put, " --memory {memory} --segment {segment}");
        with = format!(
            " First write your compacted memory to the file {memory}, and what you did this time to {segment}."
        );
    }
    let _ = writeln!(
        out,
        "When your output is complete, write it unchanged to the standard input of this command, or name a file that contains it (`--file PATH`).{with} The command also records that you are done.\n\n```sh\n{put} <<'END_OF_OUTPUT'\n…\nEND_OF_OUTPUT\n```\n"
    );
    let agent = task.agent.as_ref().filter(|_| !of.remembers());
    if let Some(agent) = agent {
        let (name, store) = (word(&agent.name), agent.store(&of.run));
        let _ = writeln!(
            out,
            "Then write your compacted memory, and what you did this time, each on standard input:\n\n```sh\nprosescope agent memory set {name} {store}\nprosescope agent segment add {name} --prompt 'what you were asked' {store}\n```\n"
        );
    }
    out.push_str(
        "Return only what `prosescope put` prints (`Binding written: …`), never the output itself.\n",
    );
    out
}

/// Writes what the program says of the session's agent, and of the session's model, skills and permissions.
fn role(out: &mut String, task: &TaskView) {
    if let Some(RoleOfTask { name, prompt }) = &task.role {
        let prompt = prompt
            .as_deref()
            .map(|prompt| format!(":\n\n{}", quoted(prompt)));
        let _ = writeln!(
            out,
            "You are the agent {}{}\n",
            one_line(name),
            prompt.as_deref().unwrap_or(".")
        );
    }
    let line = |of: &SettingOfTask| format!("- {}: {}", of.name, one_line(&of.value));
    let lines: Vec<String> = task.settings.iter().map(line).collect();
    if !lines.is_empty() {
        let _ = writeln!(out, "The program sets for you:\n\n{}\n", lines.join("\n"));
    }
}

/// Writes the inputs: first the commands that print values, then known values, then the missing values.
fn inputs(out: &mut String, inputs: &[InputOfTask]) {
    let of =
        |states: &'static [InputState]| inputs.iter().filter(|input| states.contains(&input.state));
    let note = |input: &InputOfTask| input.note.as_deref().map(one_line).unwrap_or_default();
    let commands: Vec<String> = inputs
        .iter()
        .filter_map(|input| {
            let get = input.get.as_deref()?;
            let plain = input.note.is_none();
            let note = note(input);
            Some(if plain {
                get.to_owned()
            } else {
                format!("{get}  # {}: {note}", input.name)
            })
        })
        .collect();
    if !commands.is_empty() {
        let commands = commands.join("\n");
        let _ = writeln!(out, "You are given:\n\n```sh\n{commands}\n```\n");
    }
    for input in inputs.iter().filter(|input| input.get.is_none()) {
        if let Some(value) = &input.value {
            let _ = writeln!(
                out,
                "{} is ({}):\n\n{}\n",
                input.name,
                note(input),
                quoted(value)
            );
        }
    }
    for (states, head) in [
        (
            &[InputState::Told, InputState::Part][..],
            "Not recorded: the VM that runs the program gives you",
        ),
        (&[InputState::Missing], "Missing"),
        (&[InputState::Unknown], "Without a value"),
    ] {
        let lines: Vec<String> = of(states)
            .filter(|input| input.get.is_none() && input.value.is_none())
            .map(|input| format!("- {}: {}", input.name, note(input)))
            .collect();
        if !lines.is_empty() {
            let _ = writeln!(out, "{head}:\n\n{}\n", lines.join("\n"));
        }
    }
}

/// Returns a note on one line. Texts of the program in a note may have several lines.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Marks a text of the run as a quotation, so that the reader does not take the text for instructions.
fn quoted(text: &str) -> String {
    let lines: Vec<String> = text
        .lines()
        .map(|line| format!("> {line}").trim_end().to_owned())
        .collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_says_what_it_is_and_one_command_ends_it() {
        let of = Brief {
            task: TaskView {
                location: "x".into(),
                binding: Some("draft".into()),
                kind: Some("let".into()),
                agent: Some(AgentOfTask::new("captain", None)),
                prompt: Some("Write\n```\nit".into()),
                inputs: vec![InputOfTask {
                    name: "plan".into(),
                    state: InputState::Bound,
                    get: Some("prosescope get plan --run r --from 7".into()),
                    ..InputOfTask::default()
                }],
                ..TaskView::default()
            },
            run: "r".into(),
            execution: 7,
        };
        assert_eq!(of.put(), "prosescope put draft --into 7 --run r");
        let text = brief(&of);
        assert!(text.contains("> Write\n> ```\n> it\n"), "{text}");
        assert!(
            text.contains("prosescope get plan --run r --from 7"),
            "{text}"
        );
        assert!(
            text.contains("--run r --memory captain-7.memory.md --segment captain-7.segment.md <<"),
            "{text}"
        );
        assert!(!text.contains("agent memory set"), "{text}");
    }

    #[test]
    fn a_subagent_is_told_what_the_program_declares_for_it() {
        let program = "agent writer:\n  model: opus\n  prompt: \"You write\"\n  permissions:\n    bash: deny\nsession: writer\n  model: haiku\n  retry: 2\nsession \"Title\"\n  prompt: \"And more\"\n";
        let listing = crate::program::scan(program);
        let brief_of = |at: u32| {
            let task = TaskView::of(&listing, at, &listing).expect("a session");
            brief(&Brief {
                task,
                ..Brief::default()
            })
        };
        let text = brief_of(1);
        assert!(
            text.contains("You are the agent writer:\n\n> You write\n"),
            "{text}"
        );
        // The session's own model counts. How often the VM tries again is no business of the subagent.
        let set = "- model: haiku\n- permissions.bash: deny\n\n";
        assert!(text.contains(set) && !text.contains("retry"), "{text}");
        let text = brief_of(2);
        assert!(text.contains("> Title\n>\n> And more\n"), "{text}");
    }

    #[test]
    fn what_a_run_says_cannot_leave_its_quotes() {
        let text = brief(&Brief {
            task: TaskView {
                location: ".prose/runs/20260116-143052-a7b3c9/state.db".into(),
                binding: Some("it's $(rm -rf /)".into()),
                frame: Some(FrameView {
                    id: 43,
                    block: "process".into(),
                    depth: 3,
                }),
                ..TaskView::default()
            },
            run: "20260116-143052-a7b3c9".into(),
            execution: 44,
        });
        assert!(
            text.contains(r"prosescope put 'it'\''s $(rm -rf /)' --into 44 --run"),
            "{text}"
        );
        assert!(
            text.contains("execution_id: 43\n  block: process\n  depth: 3"),
            "{text}"
        );
    }
}
