use super::trace::frame_of;
use crate::session::Opened;
use crate::trace::NodeKind;
use crate::view::{FrameView, TaskView};

/// What the session that an execution records is to do: what its brief says. `None` where no row has that id; an
/// execution that is no session has a task without an output.
pub fn task(opened: &Opened, row: i64) -> Option<TaskView> {
    let node = opened.node_of_row(row)?;
    let line = opened.node(node)?.line;
    let listing = opened.listing();
    let statement = listing.zip(line).and_then(|(listing, line)| {
        let at = listing.statements.iter().position(|s| s.line == line)?;
        TaskView::of(listing, u32::try_from(at).ok()?, listing)
    });
    let frame = frame_of(opened, node).and_then(|frame| match (&frame.kind, frame.id) {
        (NodeKind::Frame { block, depth }, Some(id)) => Some(FrameView {
            id,
            block: block.to_string(),
            depth: i64::from(*depth),
        }),
        _ => None,
    });
    Some(TaskView {
        frame,
        ..statement.unwrap_or_default()
    })
}
