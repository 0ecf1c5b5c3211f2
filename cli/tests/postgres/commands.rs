//! Records a run with every command, and collects all that the commands print about it, for other tests.

use serde_json::Value;

use crate::project::{Project, cluster};

pub(crate) const PROGRAM: &str = r#"use "https://p.prose.md/@alice/deep-research" as research

agent captain:
  persist: true

agent scholar:
  persist: project

agent friend:
  persist: user

let findings = research(topic: "AI safety")

parallel:
  a = session "Analyze risk A"
  b = session "Analyze risk B"

loop until **analysis complete** (max: 3):
  session "Synthesize"

block process(part):
  let result = session "Process {part}"

do process(a)

resume: captain
  prompt: "Review"

session: scholar
  prompt: "Note it"

session: friend
  prompt: "Remember it"

session "Send the letter"
  retry: 3

approve publish:
  prompt: "Publish it?"

approve later:
  prompt: "Later?"
  timeout: 1h

output report = session "Write the report"
"#;

/// The commands in their order: the standard input, the exit code, names for the printed ids, and the words of the
/// command. `{name}` stands for a printed id; the test appends the run.
pub(crate) const STEPS: Steps<'static> = &[
    ("", 0, "", "begin 1"),
    ("", 0, "import", "begin 12"),
    (
        "three findings",
        0,
        "",
        "put research.findings --kind output",
    ),
    (
        "three findings",
        0,
        "",
        "put findings --into {import} --not-done",
    ),
    ("", 0, "", "end {import}"),
    ("", 0, "parallel a b", "begin 14"),
    ("AI's `$(never)` \\x\n", 0, "", "put a --into {a}"),
    ("", 4, "", "end {parallel}"),
    ("B", 0, "", "put b --into {b} --not-done"),
    ("", 0, "", "end {b}"),
    ("", 0, "", "end {parallel}"),
    ("", 0, "loop", "begin 18"),
    ("", 0, "step", "begin 19 --parent {loop}"),
    ("round 1", 0, "", "put anon --into {step} --not-done"),
    ("", 0, "", "end {step}"),
    ("", 0, "", "round {loop}"),
    ("", 0, "", "end {loop} --because condition_satisfied"),
    ("", 0, "frame", "begin 24"),
    ("", 0, "inner", "begin 22 --parent {frame}"),
    ("depth 1", 0, "", "put result --into {inner} --not-done"),
    ("", 0, "", "brief {inner}"),
    ("", 0, "", "end {inner}"),
    ("", 0, "", "end {frame}"),
    ("", 0, "captain", "begin 26"),
    ("# Captain\n", 0, "", "agent memory set captain"),
    ("# Captain, again\n", 0, "", "agent memory set captain"),
    (
        "- reviewed\n",
        0,
        "",
        "agent segment add captain --prompt Review",
    ),
    ("", 0, "", "end {captain}"),
    ("", 0, "scholar", "begin 29"),
    ("of the project\n", 0, "", "agent memory set scholar"),
    (
        "- noted\n",
        0,
        "",
        "agent segment add scholar --prompt Note",
    ),
    ("", 0, "", "end {scholar}"),
    ("", 0, "friend", "begin 32"),
    ("of the user\n", 0, "", "agent memory set friend"),
    ("", 0, "", "end {friend}"),
    ("", 0, "letter", "begin 35"),
    ("", 0, "", "fail {letter} Connection_timeout"),
    ("", 0, "", "retry {letter} --max 3"),
    ("", 0, "", "end {letter}"),
    ("", 0, "", "gate create publish --line 38"),
    ("", 0, "", "gate show publish"),
    ("", 4, "", "begin 45"),
];

/// The steps of a script, each as in [`STEPS`].
pub(crate) type Steps<'a> = &'a [(&'a str, i32, &'a str, &'a str)];

pub(crate) fn record(project: &Project, run: &str) {
    record_all(project, run, STEPS, &mut Vec::new());
}

/// Records steps of a run. Adds the printed ids, with their names, to `ids`.
pub(crate) fn record_all<'a>(
    project: &Project,
    run: &str,
    steps: Steps<'a>,
    ids: &mut Vec<(&'a str, String)>,
) {
    for (input, code, name, command) in steps {
        let mut line = (*command).to_owned();
        for (known, id) in ids.iter() {
            line = line.replace(&format!("{{{known}}}"), id);
        }
        let mut args: Vec<&str> = line.split(' ').collect();
        match args[..] {
            ["gate", "show", gate] => args = vec!["gate", "show", run, gate],
            _ => args.extend(["--run", run]),
        }
        let out = project.give(&args, input.as_bytes());
        let said = crate::project::text(&out.stdout);
        let error = crate::project::text(&out.stderr);
        assert_eq!(
            out.status.code(),
            Some(*code),
            "{run}: {line}\n{said}{error}"
        );
        // The first word of each line is an id: of the execution, then of its branches.
        for (name, line) in name.split(' ').zip(said.lines()) {
            let id = line.split(' ').next().unwrap_or_default();
            ids.push((name, id.to_owned()));
        }
    }
}

/// Returns all that the commands print about a run. Leaves out ids, times and places, which depend on the store.
pub(crate) fn told(project: &Project, run: &str) -> Vec<String> {
    let mut told = Vec::new();
    let mut rows = |command: &str, path: &str, keys: &[&str]| {
        let mut args: Vec<&str> = command.split(' ').collect();
        args.push(run);
        let page = project.json(&args);
        let rows = match path {
            "" => page.clone(),
            path => page.pointer(path).unwrap_or(&Value::Null).clone(),
        };
        let rows = rows
            .as_array()
            .cloned()
            .unwrap_or_else(|| panic!("{command}: {page}"));
        for row in &rows {
            let cells = keys
                .iter()
                .map(|key| row.pointer(key).unwrap_or(&Value::Null).to_string());
            told.push(format!(
                "{command}: {}",
                cells.collect::<Vec<_>>().join(" ")
            ));
        }
    };
    rows(
        "trace",
        "/rows",
        &["/level", "/kind", "/status", "/text", "/line"],
    );
    rows(
        "bindings",
        "/rows",
        &["/name", "/kind", "/summary", "/scope", "/earlier"],
    );
    rows(
        "agents",
        "/agents",
        &["/name", "/scope", "/memory/text", "/segments"],
    );
    rows(
        "gates",
        "",
        &["/id", "/status", "/prompt", "/decided_by", "/comment"],
    );
    rows(
        "audit",
        "/rows",
        &["/gate_id", "/event", "/principal", "/comment"],
    );
    rows("check", "/runs", &["/issues", "/error"]);
    let mut words = |command: &str| {
        let mut args: Vec<&str> = command.split(' ').collect();
        args.push(run);
        let said = project.line(&args);
        let id = run.trim_start_matches("postgres:");
        let place = format!(".prose/runs/{id}");
        let said = said
            .replace(run, "RUN")
            .replace(&place, "RUN")
            .replace(id, "RUN");
        told.extend(
            said.lines()
                .map(|line| format!("{command}: {}", without_ids(line))),
        );
    };
    words("resume");
    words("state --all");
    told
}

#[test]
fn agents_of_a_project_and_of_the_user_are_used_by_later_runs() {
    let Some(cluster) = cluster() else {
        return;
    };
    let project = Project::new(PROGRAM, &cluster.database());
    let run = project.init("postgres");
    record(&project, &run);
    let shown = project.line(&["show", &run]);
    assert!(
        shown.contains("PostgreSQL") && !shown.contains("SQLite"),
        "{shown}"
    );
    // The next run of the project uses the same agents of the project. A run of another project does not use them.
    let next = project.init("postgres");
    let memory = project.line(&["agent", "memory", "get", "scholar", "--run", &next]);
    assert_eq!(memory, "of the project");
    let url = std::fs::read_to_string(project.path().join(".prose/.env")).unwrap();
    let other = Project::new(PROGRAM, "");
    std::fs::write(other.path().join(".prose/.env"), url).unwrap();
    other.trust();
    other.prose(
        3,
        &["agent", "memory", "get", "scholar", "--run", &next],
        "",
    );
    let memory = other.line(&["agent", "memory", "get", "friend", "--run", &next]);
    assert_eq!(memory, "of the user");
}

/// Returns a line without the numbers that are ids.
fn without_ids(line: &str) -> String {
    let is_id = |before: &str| {
        let ends = [
            "__",
            "execution ",
            "execution_id: ",
            "#",
            "id: ",
            "complete ",
            "retry ",
            "| ",
        ];
        ends.iter().any(|end| before.ends_with(end))
    };
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let len = from
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(from.len());
        let (number, after) = from.split_at(len);
        out.push_str(if is_id(&out) { "N" } else { number });
        rest = after;
    }
    out + rest
}
