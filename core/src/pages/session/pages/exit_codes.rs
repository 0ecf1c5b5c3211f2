//! Tells the exit codes that the headers of values record. `exec` runs a command, and OpenProse defines no field for
//! the code, but writers add `exit_code:` to the header of the value.

use super::index::short;
use crate::model::{Binding, Run};
use crate::pages::session::Session;
use crate::trace::NodeId;

/// How many nodes before a gate are searched for the value that the gate was about.
const JUDGED: usize = 100;
/// The largest number of values that one line lists.
const LISTED: usize = 6;

/// Lists the values that record an exit code, as `trial 2, build 0`: failed commands first. `None` if none does.
pub(super) fn of_values(run: &Run) -> Option<String> {
    let written = run.bindings.iter().filter(|value| value.is_written());
    let mut codes: Vec<(&str, &str)> = written
        .filter_map(|value| Some((&*value.name, exit_code(value)?)))
        .collect();
    // The sort is stable, so that values keep their order.
    codes.sort_by_key(|(_, code)| code.trim() == "0");
    let shown = codes.iter().take(LISTED);
    let shown: Vec<String> = shown
        .map(|(name, code)| format!("{} {}", short(name, 40), short(code, 20)))
        .collect();
    let more = codes.len().saturating_sub(LISTED);
    let more = (more > 0).then(|| format!(", and {more} more"));
    (!shown.is_empty()).then(|| shown.join(", ") + &more.unwrap_or_default())
}

/// Describes the value before a gate that ended the run, and the exit code of the value's command. `None` if no gate
/// ended the run, or if no value was written before the gate.
pub(super) fn judged(session: &Session) -> Option<String> {
    let cause = session.trace.first_cause?;
    session.node(cause).filter(|node| node.kind.is_gate())?;
    let before = NodeId::new(0).to(cause).rev().take(JUDGED);
    let mut wrote = before.filter_map(|at| super::writes::wrote(session, at).pop());
    let value = wrote.next()?;
    let binding = session.run.bindings.get(value.binding as usize)?;
    let code = exit_code(binding).map_or(String::new(), |code| {
        format!(", with exit_code {}", short(code, 20))
    });
    Some(format!(
        "The value before this gate is `{}`{code}.",
        short(&value.name, 80)
    ))
}

fn exit_code(binding: &Binding) -> Option<&str> {
    let code = binding.fields.iter().find(|(key, _)| **key == *"exit_code");
    code.map(|(_, code)| &**code)
}

#[cfg(test)]
mod tests {
    use super::of_values;
    use crate::model::{Binding, Run, ValueAt};

    #[test]
    fn failed_commands_come_first_and_long_lists_are_cut() {
        let value = |(name, code): (&str, Option<&str>)| Binding {
            name: name.into(),
            value: ValueAt::file("bindings/a.md", 1),
            fields: code
                .map(|code| ("exit_code".into(), code.into()))
                .into_iter()
                .collect(),
            ..Binding::default()
        };
        let told = |values: &[(&str, Option<&str>)]| {
            let bindings = values.iter().copied().map(value).collect();
            of_values(&Run {
                bindings,
                ..Run::default()
            })
        };
        assert_eq!(told(&[("a", None)]), None);
        let some = [
            ("a", Some("0")),
            ("b", None),
            ("c", Some("127")),
            ("d", Some("1")),
        ];
        assert_eq!(told(&some).as_deref(), Some("c 127, d 1, a 0"));
        let many = [("a", Some("0")); 8];
        assert!(told(&many).unwrap().ends_with("a 0, and 2 more"));
        // A value that is only announced has no exit code yet.
        let announced = Binding {
            value: ValueAt::Missing,
            ..value(("a", Some("0")))
        };
        assert_eq!(
            of_values(&Run {
                bindings: vec![announced],
                ..Run::default()
            }),
            None
        );
    }
}
