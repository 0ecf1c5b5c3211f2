//! Frames of the call stack.

use super::build::Builder;
use super::stack::Stack;
use crate::model::Text;
use crate::trace::NodeKind;
use crate::trace::emit::{derived, word};

/// A frame of the call stack, with its node.
pub(super) struct Open {
    /// Its node.
    pub(super) node: u32,
    /// The frame that called it: a place in the list of open frames.
    pub(super) above: Option<usize>,
    /// The block that it runs, in the program.
    pub(super) block: Option<u32>,
    /// The statement that called it.
    pub(super) call: Option<u32>,
}

/// Makes nodes of the call stack, outermost first.
pub(super) fn open(stack: &Stack<'_>, builder: &mut Builder<'_, '_>) -> Vec<Open> {
    let mut frames: Vec<Open> = Vec::new();
    for frame in &stack.frames {
        let statement = frame.call.and_then(|at| builder.facts.statement(at));
        let text: Text = match statement {
            Some(statement) => statement.text.as_str().into(),
            None => format!("do {}", frame.row.block).into(),
        };
        let kind = NodeKind::Frame {
            block: frame.row.block.clone(),
            depth: 1,
        };
        let mut node = derived(kind, text, word(&frame.row.status));
        node.derived = false;
        node.id = Some(frame.row.execution_id);
        node.line = statement.map(|s| s.line);
        node.line_guessed = frame.guessed;
        node.state_line = frame.call.and_then(|at| builder.facts.get(at)?.state_line);
        let key = builder.line_of(frame.call);
        frames.push(Open {
            node: builder.push(node, key),
            above: frame.above,
            block: frame.block,
            call: frame.call,
        });
    }
    frames
}
