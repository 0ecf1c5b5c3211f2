//! The examples in the help of each command. A test runs those of commands that read, with the example runs
//! (`cli/tests/cli_reference.rs`), and the test below parses all of them.

use clap::Command;

/// The commands, each with its examples: the words after `prosescope`, and what they do.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "runs",
        &[
            ("runs --status failed,interrupted", "the runs that stopped"),
            (
                "runs --since 7d --sort problems",
                "the last week, what needs attention first",
            ),
        ],
    ),
    (
        "show",
        &[
            ("show", "the newest run"),
            (
                "show 20260118 --exit-status",
                "exit code 1 unless the run completed",
            ),
            (
                "show 20260118 --for-model --size 32",
                "Markdown to ask a model about",
            ),
        ],
    ),
    (
        "trace",
        &[
            ("trace 20260118", "the tree of statements"),
            ("trace 20260118 --node 26", "all about statement #26"),
            ("trace 20260118 --sort longest", "what took longest"),
        ],
    ),
    (
        "program",
        &[(
            "program 20260118",
            "the program, and what became of each line",
        )],
    ),
    (
        "state",
        &[("state 20260115", "state.md, as the run's data have it")],
    ),
    (
        "bindings",
        &[(
            "bindings 20260112",
            "the names, sizes and beginnings of all values",
        )],
    ),
    (
        "get",
        &[
            ("get verdict --run 20260112", "a value, byte for byte"),
            (
                "get findings --run 20260118 --from 26",
                "what the name means in statement #26",
            ),
        ],
    ),
    (
        "search",
        &[
            ("search torque --run 20260118", "one run"),
            ("search \"fixed wait\" --all", "every run of the project"),
        ],
    ),
    (
        "diff",
        &[(
            "diff 20260118 20260112 --anyway",
            "two runs, also of different programs",
        )],
    ),
    ("cost", &[("cost 20260118", "what the run itself reports")]),
    (
        "query",
        &[
            ("query 20260118", "the tables that can be asked"),
            (
                "query 20260118 --ask longest",
                "an answer that is ready-made",
            ),
            (
                "query 20260118 \"SELECT name, kind FROM bindings\"",
                "a question in SQL",
            ),
        ],
    ),
    ("agents", &[("agents 20260112", "the agents of a run")]),
    (
        "view",
        &[("view 20260118", "opens the run; Ctrl-C ends the server")],
    ),
    (
        "resume",
        &[
            ("resume 20260115", "what is done, and what comes next"),
            (
                "resume 20260115 --prompt",
                "the same, as a prompt for a model",
            ),
        ],
    ),
    ("next", &[("next 20260125", "the next command of the run")]),
    (
        "check",
        &[
            (
                "check 20260125 --deny warning",
                "exit code 1 if there is a warning",
            ),
            ("check --explain gate-overdue", "what a rule means"),
            ("check hunt-flaky-tests.prose", "a program, before it runs"),
        ],
    ),
    (
        "gates",
        &[("gates", "what waits for a decision, in all runs")],
    ),
    (
        "gate",
        &[(
            "gate show production_deploy --run 20260125",
            "what is to be decided",
        )],
    ),
    (
        "approve",
        &[(
            "approve 20260125 production_deploy --comment \"figures checked\"",
            "lets the run go on",
        )],
    ),
    (
        "reject",
        &[(
            "reject 20260125 production_deploy --reason \"wait for Monday\"",
            "the program says what follows",
        )],
    ),
    ("audit", &[("audit 20260125", "who decided what, and when")]),
    (
        "init",
        &[("init program.prose --state sqlite", "prints the run's id")],
    ),
    ("begin", &[("begin 14", "the statement at line 14")]),
    (
        "put",
        &[(
            "put draft --into 3 --file draft.md",
            "the value of statement #3",
        )],
    ),
    (
        "end",
        &[("end 3", "a statement, loop or parallel without a value")],
    ),
    ("round", &[("round 3", "the loop goes on")]),
    (
        "fail",
        &[("fail 3 \"the answer was cut off\"", "with the reason")],
    ),
    ("retry", &[("retry 3", "another attempt")]),
    (
        "skip",
        &[("skip 17 --because \"not needed\"", "passes over line 17")],
    ),
    (
        "finish",
        &[
            ("finish", "the run is completed"),
            ("finish failed", "the run failed"),
        ],
    ),
    (
        "brief",
        &[("brief 3", "what the subagent of statement #3 is told")],
    ),
    (
        "agent",
        &[("agent memory get captain", "what an agent remembers")],
    ),
    (
        "share",
        &[
            ("share 20260118 -o run.html", "a page with the viewer in it"),
            (
                "share 20260118 --report",
                "what would be replaced; writes nothing",
            ),
        ],
    ),
    (
        "convert",
        &[("convert 20260118 --to filesystem", "a copy as a folder")],
    ),
    (
        "clean",
        &[("clean --status failed", "lists what --yes would remove")],
    ),
    (
        "postgres",
        &[("postgres status", "what the database contains")],
    ),
    (
        "workflow",
        &[("workflow list", "the workflows of this project")],
    ),
    (
        "doctor",
        &[("doctor", "the tools, and the runs of this folder")],
    ),
    (
        "skill",
        &[
            ("skill", "for the agents of this project"),
            (
                "skill --for claude --user",
                "for Claude Code in all projects",
            ),
        ],
    ),
    (
        "completions",
        &[("completions bash", "the script for bash")],
    ),
];

/// Adds the examples to the help of a command, before what else stands below its options.
pub(super) fn added(command: Command) -> Command {
    let Some((_, examples)) = EXAMPLES.iter().find(|(of, _)| *of == command.get_name()) else {
        return command;
    };
    let width = examples.iter().map(|(words, _)| words.len()).max();
    let mut text = "Examples:".to_owned();
    for (words, about) in *examples {
        let width = width.unwrap_or_default();
        text.push_str(&format!("\n  prosescope {words:<width$}  {about}"));
    }
    if let Some(below) = command.get_after_help() {
        text.push_str(&format!("\n\n{below}"));
    }
    command.after_help(text)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::EXAMPLES;
    use crate::args::{Cli, parse};

    #[test]
    fn every_command_has_examples_that_are_valid() {
        for (command, examples) in EXAMPLES {
            for (words, _) in *examples {
                assert!(words.starts_with(command), "{words}");
                let quoted = words.split('"').enumerate();
                let words: Vec<_> = quoted
                    .flat_map(|(n, part)| match n % 2 {
                        0 => part.split_whitespace().map(Into::into).collect(),
                        _ => vec![part.into()],
                    })
                    .collect();
                let line = [vec!["prosescope".into()], words].concat();
                if let Err(error) = parse(&line) {
                    panic!("{line:?}: {error}");
                }
            }
        }
        let known = Cli::command();
        let known = known.get_subcommands().filter(|of| !of.is_hide_set());
        let without = known.filter(|of| EXAMPLES.iter().all(|(name, _)| *name != of.get_name()));
        let without: Vec<&str> = without.map(clap::Command::get_name).collect();
        assert_eq!(without, [] as [&str; 0]);
    }
}
