//! Parses the groups of commands in the program's help. The pages of docs/reference/commands and docs/reference/json
//! list the commands in the same groups.

/// A group of commands under one heading of the help.
pub struct Group {
    /// The heading, without its colon.
    pub heading: String,
    /// Each command, with its summary in the help.
    pub commands: Vec<(String, String)>,
}

/// Returns the groups of the program's help: headings that end with a colon, above commands that are indented by two
/// blanks.
#[must_use]
pub fn groups(help: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let listed = help.split("\nOptions:").next().unwrap_or_default();
    for line in listed.lines() {
        if let Some(heading) = line.strip_suffix(':') {
            groups.push(Group {
                heading: heading.to_owned(),
                commands: Vec::new(),
            });
        }
        let command = line.strip_prefix("  ").and_then(|l| l.split_once(' '));
        if let (Some((name, about)), Some(group)) = (command, groups.last_mut()) {
            let command = (name.to_owned(), about.trim().to_owned());
            group.commands.push(command);
        }
    }
    groups
}

/// Returns the anchor with which a link refers to a heading: `read-a-run` for "Read a run".
#[must_use]
pub fn anchor(heading: &str) -> String {
    let lower = heading.to_lowercase();
    let kept = lower
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}
