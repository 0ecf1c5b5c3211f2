//! Adds examples to the help of each command. A test runs those of commands that read, with the example runs
//! (`cli/tests/cli_reference.rs`), and the test below parses all of them.

use clap::Command;

/// The examples, one on a line: the words after `prosescope`, of which the first is the command, and what they do.
const EXAMPLES: &str = include_str!("examples.txt");

/// Returns the examples, each with what it does.
fn examples() -> impl Iterator<Item = (&'static str, &'static str)> {
    EXAMPLES.lines().filter_map(|line| line.split_once("  # "))
}

/// Returns the command of an example.
fn command_of(words: &str) -> &str {
    words.split(' ').next().unwrap_or_default()
}

/// Adds the examples to the help of a command, before the other text below its options.
pub(super) fn added(command: Command) -> Command {
    let own = || examples().filter(|(words, _)| command_of(words) == command.get_name());
    let width = own()
        .map(|(words, _)| words.len())
        .max()
        .unwrap_or_default();
    let mut text = "Examples:".to_owned();
    for (words, about) in own() {
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

    use super::{EXAMPLES, command_of, examples};
    use crate::args::{Cli, parse};

    #[test]
    fn every_command_has_examples_that_are_valid() {
        assert_eq!(examples().count(), EXAMPLES.lines().count());
        for (words, _) in examples() {
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
        let known = Cli::command();
        let known = known.get_subcommands().filter(|of| !of.is_hide_set());
        let with: Vec<&str> = examples().map(|(words, _)| command_of(words)).collect();
        let without = known.filter(|of| !with.contains(&of.get_name()));
        let without: Vec<&str> = without.map(clap::Command::get_name).collect();
        assert_eq!(without, [] as [&str; 0]);
    }
}
