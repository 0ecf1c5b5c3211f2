//! Finds the names of bindings, and the names that statements bind.

use crate::model::{Binding, Run};
use crate::program::Listing;
use crate::trace::{Node, NodeId, NodeKind, Trace};

/// The prefix in the names of bindings that the caller gave to the run, such as `caller/topic`.
const CALLER: &str = "caller";

/// A name, with the node of the frame in which the name is bound; `None` is the root.
pub(super) type FramedName<'a> = (&'a str, Option<NodeId>);

/// Returns the index of a node's last row, and the binding that this row records as written.
pub(super) fn recorded<'r>(
    run: &'r Run,
    trace: &Trace,
    node: &Node,
) -> Option<(u32, FramedName<'r>)> {
    let last = node.last_row?;
    let meta = run.executions.get(last as usize)?.meta.as_deref()?;
    let name = meta.binding.as_deref()?;
    let frame = match meta.binding_scope {
        Some(id) => Some(trace.of_row(id)?),
        None => None,
    };
    Some((last, (name, frame)))
}

/// Returns the node of a binding's frame, which is `Some(None)` for the root. `None` if the trace lacks the frame.
pub(super) fn frame_of(trace: &Trace, binding: &Binding) -> Option<Option<NodeId>> {
    match binding.execution_id {
        Some(id) => trace.of_row(id).map(Some),
        None => Some(None),
    }
}

/// Returns the names by which a binding's writer may be found. These are the binding's own name and, in a name with a
/// slash, the service (`researcher` of `researcher/findings`) or the caller's input (`topic` of `caller/topic`).
pub(super) fn names_of(binding: &Binding) -> [Option<&str>; 2] {
    let parts = binding.name.split_once('/');
    let other = parts.map(|(service, name)| match service {
        CALLER => name,
        service => service,
    });
    [Some(&binding.name), other]
}

/// Returns the texts by which the session of an anonymous binding may be found: the binding's source, and the first
/// line of that source. A trace may show only the first line.
pub(super) fn texts_of(binding: &Binding) -> [Option<&str>; 2] {
    let source = binding.source.as_deref().map(str::trim);
    let source = source.filter(|text| !text.is_empty() && binding.name.starts_with("anon_"));
    [
        source,
        source.and_then(|text| Some(text.lines().next()?.trim())),
    ]
}

/// Returns the name that a node's statement binds.
pub(super) fn binds<'a>(
    trace: &Trace,
    listing: Option<&'a Listing>,
    node: &'a Node,
) -> Option<&'a str> {
    if let NodeKind::Branch { branch } = &node.kind {
        return Some(branch);
    }
    let from_program = || node.statement(listing)?.name.as_deref();
    // In a log, a statement appears under the name that it binds, and a service under its own name.
    let by_log = || {
        node.state_line.filter(|_| !trace.told.is_empty())?;
        Some(&*node.text).filter(|text| !text.contains(' '))
    };
    bound_name(&node.text).or_else(from_program).or_else(by_log)
}

/// Returns the name `x` that a statement's text binds: `let x = …`, `const x = …`, `output x = …`, `x = …`; `None` for
/// other texts.
pub(super) fn bound_name(text: &str) -> Option<&str> {
    let (left, _) = text.split_once('=')?;
    let left = left.trim();
    let name = ["let ", "const ", "output ", "input "]
        .iter()
        .find_map(|word| left.strip_prefix(word))
        .unwrap_or(left)
        .trim();
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}
