//! Indexes the rows of each gate in `gates/audit.jsonl`.
//!
//! A decision needs only the rows of its own gate; `gates expire` needs the rows of each due gate. So the log is read
//! once, line by line, and only the position of each line is kept. A log of a million lines takes 24 MB of memory,
//! whatever the length of its lines.

use std::collections::hash_map::DefaultHasher;
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::{self, BufRead, BufReader};
use std::ops::ControlFlow;

use prosescope_core::decode::gates_json;
use prosescope_core::issue::Issue;
use prosescope_core::model::AuditEvent;

use crate::dir::part_of;

/// The position of a line in the log, and the gate that the line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    /// Hash of the gate's id. If another gate has the same hash, its rows are excluded when the lines are read.
    gate: u64,
    /// The number of the line, from 1.
    number: u32,
    offset: u64,
}

/// The positions of the lines in the audit log, by gate.
#[derive(Debug, Default)]
pub(super) struct Places {
    file: Option<File>,
    lines: Vec<Line>,
    /// The length of the log in bytes, when it was read.
    end: u64,
    /// The first ambiguous line: a JSON object that has the same key twice.
    twice: Option<Issue>,
}

impl Places {
    /// Reads the log once; a missing file has no lines.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn of(file: Option<File>) -> io::Result<Places> {
        let mut places = Places {
            file,
            ..Places::default()
        };
        let Some(file) = &places.file else {
            return Ok(places);
        };
        let mut log = BufReader::with_capacity(1 << 16, file.try_clone()?);
        let (mut line, mut number) = (Vec::new(), 0_u32);
        loop {
            line.clear();
            let read = log.read_until(b'\n', &mut line)?;
            if read == 0 {
                break;
            }
            number = number.saturating_add(1);
            let text = String::from_utf8_lossy(&line);
            if let Some(gate) = gates_json::audit_gate(&text) {
                if places.twice.is_none() {
                    places.twice = gates_json::audit_twice(&text, number);
                }
                places.lines.push(Line {
                    gate: hash(&gate),
                    number,
                    offset: places.end,
                });
            }
            places.end += read as u64;
        }
        places.lines.sort_unstable();
        Ok(places)
    }

    /// Returns the issue of the first line that has a key twice, if any: programs differ in which of the two values
    /// they use.
    pub(super) fn twice(&self) -> &[Issue] {
        self.twice.as_slice()
    }

    /// Passes the rows of a gate to `each`, in the order of their lines.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn events(&self, gate: &str, each: &mut dyn FnMut(AuditEvent)) -> io::Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let own = hash(gate);
        let from = self.lines.partition_point(|line| line.gate < own);
        let lines = self.lines.iter().skip(from);
        for line in lines.take_while(|line| line.gate == own) {
            let text = self.text(file, line.offset)?;
            let event = gates_json::audit_line(&String::from_utf8_lossy(&text), line.number.into());
            if let Some(event) = event.filter(|event| *event.gate_id == *gate) {
                each(event);
            }
        }
        Ok(())
    }

    /// Passes the rows of the log to `each`, in order of id, until `each` breaks. Keeps the positions of the lines in
    /// memory, not the rows.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn rows(
        &self,
        each: &mut dyn FnMut(AuditEvent) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let read = |line: &Line| -> io::Result<Option<AuditEvent>> {
            let text = self.text(file, line.offset)?;
            Ok(gates_json::audit_line(
                &String::from_utf8_lossy(&text),
                line.number.into(),
            ))
        };
        let mut lines = self.lines.clone();
        lines.sort_unstable_by_key(|line| line.number);
        let mut order = Vec::with_capacity(lines.len());
        for line in lines {
            order.extend(read(&line)?.map(|event| (event.id, line)));
        }
        order.sort_by_key(|(id, _)| *id);
        for (_, line) in &order {
            if let Some(event) = read(line)?
                && each(event).is_break()
            {
                break;
            }
        }
        Ok(())
    }

    /// Reads the line that begins at an offset, without its line break.
    fn text(&self, file: &File, offset: u64) -> io::Result<Vec<u8>> {
        let mut most = 1 << 10;
        loop {
            let mut text = part_of(file.try_clone()?, offset, most)?;
            if let Some(end) = text.iter().position(|byte| *byte == b'\n') {
                text.truncate(end);
                return Ok(text);
            }
            if most >= self.end - offset {
                return Ok(text);
            }
            most = (most * 4).min(self.end - offset);
        }
    }
}

fn hash(gate: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    gate.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use super::*;

    fn places(log: &str) -> Places {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(log.as_bytes()).unwrap();
        file.rewind().unwrap();
        Places::of(Some(file)).unwrap()
    }

    /// The index must return the same rows as reading the whole log, however the gate's id is spelled in JSON.
    #[test]
    fn rows_are_found_as_the_whole_log_has_them() {
        let long = "x".repeat(5_000);
        let log = format!(
            "\u{feff}{{\"id\":3,\"gate_id\":\"a\",\"event_type\":\"created\"}}\n\
             {{\"gate_id\":\"\\u0061\",\"event_type\":\"viewed\",\"comment\":\"{long}\"}}\n\
             \n\
             {{\"id\":1,\"gate_id\":\"b\",\"gate_id\":\"a\"}}\n\
             no JSON\n\
             {{\"id\":9,\"gate_id\":7}}\n\
             {{\"id\":10}}\n\
             {{\"id\":2,\"gate_id\":\"b\",\"event_type\":\"approved\"}}"
        );
        let places = places(&log);
        let (all, _) = gates_json::audit(&log);
        for gate in ["a", "b", "7", "", "c"] {
            let mut found = Vec::new();
            places.events(gate, &mut |event| found.push(event)).unwrap();
            found.sort_by_key(|event| event.id);
            let expected: Vec<_> = all.iter().filter(|e| *e.gate_id == *gate).collect();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{gate}");
        }
    }

    #[test]
    fn a_line_with_a_key_twice_is_found_whatever_gate_it_is_of() {
        let said = |log: &str| {
            let places = places(log);
            places.twice().first().map(|issue| issue.message.clone())
        };
        let (once, twice) = (
            r#"{"id":1,"gate_id":"a"}"#,
            r#"{"id":2,"gate_id":"b","id":3}"#,
        );
        assert_eq!(said(once), None);
        assert!(said(&format!("{once}\n{twice}\n")).is_some_and(|said| said.contains("line 2")));
    }

    #[test]
    fn no_log_has_no_rows() {
        let places = Places::of(None).unwrap();
        places
            .events("a", &mut |_| panic!("there is none"))
            .unwrap();
    }
}
