//! Which node wrote which value.
//!
//! Our writer records with the completion of a node which binding it wrote (`binding` in the metadata). The last such
//! node wrote the value, unless the value was written again after that completion. Other runs do not record it, so it is
//! derived:
//!
//! A node may have written a binding when its statement binds that name in the binding's frame. The value is
//! attributed to the one of these nodes that was under way when the value was last written (`started <= updated <=
//! completed`, or not completed), and to none when none was: a later write then replaced what these nodes wrote, and
//! nothing records whose it is. Where times are missing, the last of the nodes is taken if it completed, or if it is the
//! only one; that is marked as inferred.
//!
//! A session that binds no name writes `anon_001` and the like. Such a value names the session by its text.

use std::cell::LazyCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use super::trace::binding_ref;
use crate::model::{Binding, Run};
use crate::program::Listing;
use crate::session::{Opened, Session};
use crate::time::Stamp;
use crate::trace::{Node, NodeId, NodeKind, NodeStatus, Trace};
use crate::view::BindingRef;

/// The time of a write that lies behind a larger value in its row is not read: the way there leads over all pages of
/// the value.
const TAIL_MOST: u64 = 1 << 20;

/// Under this name the values lie that a run was called with.
const CALLER: &str = "caller";

/// How many nodes without both times are asked whether one of their times contradicts a write.
const UNTIMED_MOST: usize = 1_000;

/// Who wrote a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::session) struct Written {
    /// The node; `None` when none was under way, or when several may have been.
    pub(super) by: Option<NodeId>,
    /// Not all times are recorded: the node follows from the name, or from the order of the rows.
    pub(super) inferred: bool,
    /// When, in milliseconds since 1970 UTC.
    pub(super) at: Option<i64>,
}

/// Nodes and bindings by what they name, and who wrote what as far as it was asked.
#[derive(Debug, Default)]
pub(super) struct Writes {
    groups: Vec<Group>,
    /// `(node, group)`, ascending.
    of_node: Vec<(NodeId, u32)>,
    of_binding: BTreeMap<u32, u32>,
}

/// A name, and the node of the frame in which it is bound.
type Key<'a> = (&'a str, Option<NodeId>);

/// The bindings of one name in one frame, and the nodes whose statements bind it.
#[derive(Debug, Default)]
struct Group {
    bindings: Vec<u32>,
    /// Its statements bind no name, so each value has a name of its own and replaces no other.
    anonymous: bool,
    /// In preorder.
    spans: Vec<Span>,
    /// The last node that is recorded as a writer, by its place in `spans`.
    recorded: Option<usize>,
    ends: Ends,
    /// Nodes without both times: places in `spans`.
    untimed: Vec<usize>,
    /// Of an anonymous group, what each node wrote; made when the first node asks.
    of_nodes: OnceLock<BTreeMap<NodeId, Vec<u32>>>,
}

/// The nodes with both times in the order in which they ended, of those that ended at once the later node first; and above
/// them a tree of the earliest beginnings, so that a value among many thousand finds its node in a few steps.
#[derive(Debug, Default)]
struct Ends {
    /// End and node.
    nodes: Vec<(i64, Reverse<NodeId>)>,
    /// A heap: the leaves, from `leaves` on, hold beginnings; each other place the earlier one of the two below it.
    begins: Vec<i64>,
    leaves: usize,
}

impl Ends {
    fn of(mut timed: Vec<(i64, Reverse<NodeId>, i64)>) -> Ends {
        timed.sort_unstable();
        let leaves = timed.len().next_power_of_two();
        let mut begins = vec![i64::MAX; 2 * leaves];
        for (place, (.., from)) in begins.iter_mut().skip(leaves).zip(&timed) {
            *place = *from;
        }
        for at in (1..leaves).rev() {
            let below = [2 * at, 2 * at + 1].map(|at| begins.get(at).copied());
            let least = below.into_iter().flatten().min();
            if let (Some(place), Some(least)) = (begins.get_mut(at), least) {
                *place = least;
            }
        }
        Ends {
            nodes: timed.into_iter().map(|(to, node, _)| (to, node)).collect(),
            begins,
            leaves,
        }
    }

    /// Of the nodes that began by `high` and ended at `low` or later the one that ended first.
    fn first(&self, low: i64, high: i64) -> Option<NodeId> {
        let start = self.nodes.partition_point(|(to, _)| *to < low);
        let begun = |at: usize| self.begins.get(at).is_some_and(|from| *from <= high);
        let mut at = self
            .leaves
            .checked_add(start)
            .filter(|_| start < self.nodes.len())?;
        // Upward to a subtree on the right that has one, then down to its first.
        while !begun(at) {
            while at % 2 == 1 {
                at /= 2;
            }
            if at == 0 {
                return None;
            }
            at += 1;
        }
        while at < self.leaves {
            at = if begun(2 * at) { 2 * at } else { 2 * at + 1 };
        }
        let (_, Reverse(node)) = self.nodes.get(at - self.leaves)?;
        Some(*node)
    }
}

/// When a node was under way, in milliseconds since 1970 UTC.
#[derive(Debug, Clone, Copy)]
struct Span {
    node: NodeId,
    from: Option<i64>,
    to: Option<i64>,
    over: bool,
    completed: bool,
    /// The row that records that it wrote the name, by its place in the run.
    recorded: Option<u32>,
}

impl Span {
    fn of(run: &Run, at: NodeId, node: &Node) -> Span {
        let row = |row: Option<u32>| run.executions.get(row? as usize);
        let millis = |stamp: Option<&Stamp>| stamp.and_then(Stamp::millis);
        let (first, last) = (row(node.first_row), row(node.last_row));
        let ended = |row: Option<&crate::model::Execution>| millis(row?.completed.as_ref());
        Span {
            node: at,
            from: millis(first.and_then(|row| row.started.as_ref())),
            to: ended(last).or_else(|| ended(first)),
            over: !node.status.is_open() && node.status != NodeStatus::Abandoned,
            completed: node.status == NodeStatus::Completed,
            recorded: None,
        }
    }

    /// Both ends where they are recorded; what is not over has no end.
    fn timed(&self) -> Option<(i64, i64)> {
        match (self.from, self.to) {
            (Some(from), Some(to)) => Some((from, to)),
            (Some(from), None) if !self.over => Some((from, i64::MAX)),
            _ => None,
        }
    }

    /// Whether the times that are recorded leave a write at `at` possible.
    fn allows(&self, at: Option<i64>) -> bool {
        let Some((low, high)) = at.map(second) else {
            return true;
        };
        self.from.is_none_or(|from| from <= high) && self.to.is_none_or(|to| to >= low)
    }
}

/// The second that an instant lies in. Many writers record seconds beside milliseconds, so within one second the times
/// of two rows have no order.
pub(super) fn second(at: i64) -> (i64, i64) {
    let low = at.div_euclid(1000).saturating_mul(1000);
    (low, low.saturating_add(999))
}

impl Group {
    fn settle(&mut self, trace: &Trace) {
        let status = |span: &Span| trace.node(span.node).map(|node| &node.status);
        let begun = |span: &Span| status(span) != Some(&NodeStatus::Pending);
        // An announced statement is named only where no other can be meant.
        if self.spans.iter().any(begun) {
            self.spans.retain(begun);
        }
        let spans = || self.spans.iter().enumerate();
        let recorded = spans().filter_map(|(at, span)| Some((span.recorded?, at)));
        self.recorded = recorded.max().map(|(_, at)| at);
        let timed = self.spans.iter().filter_map(|span| {
            let (from, to) = span.timed()?;
            Some((to, Reverse(span.node), from))
        });
        self.ends = Ends::of(timed.collect());
        self.untimed = spans()
            .filter(|(_, span)| span.timed().is_none())
            .map(|(at, _)| at)
            .collect();
    }

    /// What each node wrote.
    fn of_nodes(&self, session: &Session) -> &BTreeMap<NodeId, Vec<u32>> {
        self.of_nodes.get_or_init(|| {
            let mut of_nodes: BTreeMap<NodeId, Vec<u32>> = BTreeMap::new();
            for &binding in &self.bindings {
                if let Some(by) = written(session, binding, None).by {
                    of_nodes.entry(by).or_default().push(binding);
                }
            }
            of_nodes
        })
    }

    /// Who wrote a value at `at`.
    fn written(&self, at: Option<i64>) -> Written {
        if let Some(by) = self.recorded(at) {
            return Written {
                by: Some(by),
                inferred: false,
                at,
            };
        }
        if let Some(at) = at {
            let (low, high) = second(at);
            let by = self.under_way(at, at).or_else(|| self.under_way(low, high));
            if by.is_some() {
                return Written {
                    by,
                    inferred: false,
                    at: Some(at),
                };
            }
        }
        let by = self.untimed(at);
        let inferred = by.is_some();
        Written { by, inferred, at }
    }

    /// The last node that is recorded as the writer; `None` where the value was written again since.
    fn recorded(&self, at: Option<i64>) -> Option<NodeId> {
        let last = self.spans.get(self.recorded?)?;
        let replaced = at.zip(last.to).is_some_and(|(at, to)| to < second(at).0);
        (!replaced).then_some(last.node)
    }

    /// The node that was under way between two instants. A statement writes its value before it ends, so of several
    /// the one that ended first.
    fn under_way(&self, low: i64, high: i64) -> Option<NodeId> {
        self.ends.first(low, high)
    }

    /// The last node that no recorded time speaks against, if it completed or is the only one.
    fn untimed(&self, at: Option<i64>) -> Option<NodeId> {
        let open: Box<dyn Iterator<Item = &Span>> = match at {
            None => Box::new(self.spans.iter().rev()),
            Some(_) => {
                let untimed = self.untimed.iter().rev();
                Box::new(untimed.filter_map(|at| self.spans.get(*at)))
            }
        };
        let mut possible = open.take(UNTIMED_MOST).filter(|span| span.allows(at));
        let last = possible.next()?;
        (last.completed || possible.next().is_none()).then_some(last.node)
    }
}

impl Writes {
    pub(super) fn of<'r>(run: &'r Run, trace: &'r Trace, listing: Option<&'r Listing>) -> Writes {
        let frames = trace.frames();
        let place = |binding: &'r Binding| Some((&*binding.name, frame_of(trace, binding)?));
        let there = LazyCell::new(|| {
            run.bindings
                .iter()
                .filter_map(place)
                .collect::<BTreeSet<Key<'_>>>()
        });
        let mut named: BTreeMap<Key<'_>, Vec<NodeId>> = BTreeMap::new();
        let mut unnamed: BTreeMap<Key<'_>, Vec<NodeId>> = BTreeMap::new();
        for (at, node) in trace.nodes.iter_enumerated() {
            // What was passed over wrote nothing.
            if node.status == NodeStatus::Skipped {
                continue;
            }
            if let Some((_, key)) =
                recorded(run, trace, node).filter(|(_, key)| there.contains(key))
            {
                named.entry(key).or_default().push(at);
                continue;
            }
            let frame = frames.get(at).copied().flatten();
            // A branch is called by its number where its statement binds no name.
            let is_branch = matches!(node.kind, NodeKind::Branch { .. });
            let name = binds(trace, listing, node)
                .filter(|name| !is_branch || there.contains(&(*name, frame)));
            let (of, key) = match name {
                Some(name) => (&mut named, name),
                None => (&mut unnamed, node.text.trim()),
            };
            of.entry((key, frame)).or_default().push(at);
        }
        let mut writes = Writes::default();
        let mut groups: BTreeMap<(bool, Key<'_>), u32> = BTreeMap::new();
        for (b, binding) in (0_u32..).zip(&run.bindings) {
            let Some(frame) = frame_of(trace, binding) else {
                continue;
            };
            let find = |nodes: &BTreeMap<_, Vec<NodeId>>, keys: [Option<&'r str>; 2]| {
                let mut keys = keys.into_iter().flatten().map(|key| (key, frame));
                keys.find(|key| nodes.contains_key(key))
            };
            let of_name = find(&named, names_of(binding));
            let anonymous = of_name.is_none();
            let of = if anonymous { &unnamed } else { &named };
            let found = of_name.or_else(|| find(&unnamed, texts_of(binding)));
            let Some((key, nodes)) = found.and_then(|key| Some((key, of.get(&key)?))) else {
                continue;
            };
            let at = *groups.entry((anonymous, key)).or_insert_with(|| {
                let at = writes.groups.len() as u32;
                let span = |at: &NodeId| {
                    let node = trace.node(*at)?;
                    let recorded = recorded(run, trace, node).filter(|(_, own)| *own == key);
                    Some(Span {
                        recorded: recorded.map(|(row, _)| row),
                        ..Span::of(run, *at, node)
                    })
                };
                writes.of_node.extend(nodes.iter().map(|node| (*node, at)));
                writes.groups.push(Group {
                    spans: nodes.iter().filter_map(span).collect(),
                    anonymous,
                    ..Group::default()
                });
                at
            });
            writes.of_binding.insert(b, at);
            if let Some(group) = writes.groups.get_mut(at as usize) {
                group.bindings.push(b);
            }
        }
        writes.of_node.sort_unstable();
        for group in &mut writes.groups {
            group.settle(trace);
        }
        writes
    }

    fn group_of_node(&self, node: NodeId) -> Option<&Group> {
        let at = self.of_node.binary_search_by_key(&node, |(n, _)| *n).ok()?;
        self.groups.get(self.of_node.get(at)?.1 as usize)
    }
}

/// The binding that a node's last row records that it wrote, and that row.
fn recorded<'r>(run: &'r Run, trace: &Trace, node: &Node) -> Option<(u32, Key<'r>)> {
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
fn frame_of(trace: &Trace, binding: &Binding) -> Option<Option<NodeId>> {
    match binding.execution_id {
        Some(id) => trace.of_row(id).map(Some),
        None => Some(None),
    }
}

/// What may name the statement that wrote a binding: its name, or that of the service whose output it is
/// (`researcher/findings`), or the input that the caller gave (`caller/topic`).
fn names_of(binding: &Binding) -> [Option<&str>; 2] {
    let parts = binding.name.split_once('/');
    let other = parts.map(|(service, name)| match service {
        CALLER => name,
        service => service,
    });
    [Some(&binding.name), other]
}

/// The texts of the session without a name that may have written an anonymous binding: the source that it names, whose
/// first line is all that a trace may show of it.
fn texts_of(binding: &Binding) -> [Option<&str>; 2] {
    let source = binding.source.as_deref().map(str::trim);
    let source = source.filter(|text| !text.is_empty() && binding.name.starts_with("anon_"));
    [
        source,
        source.and_then(|text| Some(text.lines().next()?.trim())),
    ]
}

/// The name that a node's statement binds.
fn binds<'a>(trace: &Trace, listing: Option<&'a Listing>, node: &'a Node) -> Option<&'a str> {
    if let NodeKind::Branch { branch } = &node.kind {
        return Some(branch);
    }
    let from_program = || {
        let (listing, line) = (listing?, node.line?);
        let at = listing
            .lines
            .get(line.checked_sub(1)? as usize)?
            .statement?;
        let statement = listing.statements.get(at as usize)?;
        (statement.line == line).then_some(statement.name.as_deref()?)
    };
    // A log calls a statement by the name that it binds, a service by its own.
    let by_log = || {
        node.state_line.filter(|_| !trace.told.is_empty())?;
        Some(&*node.text).filter(|text| !text.contains(' '))
    };
    bound_name(&node.text).or_else(from_program).or_else(by_log)
}

/// The name that a statement text binds: `let x = …`, `const x = …`, `output x = …`, `x = …`.
fn bound_name(text: &str) -> Option<&str> {
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

/// Who wrote the value of a binding. `full`: the binding with its times, where they were read already.
pub(super) fn written(session: &Session, binding: u32, full: Option<&Binding>) -> Written {
    let writes = &session.index.writes;
    let group = writes.of_binding.get(&binding);
    let Some((group, own)) = group
        .and_then(|at| writes.groups.get(*at as usize))
        .zip(session.run.bindings.get(binding as usize))
    else {
        return Written::default();
    };
    if let Some(known) = session.values.written.borrow().get(&binding) {
        return *known;
    }
    let near = own.tail_known || own.value.len().is_none_or(|len| len <= TAIL_MOST);
    let read =
        (near && full.is_none() && !own.tail_known).then(|| session.values.binding_tail(own));
    let at = full.or(read.as_ref()).unwrap_or(own);
    let at = at.updated.as_ref().or(at.created.as_ref());
    let mut written = group.written(at.filter(|_| near).and_then(Stamp::millis));
    if group.anonymous && (written.by.is_none() || written.inferred) {
        // Each of these sessions wrote one of these values, in their order.
        // They were added in the order of the run.
        let nth = group.bindings.binary_search(&binding).ok();
        let spans = &group.spans;
        let by = nth.filter(|_| spans.len() == group.bindings.len());
        written.by = by.and_then(|at| Some(spans.get(at)?.node));
        written.inferred = written.by.is_some();
    }
    session.values.written.borrow_mut().insert(binding, written);
    written
}

/// The bindings whose value a node wrote, and those whose value another replaced since.
pub(super) fn wrote(session: &Session, node: NodeId) -> Vec<BindingRef> {
    let Some(group) = session.index.writes.group_of_node(node) else {
        return Vec::new();
    };
    let own = group.spans.binary_search_by_key(&node, |span| span.node);
    let Some(own) = own.ok().and_then(|at| group.spans.get(at)) else {
        return Vec::new();
    };
    // Each of an anonymous group wrote another value, and none replaced one.
    let bindings = match group.anonymous && own.recorded.is_none() {
        false => &group.bindings,
        true => match group.of_nodes(session).get(&node) {
            Some(bindings) => bindings,
            None => return Vec::new(),
        },
    };
    let refs = bindings.iter().filter_map(|&binding| {
        let written = written(session, binding, None);
        let overwritten = written.by != Some(node);
        let inferred = match overwritten {
            true => replaced(session, own, binding, written)?,
            false => written.inferred,
        };
        Some(BindingRef {
            overwritten,
            inferred,
            ..binding_ref(session, binding)?
        })
    });
    refs.collect()
}

/// Whether a node completed, so that it wrote the binding, before its present value was written; and whether that
/// follows from the order of the nodes alone.
fn replaced(opened: &Opened, own: &Span, binding: u32, written: Written) -> Option<bool> {
    // Of several rows that claim one name and frame, each has its own writer.
    let group = opened.index.writes.group_of_node(own.node)?;
    if own.recorded.is_some() && !opened.index.claims.contains_key(&binding) {
        return Some(false);
    }
    if !own.completed || group.anonymous || opened.index.claims.contains_key(&binding) {
        return None;
    }
    if let (Some(at), Some(to)) = (written.at, own.to) {
        return (to < second(at).0).then_some(false);
    }
    (opened.trace.end(own.node) <= written.by?).then_some(true)
}

#[cfg(test)]
mod tests {
    use crate::session::pages;
    use std::rc::Rc;

    use rusqlite::Connection;

    use super::*;
    use crate::schema::STATE_SQL;
    use crate::session::Options;
    use crate::sqlite::MemorySource;

    /// A run of these rows of `execution` (id, text, status, began, ended, metadata) and `bindings` (name, created,
    /// updated, value).
    fn session(schema: &str, rows: &str, bindings: &str) -> Session {
        let mut conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(schema).unwrap();
        conn.execute_batch("INSERT INTO run (id) VALUES ('r')")
            .unwrap();
        conn.execute_batch(&format!(
            "INSERT INTO execution (id, statement_text, status, started_at, completed_at, metadata) VALUES {rows};
             INSERT INTO bindings (name, created_at, updated_at, value) VALUES {bindings};"
        ))
        .unwrap();
        let bytes = conn.serialize("main").unwrap().to_vec();
        let files = [("state.db".to_owned(), bytes)];
        let source = Rc::new(MemorySource::new("run", files));
        Session::open(source, "", &Options::default()).unwrap()
    }

    /// What the trace says of each row that wrote something, and what the bindings say of themselves.
    fn told(session: &Session) -> (Vec<String>, Vec<String>) {
        let mut wrote = Vec::new();
        for row in pages::trace_page(session, &BTreeSet::new(), 0, 100).rows {
            for binding in &row.bindings {
                let over = if binding.overwritten { " over" } else { "" };
                let inferred = if binding.inferred { " inferred" } else { "" };
                let id = row.id.unwrap_or_default();
                wrote.push(format!("{id} {}{over}{inferred}", binding.name));
            }
        }
        let rows = pages::bindings_page(session, 0, 100).rows.into_iter();
        let by = rows.map(|row| {
            let inferred = if row.writer_inferred { " inferred" } else { "" };
            let id = row.written_by.and_then(|node| node.id);
            id.map_or_else(|| "none".to_owned(), |id| format!("{id}{inferred}"))
        });
        (wrote, by.collect())
    }

    #[track_caller]
    fn check(why: &str, rows: &str, bindings: &str, wrote: &[&str], by: &[&str]) {
        let (told, written) = told(&session(STATE_SQL, rows, bindings));
        assert_eq!((told, written), (owned(wrote), owned(by)), "{why}");
    }

    fn owned(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_value_is_attributed_to_the_statement_that_was_under_way_when_it_was_written() {
        let at = |time: &str| format!("('x', NULL, '2026-01-15 10:{time}', 'v')");
        let twice = "(24, 'let x = session', 'completed', '2026-01-15 10:00:00', '2026-01-15 10:00:30', NULL),
            (26, 'x = session', 'failed', '2026-01-15 10:01:00', '2026-01-15 10:02:00', NULL)";
        check(
            "the later one failed, and began after the write",
            twice,
            &at("00:29"),
            &["24 x"],
            &["24"],
        );
        check(
            "the later one wrote before it failed",
            twice,
            &at("01:30"),
            &["24 x over", "26 x"],
            &["26"],
        );
        check(
            "written between the two, by a hand",
            twice,
            &at("00:45"),
            &["24 x over"],
            &["none"],
        );
        check(
            "written before both",
            twice,
            "('x', NULL, '2026-01-15 09:00:00', 'v')",
            &[],
            &["none"],
        );
        check(
            "without a time of its last write, that of the first counts",
            twice,
            "('x', '2026-01-15 10:00:10', NULL, 'v')",
            &["24 x"],
            &["24"],
        );
        check(
            "milliseconds beside seconds: within a second there is no order",
            "(1, 'let x = session', 'completed', '2026-01-15T10:00:00.700Z', '2026-01-15T10:00:30.200Z', NULL)",
            &at("00:00"),
            &["1 x"],
            &["1"],
        );
    }

    #[test]
    fn a_statement_that_is_under_way_may_have_written() {
        let rows = |status: &str| {
            format!(
                "(1, 'let x = session', 'completed', '2026-01-15 10:00:00', '2026-01-15 10:00:30', NULL),
                 (2, 'x = session', '{status}', '2026-01-15 10:01:00', NULL, NULL)"
            )
        };
        for (status, time, wrote, by) in [
            ("executing", "01:30", &["1 x over", "2 x"][..], "2"),
            ("executing", "00:20", &["1 x"], "1"),
            ("skipped", "01:30", &["1 x over"], "none"),
            ("retry", "02:30", &["1 x over", "2 x"], "2"),
        ] {
            let bindings = format!("('x', NULL, '2026-01-15 10:{time}', 'v')");
            check(status, &rows(status), &bindings, wrote, &[by]);
        }
    }

    #[test]
    fn the_rounds_of_a_loop_and_the_attempts_of_a_statement_keep_their_own() {
        let rounds = "(1, 'loop until **x**:', 'started', '2026-01-15 10:00:00', NULL, '{\"loop_id\": \"l\"}'),
            (2, 'x = session', 'completed', '2026-01-15 10:01:00', '2026-01-15 10:01:30', NULL),
            (3, 'loop until **x**:', 'iteration', NULL, NULL, '{\"loop_id\": \"l\", \"iteration\": 1}'),
            (4, 'x = session', 'completed', '2026-01-15 10:02:00', '2026-01-15 10:02:30', NULL),
            (5, 'loop until **x**:', 'iteration', NULL, NULL, '{\"loop_id\": \"l\", \"iteration\": 2}'),
            (6, 'x = session', 'executing', '2026-01-15 10:03:00', NULL, NULL)";
        for (time, wrote, by) in [
            ("10:02:29", &["2 x over", "4 x"][..], "4"),
            ("10:03:29", &["2 x over", "4 x over", "6 x"], "6"),
        ] {
            let bindings = format!("('x', NULL, '2026-01-15 {time}', 'v')");
            check(time, rounds, &bindings, wrote, &[by]);
        }
        let attempts = "(1, 'let x = session', 'executing', '2026-01-15 10:00:00', NULL, NULL),
            (2, 'let x = session', 'failed', NULL, '2026-01-15 10:00:10', NULL),
            (3, 'let x = session', 'retry', NULL, NULL, '{\"attempt\": 2, \"max\": 3}'),
            (4, 'let x = session', 'completed', NULL, '2026-01-15 10:00:40', NULL)";
        check(
            "the second attempt",
            attempts,
            "('x', NULL, '2026-01-15 10:00:39', 'v')",
            &["1 x"],
            &["1"],
        );
    }

    #[test]
    fn without_times_only_what_nothing_contradicts_is_attributed_and_marked() {
        let rows = |second: &str, third: &str| {
            format!(
                "(1, 'let x = session', 'completed', NULL, NULL, NULL), (2, 'x = session', '{second}', NULL, NULL, NULL),
                 (3, 'x = session', '{third}', NULL, NULL, NULL)"
            )
        };
        let x = "('x', NULL, '2026-01-15 10:00:00', 'v')";
        check(
            "one statement",
            "(1, 'let x = session', 'failed', NULL, NULL, NULL)",
            x,
            &["1 x inferred"],
            &["1 inferred"],
        );
        check(
            "the last one completed",
            &rows("failed", "completed"),
            x,
            &["1 x over inferred", "3 x inferred"],
            &["3 inferred"],
        );
        check(
            "the last one may have written, or not",
            &rows("completed", "failed"),
            x,
            &[],
            &["none"],
        );
        check(
            "the only other one ended before",
            "(1, 'let x = session', 'completed', NULL, '2026-01-15 09:00:00', NULL),
             (2, 'x = session', 'executing', NULL, NULL, NULL)",
            x,
            &["1 x over", "2 x inferred"],
            &["2 inferred"],
        );
    }

    #[test]
    fn a_recorded_writer_is_not_inferred_until_the_value_is_written_again() {
        let at = "2026-01-15 10:00:00";
        let row = |id: u32, text: &str, binding: &str| {
            format!(
                "({id}, '{text}', 'completed', '{at}', '{at}', '{{\"binding\": \"{binding}\"}}')"
            )
        };
        let anonymous = |id, binding| row(id, "session \"A\"", binding);
        let rows = format!("{}, {}", anonymous(1, "anon_002"), anonymous(2, "anon_001"));
        let bindings =
            format!("('anon_001', '{at}', '{at}', 'v'), ('anon_002', '{at}', '{at}', 'v')");
        check(
            "in one second, against the order of the rows",
            &rows,
            &bindings,
            &["1 anon_002", "2 anon_001"],
            &["2", "1"],
        );
        check(
            "the value was replaced since",
            &row(1, "let x = session", "x"),
            "('x', NULL, '2026-01-15 10:05:00', 'v')",
            &["1 x over"],
            &["none"],
        );
        check(
            "a binding that is not there",
            &row(1, "let x = session", "gone"),
            &format!("('x', NULL, '{at}', 'v')"),
            &["1 x"],
            &["1"],
        );
    }

    /// The documents' own table has the times behind the value, where a list does not read them.
    #[test]
    fn the_time_of_a_large_value_counts_too() {
        let schema = "CREATE TABLE run (id TEXT);
            CREATE TABLE execution (id INTEGER PRIMARY KEY, statement_text TEXT, status TEXT, started_at TEXT,
              completed_at TEXT, metadata TEXT);
            CREATE TABLE bindings (name TEXT, execution_id INTEGER, kind TEXT, value TEXT, source_statement TEXT,
              created_at TEXT, updated_at TEXT, attachment_path TEXT);";
        let rows = "(24, 'let x = session', 'completed', '2026-01-15 10:00:00', '2026-01-15 10:00:30', NULL),
            (26, 'x = session', 'failed', '2026-01-15 10:01:00', '2026-01-15 10:02:00', NULL)";
        let bindings = "('x', NULL, '2026-01-15 10:00:20', hex(zeroblob(40000)))";
        let session = session(schema, rows, bindings);
        assert!(!session.run().bindings[0].tail_known);
        assert_eq!(told(&session), (owned(&["24 x"]), owned(&["24"])));
    }

    #[test]
    fn finds_the_name_that_a_statement_binds() {
        for (text, name) in [
            ("let research = session: researcher", Some("research")),
            ("const a-b = \"x\"", Some("a-b")),
            ("a = session \"A\"", Some("a")),
            ("output report = research", Some("report")),
            ("session \"a = b\"", None),
            ("loop until **x == y**:", None),
            ("", None),
        ] {
            assert_eq!(bound_name(text), name, "{text}");
        }
    }

    #[test]
    fn a_value_without_a_name_is_attributed_to_the_session_that_it_names() {
        let session = |rows: &str, bindings: &str| {
            let mut conn = Connection::open_in_memory().unwrap();
            conn.execute_batch(STATE_SQL).unwrap();
            conn.execute_batch(&format!(
                "INSERT INTO run (id) VALUES ('r');
                 INSERT INTO execution (id, statement_text, status, started_at, completed_at) VALUES {rows};
                 INSERT INTO bindings (name, source_statement, updated_at, value) VALUES {bindings};"
            ))
            .unwrap();
            let files = [(
                "state.db".to_owned(),
                conn.serialize("main").unwrap().to_vec(),
            )];
            let source = Rc::new(MemorySource::new("run", files));
            told(&Session::open(source, "", &Options::default()).unwrap())
        };
        let text = "session \"Greet\"";
        for (why, rows, bindings, wrote, by) in [
            (
                "one session, one value",
                format!(
                    "(1, '{text}', 'completed', NULL, NULL), (2, 'session \"Other\"', 'completed', NULL, NULL)"
                ),
                format!("('anon_001', '{text}', NULL, 'v')"),
                &["1 anon_001 inferred"][..],
                &["1 inferred"][..],
            ),
            (
                "the same session twice, without times: in their order",
                format!(
                    "(1, '{text}', 'completed', NULL, NULL), (2, '{text}', 'completed', NULL, NULL)"
                ),
                format!("('anon_001', '{text}', NULL, 'v'), ('anon_002', '{text}', NULL, 'v')"),
                &["1 anon_001 inferred", "2 anon_002 inferred"],
                &["1 inferred", "2 inferred"],
            ),
            (
                "the same session twice, with times",
                format!(
                    "(1, '{text}', 'completed', '2026-01-15 10:00:00', '2026-01-15 10:00:30'),
                     (2, '{text}', 'completed', '2026-01-15 10:01:00', '2026-01-15 10:02:00')"
                ),
                format!("('anon_007', '{text}', '2026-01-15 10:01:30', 'v')"),
                &["2 anon_007"],
                &["2"],
            ),
            (
                "a name that some statement could bind is no anonymous one",
                format!("(1, '{text}', 'completed', NULL, NULL)"),
                format!("('greeting', '{text}', NULL, 'v')"),
                &[],
                &["none"],
            ),
        ] {
            assert_eq!(
                session(&rows, &bindings),
                (owned(wrote), owned(by)),
                "{why}"
            );
        }
    }
}
