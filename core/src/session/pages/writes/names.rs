use crate::model::{Binding, Run};
use crate::program::Listing;
use crate::trace::{Node, NodeId, NodeKind, Trace};

/// Under this name the values lie that a run was called with.
const CALLER: &str = "caller";

/// A name, and the node of the frame in which it is bound.
pub(super) type Key<'a> = (&'a str, Option<NodeId>);

/// The binding that a node's last row records that it wrote, and that row.
pub(super) fn recorded<'r>(run: &'r Run, trace: &Trace, node: &Node) -> Option<(u32, Key<'r>)> {
    let last = node.last_row?;
    let meta = run.executions.get(last as usize)?.meta.as_deref()?;
    let name = meta.binding.as_deref()?;
    let frame = match meta.binding_scope {
        Some(id) => Some(trace.of_row(id)?),
        None => None,
    };
    Some((last, (name, frame)))
}

/// The node of a binding's frame, which the root does not have; `None` where the trace has no such frame.
pub(super) fn frame_of(trace: &Trace, binding: &Binding) -> Option<Option<NodeId>> {
    match binding.execution_id {
        Some(id) => trace.of_row(id).map(Some),
        None => Some(None),
    }
}

/// What may name the statement that wrote a binding: its name, or that of the service whose output it is
/// (`researcher/findings`), or the input that the caller gave (`caller/topic`).
pub(super) fn names_of(binding: &Binding) -> [Option<&str>; 2] {
    let parts = binding.name.split_once('/');
    let other = parts.map(|(service, name)| match service {
        CALLER => name,
        service => service,
    });
    [Some(&binding.name), other]
}

/// The texts of the session without a name that may have written an anonymous binding: the source that it names, whose
/// first line is all that a trace may show of it.
pub(super) fn texts_of(binding: &Binding) -> [Option<&str>; 2] {
    let source = binding.source.as_deref().map(str::trim);
    let source = source.filter(|text| !text.is_empty() && binding.name.starts_with("anon_"));
    [
        source,
        source.and_then(|text| Some(text.lines().next()?.trim())),
    ]
}

/// The name that a node's statement binds.
pub(super) fn binds<'a>(
    trace: &Trace,
    listing: Option<&'a Listing>,
    node: &'a Node,
) -> Option<&'a str> {
    if let NodeKind::Branch { branch } = &node.kind {
        return Some(branch);
    }
    let from_program = || node.statement(listing)?.name.as_deref();
    // A log calls a statement by the name that it binds, a service by its own.
    let by_log = || {
        node.state_line.filter(|_| !trace.told.is_empty())?;
        Some(&*node.text).filter(|text| !text.contains(' '))
    };
    bound_name(&node.text).or_else(from_program).or_else(by_log)
}

/// The name that a statement text binds: `let x = …`, `const x = …`, `output x = …`, `x = …`.
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
