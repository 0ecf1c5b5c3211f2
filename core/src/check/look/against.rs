use std::collections::BTreeMap;

use super::{Findings, Looked};
use crate::gate::allow::Allow;
use crate::gate::visit;
use crate::issue::Issue;
use crate::model::Gate;
use crate::program::{Listing, Statement, StatementKind};
use crate::timeout::Timeout;
use crate::trace::{Node, NodeId, NodeKind, Trace};

/// What runs otherwise than its program says: gates that admit others or wait longer, loops of more rounds, retries of
/// more attempts.
pub(super) fn look(at: Looked<'_>, findings: &mut Findings) {
    let Some(listing) = at.listing else { return };
    let places = Places::of(listing, at.trace);
    for gate in &at.run.gates {
        let Some(statement) = places.statement(gate) else {
            continue;
        };
        let differs: Vec<String> = differences(gate, statement);
        if differs.is_empty() {
            continue;
        }
        let message = format!(
            "gate {} is not what line {} of the program says: {}",
            gate.id,
            statement.line,
            differs.join("; ")
        );
        findings.add(
            Issue::warning("gate-against-program", message)
                .at_table("gates")
                .hint("The gate's own row counts. Find out who created it so: `prosescope gate create` logs `overridden`."),
        );
    }
    for (nth, node) in at.trace.nodes.iter_enumerated() {
        let line = node.line.filter(|_| !node.line_guessed);
        let statement = line.and_then(|line| {
            let first = listing.statements.partition_point(|s| s.line < line);
            listing.statements.get(first).filter(|s| s.line == line)
        });
        if let Some(statement) = statement {
            over(at.trace, nth, node, statement, findings);
        }
    }
}

/// Where gates stand: in the program by line and by name, in the trace by id. A name or line of two statements is nobody's.
struct Places<'a> {
    by_line: BTreeMap<u32, Option<&'a Statement>>,
    by_name: BTreeMap<&'a str, Option<&'a Statement>>,
    /// The line that the first node of a gate is tied to for sure.
    nodes: BTreeMap<&'a str, Option<u32>>,
}

impl<'a> Places<'a> {
    fn of(listing: &'a Listing, trace: &'a Trace) -> Places<'a> {
        let mut places = Places {
            by_line: BTreeMap::new(),
            by_name: BTreeMap::new(),
            nodes: BTreeMap::new(),
        };
        let gates = listing.statements.iter();
        for statement in gates.filter(|s| s.kind == StatementKind::Gate) {
            let one = |known: &mut Option<&Statement>| *known = None;
            let (line, name) = (statement.line, statement.name.as_deref());
            let of_line = places.by_line.entry(line).and_modify(one);
            of_line.or_insert(Some(statement));
            if let Some(name) = name {
                let of_name = places.by_name.entry(name).and_modify(one);
                of_name.or_insert(Some(statement));
            }
        }
        for node in &trace.nodes {
            if let NodeKind::Gate { gate } = &node.kind {
                let line = node.line.filter(|_| !node.line_guessed);
                places.nodes.entry(gate).or_insert(line);
            }
        }
        places
    }

    /// The gate's statement: the one that its execution is tied to, else the only one of its name.
    fn statement(&self, gate: &Gate) -> Option<&'a Statement> {
        match self.nodes.get(&*gate.id).copied().flatten() {
            Some(line) => self.by_line.get(&line).copied().flatten(),
            None => self.by_name.get(visit(&gate.id).0).copied().flatten(),
        }
    }
}

fn differences(gate: &Gate, statement: &Statement) -> Vec<String> {
    let mut differs = Vec::new();
    if let (Ok(Some(says)), Ok(allow)) = (statement.allow(), Allow::parse(gate.allow.as_deref())) {
        let admits = |list: &[String]| {
            let mut names: Vec<String> = list.iter().map(|name| name.trim().to_owned()).collect();
            names.sort();
            names.dedup();
            names
        };
        if admits(&says) != admits(allow.entries()) {
            let says = Allow::of(says);
            differs.push(format!(
                "it admits {}, and the program {}",
                allow.words(),
                says.words()
            ));
        }
    }
    let says = statement
        .property("timeout")
        .and_then(|text| Timeout::parse(text).ok());
    if let Some(says) = says {
        let own = gate.timeout.as_deref();
        let seconds = own
            .and_then(|text| Timeout::parse(text).ok())
            .map(|own| own.seconds());
        if seconds != Some(says.seconds()) {
            let says = statement.property("timeout").unwrap_or_default();
            let waits = own.map_or("without a deadline".to_owned(), |own| format!("for {own}"));
            differs.push(format!("it waits {waits}, and the program says {says}"));
        }
    }
    differs
}

fn over(trace: &Trace, nth: NodeId, node: &Node, statement: &Statement, findings: &mut Findings) {
    let add = |rule: &str, message: String, findings: &mut Findings| {
        let issue = Issue::warning(rule, message)
            .hint("What was recorded counts, and the program said otherwise.");
        findings.add(match node.id {
            Some(id) => issue.at_row("execution", id),
            None => issue,
        });
    };
    if node.kind == NodeKind::Loop
        && let Some(most) = statement.most_rounds()
    {
        let inside = trace.children(Some(nth));
        let rounds = inside.filter_map(|inner| match trace.node(inner)?.kind {
            NodeKind::Round { n } => Some(i64::from(n)),
            _ => None,
        });
        let rounds = rounds.max().unwrap_or(0);
        if rounds > most {
            let message = format!(
                "the loop of line {} had {rounds} rounds, and the program allows {most}",
                statement.line
            );
            add("loop-against-program", message, findings);
        }
    }
    if let Some(most) = statement
        .most_attempts()
        .filter(|most| i64::from(node.attempts) > *most)
        && matches!(node.kind, NodeKind::Statement | NodeKind::Branch { .. })
    {
        let attempts = node.attempts;
        let message = format!(
            "line {} had {attempts} attempts, and the program allows {most}",
            statement.line
        );
        add("retry-against-program", message, findings);
    }
}
