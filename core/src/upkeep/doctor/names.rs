use super::Check;

/// Advice for a `prose` in PATH that may be another program.
const CALL: &str =
    "call `prosescope`, also where OpenProse says `prose gates`, `prose approve` or `prose reject`";

/// A program in PATH with the name `prose`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProseInPath {
    /// The path of the program.
    pub path: String,
    /// Whether the program is Prosescope or another one.
    pub whose: Whose,
}

/// The program that a file contains. The caller reads the file to find out, and does not run the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// The file is Prosescope, in this or another version.
    Ours,
    /// The file is another program.
    Foreign,
    /// The program is unknown, because the file cannot be read for this reason.
    Unknown(String),
}

/// Judges the programs with the name `prose`, in the order of PATH; a shell runs the first one.
pub(super) fn check(found: &[ProseInPath]) -> Check {
    let Some((first, later)) = found.split_first() else {
        return Check::ok(
            "prose",
            "`prose` is not in PATH; the command is called `prosescope`",
        );
    };
    match &first.whose {
        Whose::Foreign => Check::warning(
            "prose",
            format!(
                "`prose` is {}, another program, which may pass commands to a paid model; its file was read and not run",
                first.path
            ),
        )
        .next(CALL),
        Whose::Unknown(why) => Check::warning(
            "prose",
            format!(
                "`prose` is {}, which may be another program: its file cannot be read ({why}) and was not run",
                first.path
            ),
        )
        .next(CALL),
        Whose::Ours => match later.iter().find(|named| named.whose == Whose::Foreign) {
            None => Check::ok("prose", format!("`prose` is Prosescope too: {}", first.path)),
            Some(hidden) => Check::warning(
                "prose",
                format!(
                    "`prose` is Prosescope ({}). It hides another program of that name ({}), which was not run",
                    first.path, hidden.path
                ),
            )
            .next(format!(
                "to run the other program as `prose`, remove {} and call `prosescope`",
                first.path
            )),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn a_foreign_prose_is_named_with_what_to_do_and_ours_is_fine() {
        use Whose::{Foreign, Ours};
        let unknown = || Whose::Unknown("permission denied".to_owned());
        for (found, state, named) in [
            (vec![], State::Ok, "not in PATH"),
            (vec![Ours], State::Ok, "/0/prose"),
            (vec![Ours, Ours], State::Ok, "/0/prose"),
            (vec![Ours, unknown()], State::Ok, "/0/prose"),
            (vec![Foreign], State::Warning, "/0/prose"),
            (vec![Foreign, Ours], State::Warning, "/0/prose"),
            (vec![unknown(), Ours], State::Warning, "permission denied"),
            (vec![Ours, Ours, Foreign], State::Warning, "/2/prose"),
        ] {
            let numbered = found
                .iter()
                .cloned()
                .enumerate()
                .map(|(n, whose)| ProseInPath {
                    path: format!("/{n}/prose"),
                    whose,
                });
            let check = check(&numbered.collect::<Vec<_>>());
            assert_eq!(check.state, state, "{found:?}: {}", check.found);
            assert!(check.found.contains(named), "{found:?}: {}", check.found);
            assert_eq!(check.next.is_empty(), state == State::Ok, "{found:?}");
        }
    }
}
