//! Compares two runs of one program, or of two versions of a program, row by row, and lists the differences.
//!
//! | file | contains |
//! |---|---|
//! | `programs.rs` | which statements of the two programs correspond |
//! | `align.rs` | which rows of the two runs correspond |
//! | `values.rs` | which values and memories differ, and in which lines |
//! | `records.rs` | which gates, files and other records differ |
//! | `words.rs` | the differences in words |

mod align;
mod programs;
mod records;
mod values;
mod words;

use self::align::{AlignedRow, Alignment, align};
use self::words::longer;
use super::chosen::took;
use super::overview;
use super::trace::{error_of, node_ref, note, status_word};
use super::work::outcome;
use crate::model::Form;
use crate::model::time::human_duration;
use crate::pages::session::Session;
use crate::pages::view::{
    CompareCounts, CompareView, ComparedNode, ComparedRow, ComparedRun, ComparedValue, Difference,
    Overview, ProgramRelation, RunPart,
};
use crate::trace::{NodeId, NodeKind};

/// The largest number of rows in the result. A person would not read more.
const ROWS: usize = 20_000;

/// The largest number of unreadable parts of a run that notes list.
const NOTES: usize = 20;

/// The smallest difference of two durations that counts, in milliseconds. The difference must also be at least a fifth
/// of the longer duration.
const NOTABLE: i64 = 10_000;
const FIFTH: i64 = 5;

/// The parts of a run that are compared. If one of them was not read completely, "no difference" would be wrong. The
/// audit log is included because the log records how gates were decided.
pub const COMPARED: [RunPart; 6] = [
    RunPart::Statements,
    RunPart::Bindings,
    RunPart::Agents,
    RunPart::Gates,
    RunPart::Audit,
    RunPart::Imports,
];

/// What to compare, and what to list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CompareOptions {
    /// Whether to list every row, not only differences with the rows around them.
    pub all: bool,
    /// Whether to compare runs of different programs, too.
    pub anyway: bool,
}

/// Why two runs cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotComparable {
    /// One of the two sources is a store of agents.
    #[error("{0} is a store of agents, not a run")]
    NoRun(String),
    /// The runs are of different programs; the text gives the reason.
    #[error("{0}")]
    Programs(String),
}

/// Compares two runs. `now` is in milliseconds since 1970 UTC.
///
/// # Errors
/// An error if `a` or `b` is not a run, or if the runs are of different programs and `options.anyway` is false.
pub fn compare(
    a: &Session,
    b: &Session,
    now: Option<i64>,
    options: CompareOptions,
) -> Result<CompareView, NotComparable> {
    for session in [a, b] {
        if session.run.form == Form::Agents {
            return Err(NotComparable::NoRun(session.name()));
        }
    }
    let (programs, pairs) = programs::compare(a, b);
    if programs.relation == ProgramRelation::Different && !options.anyway {
        let why = programs.words.trim_end_matches('.');
        return Err(NotComparable::Programs(why.to_owned()));
    }
    let _snapshots = (a.snapshot(), b.snapshot());
    let aligned = align(a, b, pairs.as_ref());
    let mut values = values::compare(a, b, &aligned);
    values.records(a, b, &aligned);
    if a.run.program.source.is_some() != b.run.program.source.is_some() {
        values.not_compared("the programs".to_owned(), programs.words.clone());
    }
    let (of_a, of_b) = (overview(a, now), overview(b, now));
    let (longer_ms, longer) = longer(of_a.duration_ms, of_b.duration_ms);
    let mut view = CompareView {
        a: run(a, of_a),
        b: run(b, of_b),
        longer_ms,
        longer,
        notes: notes(a, b),
        incomplete: lacks(a) || lacks(b),
        ..CompareView::default()
    };
    view.counts = CompareCounts {
        a_rows: a.trace.nodes.len() as u32,
        b_rows: b.trace.nodes.len() as u32,
        values: values.compared,
        records: values.records_compared,
        records_differ: values.records_differ,
        ..CompareCounts::default()
    };
    let of_rows = values.of_row.values().map(Vec::len).sum::<usize>();
    view.counts.values_differ = (of_rows + values.of_run.len() + values.memories.len()) as u32;
    let differs = differences(a, b, &aligned, &values.of_row, &mut view.counts);
    let listed = listed(&aligned, &differs, options.all);
    let sides = (a, b);
    for ((at, entry), differs) in (0..).zip(&aligned.entries).zip(&differs) {
        if listed.get(at as usize) != Some(&true) {
            continue;
        }
        if view.rows.len() == ROWS {
            view.rows_left_out += 1;
            continue;
        }
        let own = values.of_row.remove(&at).unwrap_or_default();
        view.rows
            .push(row(sides, entry, differs.clone(), own, options.all));
    }
    let CompareCounts {
        differ,
        only_a,
        only_b,
        values_differ,
        ..
    } = view.counts;
    view.equal = differ + only_a + only_b + values_differ + values.not_compared_count == 0
        && view.counts.records_differ.is_empty()
        && !view.incomplete
        && view.a.status == view.b.status
        && programs.relation != ProgramRelation::Differs
        && programs.relation != ProgramRelation::Different;
    view.programs = programs;
    view.values = values.of_run;
    view.memories = values.memories;
    view.records = values.records;
    view.outputs = values.outputs;
    view.not_compared = values.not_compared;
    view.not_compared_count = values.not_compared_count;
    view.headline = words::headline(&view.a, &view.b);
    // A block around a difference often differs only because of that difference, so the innermost difference is
    // reported as the first.
    let below = |at: usize| view.rows.get(at + 1).map_or(0, |next| next.level);
    let first = view.rows.iter().enumerate().find(|(at, row)| {
        let mut of = row.differs.iter();
        let differs = of.any(|of| view.equal || *of != Difference::Duration);
        differs && (options.all || below(*at) <= row.level)
    });
    let first = first.map(|(_, row)| row);
    view.found = words::found(&view, first);
    Ok(view)
}

fn run(session: &Session, overview: Overview) -> ComparedRun {
    ComparedRun {
        run: session.name(),
        program: overview.program,
        status: overview.status,
        headline: overview.headline,
        duration_ms: overview.duration_ms,
        duration: overview.duration,
        tokens: overview.cost.map(|cost| cost.total),
    }
}

/// Returns whether a compared part of a run could not be read.
fn lacks(session: &Session) -> bool {
    let unread = session.unread();
    let mut unread = unread.iter().filter(|unread| !unread.around);
    unread.any(|unread| COMPARED.iter().any(|part| unread.concerns(*part)))
}

/// Returns the notes that a page shows before the rows, such as the parts of A and B that could not be read.
fn notes(a: &Session, b: &Session) -> Vec<String> {
    let of = |(name, session): (&str, &Session)| {
        let unread = session.unread().into_iter();
        // The note of the trace already reports an encrypted part.
        let unread = unread.filter(|u| !u.sealed && !u.parts.is_empty());
        let unread = unread.map(|u| format!("{} could not be read: {}", u.what, u.why));
        let notes: Vec<String> = note(session)
            .into_iter()
            .chain(unread.take(NOTES))
            .collect();
        let none = session.trace.nodes.is_empty() && notes.is_empty();
        let none = none.then(|| "no statement is recorded".to_owned());
        let notes = notes.into_iter().chain(none);
        notes
            .map(|note| format!("{name}: {note}"))
            .collect::<Vec<_>>()
    };
    [of(("A", a)), of(("B", b))].concat()
}

/// Returns the differences of each entry, and counts them.
fn differences(
    a: &Session,
    b: &Session,
    aligned: &Alignment,
    values: &std::collections::BTreeMap<u32, Vec<ComparedValue>>,
    counts: &mut CompareCounts,
) -> Vec<Vec<Difference>> {
    let entries = (0..).zip(&aligned.entries);
    let each = entries.map(|(at, entry)| {
        let (of_a, of_b) = match (entry.a, entry.b) {
            (Some(of_a), Some(of_b)) => (of_a, of_b),
            (Some(_), None) => {
                counts.only_a += 1;
                return vec![Difference::OnlyA];
            }
            _ => {
                counts.only_b += 1;
                return vec![Difference::OnlyB];
            }
        };
        counts.paired += 1;
        let mut differs = between((a, of_a), (b, of_b));
        if values.contains_key(&at) {
            differs.push(Difference::Values);
        }
        differs.sort_unstable();
        match differs.as_slice() {
            [] => {}
            [Difference::Duration] => counts.durations += 1,
            _ => counts.differ += 1,
        }
        differs
    });
    each.collect()
}

/// Returns the differences of two rows, without those of values.
fn between((a, of_a): (&Session, NodeId), (b, of_b): (&Session, NodeId)) -> Vec<Difference> {
    let (Some(node_a), Some(node_b)) = (a.node(of_a), b.node(of_b)) else {
        return Vec::new();
    };
    let took = (took(a, node_a), took(b, node_b));
    let by = longer(took.0, took.1).0.map_or(0, i64::saturating_abs);
    let most = took.0.max(took.1).unwrap_or(0);
    let errors = (error_of(a, of_a, node_a), error_of(b, of_b, node_b));
    let is = [
        (Difference::Text, node_a.text.trim() != node_b.text.trim()),
        (
            Difference::Status,
            status_word(a, node_a) != status_word(b, node_b),
        ),
        (Difference::Attempts, node_a.attempts != node_b.attempts),
        (
            Difference::Error,
            errors.0.map(str::trim) != errors.1.map(str::trim),
        ),
        (Difference::Outcome, decided(a, of_a) != decided(b, of_b)),
        (
            Difference::Duration,
            by >= NOTABLE && by.saturating_mul(FIFTH) >= most,
        ),
    ];
    is.into_iter()
        .filter(|(_, is)| *is)
        .map(|(what, _)| what)
        .collect()
}

/// Returns how a gate was decided; `None` for other rows and pending gates.
fn decided(session: &Session, node: NodeId) -> Option<String> {
    match &session.node(node)?.kind {
        NodeKind::Gate { gate } => outcome(session.index.gate(&session.run, gate)?),
        _ => None,
    }
}

/// Returns which entries are listed: those that differ, and the entries around them. If only one run records a row, the
/// rows below it are not listed.
fn listed(aligned: &Alignment, differs: &[Vec<Difference>], all: bool) -> Vec<bool> {
    let is_only = |entry: &AlignedRow| !entry.is_pair();
    let mut listed: Vec<bool> = (aligned.entries.iter().zip(differs))
        .map(|(entry, differs)| {
            let above = entry.above.and_then(|above| aligned.get(above));
            all || !differs.is_empty() && !above.is_some_and(is_only)
        })
        .collect();
    // An entry comes before the entries inside of it. The loop goes backward, so that it sees the inner entries first.
    for (at, entry) in aligned.entries.iter().enumerate().rev() {
        if listed.get(at) == Some(&true)
            && let Some(above) = entry.above.and_then(|above| listed.get_mut(above as usize))
        {
            *above = true;
        }
    }
    listed
}

fn row(
    (a, b): (&Session, &Session),
    entry: &AlignedRow,
    differs: Vec<Difference>,
    values: Vec<ComparedValue>,
    all: bool,
) -> ComparedRow {
    let side = |session: &Session, node: Option<NodeId>| {
        let node = node?;
        let at = session.node(node)?;
        let duration_ms = took(session, at);
        Some(ComparedNode {
            at: node_ref(session, node)?,
            attempts: at.attempts,
            duration_ms,
            duration: duration_ms.map(human_duration),
            outcome: decided(session, node),
        })
    };
    let one = entry.a.and_then(|at| a.node(at));
    let one = one.or_else(|| entry.b.and_then(|at| b.node(at)));
    let (of_a, of_b) = (side(a, entry.a), side(b, entry.b));
    let took = |of: &Option<ComparedNode>| of.as_ref().and_then(|of| of.duration_ms);
    let (longer_ms, longer) = longer(took(&of_a), took(&of_b));
    ComparedRow {
        level: entry.level,
        kind: one.map_or_else(String::new, |node| node.kind.word().to_owned()),
        below: if entry.is_pair() || all {
            0
        } else {
            one.map_or(0, |node| node.descendants)
        },
        a: of_a,
        b: of_b,
        differs,
        guessed: entry.guessed,
        longer_ms,
        longer,
        values,
    }
}
