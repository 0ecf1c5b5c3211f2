//! Searches values and memories, which are read in pieces.

use std::collections::VecDeque;

use super::held::in_scope;
use super::{Needle, NeedleScan, Search, SearchSoFar};
use crate::model::ValueAt;
use crate::model::source::SourceError;
use crate::pages::session::values::ValuePlace;
use crate::pages::session::{Session, ValueOf, shown};
use crate::pages::view::{HitKind, SearchHit, SkippedValue, ValueFormat};

/// The number of bytes, and the number of values, after which a step ends.
const STEP: u64 = 1 << 20;
const VALUES: usize = 64;

/// How many bytes of a value are examined to decide whether the value is text.
const HEAD: usize = 2_048;

/// A value to search.
pub(super) struct Job {
    of: ValueOf,
    kind: HitKind,
    /// The number of bytes of this value that are counted in the total before the value is read.
    counted: u64,
}

/// A value that was searched in part.
pub(super) struct PartlySearched {
    at: ValuePlace,
    len: u64,
    read: u64,
    text: SearchedValue,
}

/// The state of searching one value.
struct SearchedValue {
    place: SearchHit,
    kind: HitKind,
    scan: NeedleScan,
    nth: u32,
    /// The first bytes of the value, collected until [`HEAD`] bytes are enough to decide whether the value is text.
    head: Vec<u8>,
    known: bool,
}

/// Returns the values to search, and their bytes in all.
pub(super) fn jobs(session: &Session) -> (VecDeque<Job>, u64) {
    let job = |of, kind, value: &ValueAt| Job {
        of,
        kind,
        counted: value.len().unwrap_or(0),
    };
    let bindings = (0..).zip(&session.run.bindings);
    let values = bindings.map(|(at, b)| job(ValueOf::Summary(at), HitKind::Values, &b.value));
    let agents = (0..).zip(&session.run.agents);
    let memories = agents.map(|(at, a)| job(ValueOf::Memory(at), HitKind::Memories, &a.memory));
    let jobs: VecDeque<Job> = values.chain(memories).collect();
    let of = jobs.iter().map(|job| job.counted).sum();
    (jobs, of)
}

/// Searches the next piece of a large value, or several small values.
pub(super) fn step(search: &mut Search, session: &Session) {
    let _snapshot = session.snapshot();
    let mut left = STEP;
    for _ in 0..VALUES {
        let mut reading = match search.reading.take() {
            Some(reading) => reading,
            None => match search.jobs.pop_front() {
                Some(job) => match begin(search, session, &job) {
                    Some(reading) => reading,
                    None => continue,
                },
                None => return,
            },
        };
        let before = search.found.read;
        if read(
            &mut reading,
            session,
            &search.needle,
            &mut search.found,
            left,
        ) {
            search.reading = Some(reading);
            return;
        }
        left = left.saturating_sub(search.found.read - before);
        if left == 0 {
            return;
        }
    }
}

/// Locates a value. If the value's row has the path of an attachment, the attachment is searched after the row's own
/// value.
fn begin(search: &mut Search, session: &Session, job: &Job) -> Option<PartlySearched> {
    let mut place = SearchHit::default();
    match &job.of {
        ValueOf::Binding(at) | ValueOf::Summary(at) => {
            let binding = session.run.bindings.get(*at as usize)?;
            place.place = in_scope(session, binding);
            place.binding = Some(*at);
            if matches!(job.of, ValueOf::Summary(_)) {
                let attached = session.values.binding_tail(binding).attachment;
                let attached = attached.filter(|path| !path.is_empty());
                if let Some(len) =
                    attached.and_then(|path| Some(session.values.attachment(&path)?.1))
                {
                    search.found.of += len;
                    search.jobs.push_front(Job {
                        of: ValueOf::Binding(*at),
                        kind: job.kind,
                        counted: len,
                    });
                }
            } else {
                place.place.push_str(", attachment");
            }
        }
        ValueOf::Memory(at) => {
            let agent = session.run.agents.get(*at as usize)?;
            place.place = format!("memory of {}", agent.name);
            place.agent = Some(*at);
        }
        ValueOf::File(path) => place.file = Some(path.clone()),
    }
    match session.locate(&job.of) {
        Ok(at) => Some(PartlySearched {
            len: at.len(),
            at,
            read: 0,
            text: SearchedValue {
                place,
                kind: job.kind,
                scan: NeedleScan::default(),
                nth: 0,
                head: Vec::new(),
                known: false,
            },
        }),
        Err(error) => {
            search.found.read += job.counted;
            search.found.skip(unreadable(&place, job.counted, &error));
            None
        }
    }
}

/// Searches the next part of a value. Returns whether a part of the value remains.
fn read(
    reading: &mut PartlySearched,
    session: &Session,
    needle: &Needle,
    found: &mut SearchSoFar,
    left: u64,
) -> bool {
    let (begun, budget) = (reading.read, left.max(reading.read));
    let text = &mut reading.text;
    let mut taken = 0;
    let mut binary = false;
    let mut each = |piece: &[u8]| {
        let room = usize::try_from(budget - taken).unwrap_or(usize::MAX);
        let piece = piece.get(..room.min(piece.len())).unwrap_or_default();
        taken += piece.len() as u64;
        binary = !text.take(piece, needle, found);
        !binary && taken < budget
    };
    let result = session.values.pieces_from(&reading.at, begun, &mut each);
    reading.read += taken;
    found.read += taken;
    let rest = reading.len.saturating_sub(reading.read);
    if let Err(error) = result {
        found.read += rest;
        found.skip(unreadable(&text.place, reading.len, &error));
        return false;
    }
    if !binary && rest > 0 && taken > 0 {
        return true;
    }
    if !binary {
        binary = !text.end(needle, found);
    }
    found.read += rest;
    if binary {
        found.skip(SkippedValue {
            place: text.place.place.clone(),
            len: reading.len,
            why: "it is not text".to_owned(),
            failed: false,
        });
    }
    false
}

impl SearchedValue {
    /// Searches a piece; returns `false` if the value is not text.
    fn take(&mut self, piece: &[u8], needle: &Needle, found: &mut SearchSoFar) -> bool {
        if self.known {
            self.scan(piece, false, needle, found);
            return true;
        }
        self.head.extend_from_slice(piece);
        self.head.len() < HEAD || self.settle(true, needle, found)
    }

    /// Searches the remaining bytes at the end of the value; returns `false` if the value is not text.
    fn end(&mut self, needle: &Needle, found: &mut SearchSoFar) -> bool {
        if !self.known && !self.settle(false, needle, found) {
            return false;
        }
        self.scan(&[], true, needle, found);
        true
    }

    fn settle(&mut self, cut: bool, needle: &Needle, found: &mut SearchSoFar) -> bool {
        self.known = true;
        let head = std::mem::take(&mut self.head);
        let sample = head.get(..HEAD.min(head.len())).unwrap_or_default();
        let (text, _) = shown::to_text(sample, cut);
        if shown::format_of(sample, &text) == ValueFormat::Binary {
            return false;
        }
        self.scan(&head, false, needle, found);
        true
    }

    fn scan(&mut self, piece: &[u8], last: bool, needle: &Needle, found: &mut SearchSoFar) {
        let SearchedValue {
            scan,
            place,
            nth,
            kind,
            ..
        } = self;
        scan.piece(needle, piece, last, &mut |line| {
            found.add(*kind, place, line, nth);
        });
    }
}

fn unreadable(place: &SearchHit, len: u64, error: &SourceError) -> SkippedValue {
    SkippedValue {
        place: place.place.clone(),
        len,
        why: error.to_string(),
        failed: true,
    }
}
