//! Checks the workflows below .github: each action is pinned by commit, and each command of xtask exists.

use std::fs;

use prosescope_test_support::needs;

use crate::shell;

#[test]
fn every_action_is_pinned_by_commit() {
    let (mut pinned, mut commands) = (0, 0);
    let folder = needs::root().join(".github/workflows");
    for entry in fs::read_dir(folder).expect("the workflows") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a workflow");
        for line in text.lines() {
            let step = line.trim().trim_start_matches("- ");
            if let Some(action) = step.strip_prefix("uses: ") {
                // The comment names the version for people, and Dependabot keeps it up to date.
                let (commit, version) = action
                    .split_once('@')
                    .and_then(|(_, pin)| pin.split_once(" # v"))
                    .unwrap_or_default();
                let is_commit = commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit());
                assert!(
                    is_commit && version.starts_with(|c: char| c.is_ascii_digit()),
                    "{}: {line}",
                    path.display()
                );
                pinned += 1;
            }
            if let Some(at) = line.find("cargo xtask ") {
                let command = line[at..].split(')').next().unwrap_or_default();
                shell::is_of_xtask(command.trim_end_matches('"')).expect(line);
                commands += 1;
            }
        }
    }
    assert!(pinned > 10 && commands > 2, "{pinned} {commands}");
}
