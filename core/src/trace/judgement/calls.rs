//! Finds what a call of a block bars: statements after its `return` or `output`, and calls deeper than `max_depth`.

use std::collections::{BTreeMap, BTreeSet};

use super::{Bar, PassedBar, begun, in_clause};
use crate::model::Run;
use crate::program::{Listing, StatementKind as Kind};
use crate::trace::{Node, NodeId, NodeStatus, Trace};

/// The calls of a run whose program is known.
pub struct Calls<'a> {
    run: &'a Run,
    trace: &'a Trace,
    program: &'a Listing,
}

impl<'a> Calls<'a> {
    /// Returns the calls of a run.
    pub fn of(run: &'a Run, trace: &'a Trace, program: &'a Listing) -> Calls<'a> {
        Calls {
            run,
            trace,
            program,
        }
    }

    /// Returns the line of the statement with which the call around the execution `parent` has returned, so that
    /// `statement`, an index in the program, must not begin there; `None` if the statement is one that the program does not
    /// have.
    pub fn returned(&self, parent: Option<NodeId>, statement: Option<u32>) -> Option<u32> {
        let is_call = |at: &NodeId| self.block(*at).is_some();
        let frame = self.trace.upward(parent).find(is_call)?;
        let mut at = frame.next();
        let end = self.trace.end(frame);
        while at < end {
            let node = self.trace.node(at)?;
            if self.returns(node) && !self.cleans_up(at, statement) {
                return node.line;
            }
            at = match node.block(self.run) {
                Some(_) => self.trace.end(at),
                None => at.next(),
            };
        }
        None
    }

    /// Returns why a call of `block` must not begin inside of the execution `parent`.
    pub fn too_deep(&self, parent: Option<NodeId>, block: &str) -> Option<Bar> {
        let is_call = |at: &NodeId| self.block(*at) == Some(block);
        let around = self.trace.upward(parent).filter(is_call);
        self.deeper(block, around.count())
    }

    fn block(&self, at: NodeId) -> Option<&'a str> {
        self.trace.node(at)?.block(self.run)
    }

    /// Returns why a call of `block` must not begin inside of so many calls of the block.
    fn deeper(&self, block: &str, around: usize) -> Option<Bar> {
        let own = self.program.get(self.program.block_named(block)?)?;
        let max = own.number("max_depth")?;
        (around >= max as usize).then(|| Bar::TooDeep {
            block: block.into(),
            max,
        })
    }

    /// Returns whether an execution ended its call: a `return`, or an `output` in the body of a block.
    fn returns(&self, node: &Node) -> bool {
        let own = node.sure_statement(Some(self.program));
        let ends = own.is_some_and(|own| matches!(own.kind, Kind::Return | Kind::Output));
        ends && node.status == NodeStatus::Completed && !node.derived
    }

    /// Returns whether a statement is in the `finally` of a `try` around the execution that returned.
    fn cleans_up(&self, returned: NodeId, statement: Option<u32>) -> bool {
        let own = self.trace.node(returned);
        let own = own.and_then(|own| own.sure_index(Some(self.program)));
        let is_finally = |kind: Kind| kind == Kind::Finally;
        own.zip(statement)
            .is_some_and(|(own, statement)| in_clause(self.program, statement, own, is_finally))
    }

    /// Returns the executions that began after their call had returned, and the calls that are too deep: the first of
    /// each call and each block.
    pub(super) fn passed(&self) -> Vec<PassedBar> {
        let mut found = Vec::new();
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let mut calls: Vec<OuterCall<'_>> = Vec::new();
        let mut depths: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, node) in self.trace.nodes.iter_enumerated() {
            while let Some(ended) = calls.pop_if(|call| call.end <= at) {
                *depths.entry(ended.block).or_default() -= 1;
            }
            let call = calls.last().and_then(|call| call.returned);
            let statement = node.sure_index(Some(self.program));
            if let Some((by, line)) = call
                && begun(node)
                && statement.is_some()
                && after(self.trace, by, node)
                && !self.cleans_up(by, statement)
            {
                let bar = Bar::Returned { line };
                found.push(PassedBar { bar, at: Some(at) });
                if let Some(call) = calls.last_mut() {
                    call.returned = None;
                }
            }
            if let Some(block) = node.block(self.run) {
                let depth = depths.entry(block).or_default();
                let deep = self.deeper(block, *depth);
                *depth += 1;
                calls.push(OuterCall {
                    block,
                    end: self.trace.end(at),
                    returned: None,
                });
                if let Some(bar) = deep.filter(|_| begun(node) && known.insert(block)) {
                    found.push(PassedBar { bar, at: Some(at) });
                }
            } else if self.returns(node)
                && let Some(call) = calls.last_mut()
                && let Some(line) = node.line
            {
                call.returned.get_or_insert((at, line));
            }
        }
        found
    }
}

/// A call around the execution that is being looked at.
struct OuterCall<'a> {
    block: &'a str,
    /// The node after the call's last execution.
    end: NodeId,
    /// The execution that ended the call, and its line.
    returned: Option<(NodeId, u32)>,
}

/// Returns whether an execution began after another had ended, by the order of their rows.
fn after(trace: &Trace, ended: NodeId, node: &Node) -> bool {
    let last = trace.node(ended).and_then(|node| node.last_row);
    matches!((last, node.first_row), (Some(last), Some(first)) if first > last)
}
