//! Compares the values and memories of two runs, and finds the lines that differ.

use std::collections::BTreeMap;

use imara_diff::InternedInput;
use sha2::{Digest, Sha256};

use super::super::agents::used_agents;
use super::super::lines::hunks;
use super::super::writes::written;
use super::align::Alignment;
use super::words::lines;
use crate::model::{AgentScope, Binding, BindingKind, ValueAt};
use crate::pages::session::Session;
use crate::pages::session::values::ValuePlace;
use crate::pages::view::{ComparedValue, NotCompared, ValueFormat, ValueView};
use crate::trace::NodeId;

/// How many bytes of a value are compared line by line.
pub(super) const SHOWN: usize = 64 << 10;

/// The largest number of bytes of long or binary values and files that are compared, of both runs together.
pub(super) const MOST: u64 = 128 << 20;

/// Why something is not compared once [`MOST`] bytes were read.
pub(super) const USED_UP: &str = "what was compared before used up the limit of 128 MiB";

/// The largest number of parts that are listed as not compared.
const NAMED: usize = 20;

/// The number of bindings whose times and attachments are read together.
const AT_ONCE: usize = 1_000;

/// The differences of values and memories.
#[derive(Debug, Default)]
pub(super) struct ValueDifferences {
    /// The differences of values, by the index in [`Alignment::entries`] of the row that wrote them.
    pub(super) of_row: BTreeMap<u32, Vec<ComparedValue>>,
    pub(super) of_run: Vec<ComparedValue>,
    pub(super) memories: Vec<ComparedValue>,
    pub(super) outputs: Vec<String>,
    pub(super) not_compared: Vec<NotCompared>,
    pub(super) not_compared_count: u32,
    /// How many values and memories were compared.
    pub(super) compared: u32,
    /// The records that differ, such as gates: at most 1,000.
    pub(super) records: Vec<ComparedValue>,
    pub(super) records_compared: u32,
    /// How many records differ, by kind.
    pub(super) records_differ: BTreeMap<String, u32>,
    /// How many bytes of long or binary values and files were read.
    pub(super) read: u64,
}

/// A pair of bindings of both runs, or a binding of only one run.
#[derive(Debug, Default)]
struct Both {
    a: Option<u32>,
    b: Option<u32>,
}

/// The result of comparing two values.
enum ValueComparison {
    Same,
    Differs(ComparedValue),
    Unknown(String),
}

/// Compares the bindings and the agents' memories of two runs.
pub(super) fn compare(a: &Session, b: &Session, aligned: &Alignment) -> ValueDifferences {
    let mut values = ValueDifferences::default();
    let mut both: BTreeMap<(Option<u32>, &str), Both> = BTreeMap::new();
    // If two rows have the same name and frame, the last one counts, as in the rest of Prosescope.
    for (at, binding) in written_in(a) {
        match frame(a, binding, |node| aligned.of_a(node)) {
            AlignedFrame::Entry(frame) => {
                both.entry((frame, &*binding.name)).or_default().a = Some(at);
            }
            AlignedFrame::Unknown(why) => values.not_compared(binding.name.to_string(), why),
        }
    }
    for (at, binding) in written_in(b) {
        match frame(b, binding, |node| aligned.of_b(node)) {
            AlignedFrame::Entry(frame) => {
                both.entry((frame, &*binding.name)).or_default().b = Some(at);
            }
            AlignedFrame::Unknown(why) => values.not_compared(binding.name.to_string(), why),
        }
    }
    // If only one run records a call of a block, the values in that call have no counterpart.
    both.retain(|(frame, _), _| {
        frame.is_none_or(|frame| aligned.get(frame).is_some_and(|entry| entry.is_pair()))
    });
    let all: Vec<Both> = both.into_values().collect();
    for some in all.chunks(AT_ONCE) {
        let of_a = full(a, some.iter().map(|both| both.a));
        let of_b = full(b, some.iter().map(|both| both.b));
        for ((both, of_a), of_b) in some.iter().zip(&of_a).zip(&of_b) {
            values.binding((a, both.a, of_a), (b, both.b, of_b), aligned);
        }
    }
    values.memories(a, b);
    values
}

/// The frame of a binding in the aligned rows.
enum AlignedFrame {
    /// The index of the frame's entry; `None` is the root.
    Entry(Option<u32>),
    /// The frame is not recorded; the text gives the reason.
    Unknown(String),
}

/// Returns the bindings that have a value, with their indices.
fn written_in(session: &Session) -> impl Iterator<Item = (u32, &Binding)> {
    let all = (0..).zip(&session.run.bindings);
    all.filter(|(_, binding)| binding.is_written())
}

fn frame(
    session: &Session,
    binding: &Binding,
    entry: impl Fn(NodeId) -> Option<u32>,
) -> AlignedFrame {
    let Some(id) = binding.execution_id else {
        return AlignedFrame::Entry(None);
    };
    match session.node_of_row(id).and_then(entry) {
        Some(entry) => AlignedFrame::Entry(Some(entry)),
        None => AlignedFrame::Unknown(format!(
            "the frame of the value, execution {id}, is not recorded"
        )),
    }
}

/// Returns the bindings with their times and attachments, in the given order.
fn full(session: &Session, of: impl Iterator<Item = Option<u32>>) -> Vec<Option<Binding>> {
    let places: Vec<Option<&Binding>> = of
        .map(|at| session.run.bindings.get(at? as usize))
        .collect();
    let mut there: Vec<Binding> = places.iter().flatten().map(|b| (*b).clone()).collect();
    session.values.binding_tails(&mut there);
    let mut there = there.into_iter();
    let each = places.iter().map(|place| place.and_then(|_| there.next()));
    each.collect()
}

type Side<'s> = (&'s Session, Option<u32>, &'s Option<Binding>);

impl ValueDifferences {
    fn binding(&mut self, a: Side<'_>, b: Side<'_>, aligned: &Alignment) {
        let (of_a, of_b) = (a.2.as_ref(), b.2.as_ref());
        let Some(one) = of_a.or(of_b) else {
            return;
        };
        let by = |(session, at, full): Side<'_>| at.map(|at| written(session, at, full.as_ref()));
        let (by_a, by_b) = (by(a), by(b));
        let inferred = [by_a, by_b].into_iter().flatten().any(|by| by.inferred);
        let row_of_a = by_a.and_then(|by| aligned.of_a(by.by?));
        let row_of_b = by_b.and_then(|by| aligned.of_b(by.by?));
        let row = match (row_of_a, row_of_b) {
            (Some(of_a), Some(of_b)) if of_a != of_b => None,
            (of_a, of_b) => of_a.or(of_b),
        };
        let in_pair = row.is_none_or(|row| aligned.get(row).is_some_and(|entry| entry.is_pair()));
        if (of_a.is_none() || of_b.is_none()) && !in_pair {
            // The row that wrote the value is only in one run, so the value has no counterpart.
            return;
        }
        self.compared += 1;
        let verdict = match (of_a, of_b) {
            (Some(of_a), Some(of_b)) => {
                let is_null = |at: &ValueAt| matches!(at, ValueAt::Row { len: None, .. });
                let null = (is_null(&of_a.value), is_null(&of_b.value));
                let places = (a.0.values.of_binding(of_a), b.0.values.of_binding(of_b));
                match null {
                    (true, true) => ValueComparison::Same,
                    (false, false) => self.places(a.0, &places.0, b.0, &places.1),
                    _ => ValueComparison::Differs(ComparedValue {
                        note: Some("NULL in one of the runs".to_owned()),
                        ..ComparedValue::default()
                    }),
                }
            }
            // One run lacks the value. If bindings of that run are unreadable, `CompareView::incomplete` records that.
            _ => ValueComparison::Differs(ComparedValue::default()),
        };
        let is_output = [of_a, of_b]
            .into_iter()
            .flatten()
            .any(|b| b.kind == BindingKind::Output);
        let found = match verdict {
            ValueComparison::Same => return,
            ValueComparison::Unknown(why) => return self.not_compared(one.name.to_string(), why),
            ValueComparison::Differs(found) => found,
        };
        if is_output {
            self.outputs.push(one.name.to_string());
        }
        let found = ComparedValue {
            name: one.name.to_string(),
            kind: one.kind.word().to_owned(),
            a: a.1,
            b: b.1,
            a_len: of_a.and_then(|of| of.value.len()),
            b_len: of_b.and_then(|of| of.value.len()),
            inferred: inferred && row.is_some(),
            ..found
        };
        match row.filter(|_| in_pair) {
            Some(row) => self.of_row.entry(row).or_default().push(found),
            None => self.of_run.push(found),
        }
    }

    fn memories(&mut self, a: &Session, b: &Session) {
        let (of_a, of_b) = (used_agents(a), used_agents(b));
        let names: std::collections::BTreeSet<_> = of_a.keys().chain(of_b.keys()).collect();
        for key in names {
            let agent = |session: &Session, at: Option<&usize>| {
                let agent = session.run.agents.get(*at?);
                agent.map(|agent| session.values.of_memory(agent))
            };
            let len =
                |session: &Session, at: Option<&usize>| session.run.agents.get(*at?)?.memory.len();
            let (at_a, at_b) = (of_a.get(key), of_b.get(key));
            let found = ComparedValue {
                name: key.0.to_owned(),
                kind: key.1.to_owned(),
                a: at_a.map(|at| *at as u32),
                b: at_b.map(|at| *at as u32),
                a_len: len(a, at_a),
                b_len: len(b, at_b),
                ..ComparedValue::default()
            };
            let (Some(place_a), Some(place_b)) = (agent(a, at_a), agent(b, at_b)) else {
                // An agent of the project or the user does not belong to a run. If only one run has such an agent, the
                // runs are in different places, which is not a difference.
                if key.1 == AgentScope::Execution.word() {
                    self.compared += 1;
                    self.memories.push(found);
                }
                continue;
            };
            let lens = (found.a_len, found.b_len);
            if lens == (None, None) {
                // Neither of the two agents has a memory.
                continue;
            }
            self.compared += 1;
            let verdict = match lens {
                (Some(_), Some(_)) => self.places(a, &place_a, b, &place_b),
                _ => ValueComparison::Differs(ComparedValue::default()),
            };
            match verdict {
                ValueComparison::Same => {}
                ValueComparison::Unknown(why) => {
                    self.not_compared(format!("memory of {}", key.0), why);
                }
                ValueComparison::Differs(differs) => self.memories.push(ComparedValue {
                    lines: differs.lines,
                    more_lines: differs.more_lines,
                    cut: differs.cut,
                    note: differs.note,
                    ..found
                }),
            }
        }
    }

    pub(super) fn not_compared(&mut self, name: String, why: String) {
        self.not_compared_count += 1;
        if self.not_compared.len() < NAMED {
            self.not_compared.push(NotCompared { name, why });
        }
    }

    /// Compares the value at a place of A with the value at a place of B.
    fn places(
        &mut self,
        a: &Session,
        at_a: &ValuePlace,
        b: &Session,
        at_b: &ValuePlace,
    ) -> ValueComparison {
        let view = |session: &Session, at: &ValuePlace, name: &str| {
            let view = session.values.view(at, SHOWN);
            let view = view.map_err(|error| format!("{name}: {error}"))?;
            match &view.missing {
                Some(why) => Err(format!("{name}: {why}")),
                None => Ok(view),
            }
        };
        let (view_a, view_b) = match (view(a, at_a, "A"), view(b, at_b, "B")) {
            (Ok(of_a), Ok(of_b)) => (of_a, of_b),
            (Err(why), _) | (_, Err(why)) => return ValueComparison::Unknown(why),
        };
        if view_a.len == view_b.len {
            match self.are_same((a, at_a, &view_a), (b, at_b, &view_b)) {
                Ok(true) => return ValueComparison::Same,
                Ok(false) => {}
                Err(why) => return ValueComparison::Unknown(why),
            }
        }
        ValueComparison::Differs(difference(&view_a, &view_b))
    }

    /// Returns whether two values of the same length have the same bytes.
    fn are_same(
        &mut self,
        a: (&Session, &ValuePlace, &ValueView),
        b: (&Session, &ValuePlace, &ValueView),
    ) -> Result<bool, String> {
        let as_text = |view: &ValueView| {
            !view.cut && view.format != ValueFormat::Binary && !view.text.contains('\u{fffd}')
        };
        if as_text(a.2) && as_text(b.2) {
            return Ok(a.2.text == b.2.text);
        }
        self.read = self.read.saturating_add(a.2.len).saturating_add(b.2.len);
        if self.read > MOST {
            return Err(USED_UP.to_owned());
        }
        let digest = |(session, at, _): (&Session, &ValuePlace, &ValueView)| {
            let mut hash = Sha256::new();
            let read = session.values.pieces(at, &mut |piece| {
                hash.update(piece);
                true
            });
            read.map(|()| hash.finalize())
                .map_err(|error| error.to_string())
        };
        Ok(digest(a)? == digest(b)?)
    }
}

/// Finds the lines in which two values differ.
pub(super) fn difference(a: &ValueView, b: &ValueView) -> ComparedValue {
    if a.format == ValueFormat::Binary || b.format == ValueFormat::Binary {
        return ComparedValue {
            note: Some("not text".to_owned()),
            ..ComparedValue::default()
        };
    }
    let cut = a.cut || b.cut;
    let (before, after) = (whole_lines(a), whole_lines(b));
    let input = InternedInput::new(before.as_str(), after.as_str());
    let (lines, more_lines) = lines(&input, hunks(&input));
    let note = match (lines.is_empty(), cut) {
        (true, true) => Some("the first 64 KiB are the same"),
        (true, false) => Some("only line breaks differ"),
        (false, _) => None,
    };
    ComparedValue {
        more_lines,
        lines,
        cut,
        note: note.map(str::to_owned),
        ..ComparedValue::default()
    }
}

/// Returns the lines of a value that are compared, each with one line break. Of a value longer than [`SHOWN`], only the
/// lines that end within the first [`SHOWN`] bytes are compared. If the first line is longer, its beginning is used.
fn whole_lines(view: &ValueView) -> String {
    let text = view.text.get(..view.text.floor_char_boundary(SHOWN));
    let text = text.unwrap_or(&view.text);
    let text = match text.rfind('\n').filter(|_| view.cut) {
        Some(end) => text.get(..end).unwrap_or(text),
        None => text,
    };
    let mut lines = String::with_capacity(text.len() + 1);
    for line in text.lines() {
        lines.push_str(line);
        lines.push('\n');
    }
    lines
}
