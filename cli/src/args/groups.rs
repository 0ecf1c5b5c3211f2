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

/// The headings whose commands `-h` describes; it only names the others, so that it fits a screen.
const SHORT: [&str; 4] = [
    "Look at runs",
    "Continue a run",
    "Share, copy and remove runs",
    "This program",
];

const MORE: &str = "\
`prosescope --help` describes every command, with examples, variables of the environment and exit codes. \
`prosescope COMMAND --help` prints a command's options.";

/// Adds help texts that list the commands below their headings, wrapped to `width` columns: all of them for `--help`,
/// the first ones for `-h`.
pub(super) fn grouped(command: Command, width: usize) -> Command {
    let (mut long, mut short) = (String::new(), String::new());
    for (heading, names) in GROUPS {
        let mut each = String::new();
        for name in names {
            let found = command.find_subcommand(name);
            let about = found.and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            each.push_str(&format!("  {name:<12} {about}\n"));
        }
        long.push_str(&format!("{heading}:\n{each}\n"));
        if !SHORT.contains(&heading) {
            each = format!("  {}\n", names.join(", "));
        }
        short.push_str(&format!("{heading}:\n{each}\n"));
    }
    let below = command.get_after_long_help();
    let below = below.map(ToString::to_string).unwrap_or_default();
    command
        .before_help(text_of(short.trim_end(), width))
        .before_long_help(text_of(long.trim_end(), width))
        .after_help(MORE)
        .after_long_help(text_of(
            &format!("{EXAMPLES}\n\n{ENVIRONMENT}\n\n{below}"),
            width,
        ))
        .help_template(
            "{about-with-newline}\n{usage-heading} {usage}\n       prosescope PATH\n\n\
             {before-help}Options:\n{options}{after-help}",
        )
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
