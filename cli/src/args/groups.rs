//! Groups the commands under headings in `prosescope --help`.

use clap::Command;

use super::wrapped::text_of;

/// The headings of the help, each with its commands. Each command occurs once.
const GROUPS: [(&str, &[&str]); 7] = [
    (
        "Look at runs",
        &[
            "runs", "show", "trace", "program", "bindings", "get", "search", "agents", "state",
            "diff", "cost", "query", "view",
        ],
    ),
    ("Continue a run", &["resume", "next", "check"]),
    (
        "Decide gates",
        &["gates", "gate", "approve", "reject", "audit"],
    ),
    (
        "Record a run",
        &[
            "init", "begin", "put", "end", "round", "fail", "retry", "skip", "finish", "brief",
            "agent",
        ],
    ),
    (
        "Share, copy and remove runs",
        &["share", "convert", "clean"],
    ),
    ("Servers and workflows", &["postgres", "workflow"]),
    ("This program", &["doctor", "skill", "completions"]),
];

const EXAMPLES: &str = "\
Examples:
  prosescope show                what the newest run did, where it stopped and why
  prosescope trace 20260118      the statements of the run whose id begins with 20260118
  prosescope path/to/state.db    the same as `prosescope show path/to/state.db`
  prosescope view                the newest run in a browser
  prosescope help vm             how a model records a run
  prosescope help licenses       the licenses of the libraries in this program";

const ENVIRONMENT: &str = "\
Environment:
  PROSE_RUN                      the run of a command that does not name a run
  OPENPROSE_POSTGRES_URL         the database of runs in PostgreSQL
  PROSE_NOW                      the current time for commands that only read (RFC 3339)
  NO_COLOR                       turns colours off";

/// Adds a help text that lists the commands below their headings, wrapped to `width` columns.
pub(super) fn grouped(command: Command, width: usize) -> Command {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        text.push_str(&format!("\n{heading}:\n"));
        for name in names {
            let found = command.find_subcommand(name);
            let about = found.and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text.push_str(&format!("  {name:<12} {about}\n"));
        }
    }
    let commands = text_of(&text, width);
    let below = text_of(&format!("{EXAMPLES}\n\n{ENVIRONMENT}"), width);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n       prosescope PATH\n{commands}\n\
         \nOptions:\n{{options}}\n\n{below}{{after-help}}"
    ))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::GROUPS;
    use crate::args::Cli;

    #[test]
    fn every_command_is_listed_once_on_a_line_of_its_own() {
        let command = Cli::command();
        let mut known: Vec<&str> = command
            .get_subcommands()
            .filter(|c| !c.is_hide_set())
            .map(|c| c.get_name())
            .collect();
        known.sort_unstable();
        let mut listed: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        listed.sort_unstable();
        assert_eq!(listed, known);
        for of in command.get_subcommands() {
            let about = of.get_about().map(ToString::to_string).unwrap_or_default();
            assert!((1..66).contains(&about.len()), "{}: {about}", of.get_name());
        }
    }
}
