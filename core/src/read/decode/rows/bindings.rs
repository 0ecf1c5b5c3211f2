//! Reads rows of the table `bindings`, without their values.

use std::collections::BTreeMap;

use super::notes::Notes;
use super::reader::{RowsReader, ScannedRow};
use crate::model::database::{Database, DecodeError, Want};
use crate::model::issue::Issue;
use crate::model::schema;
use crate::model::{Binding, BindingKind, Execution, Text, ValueAt};
use crate::read::decode::fields::Fields as _;

/// Reads all bindings with their names, kinds and lengths. The columns after a large value are skipped, because
/// reading them would load all pages of the value.
pub(super) fn read(reader: &mut RowsReader<'_>) -> Vec<Binding> {
    let mut bindings: Vec<Binding> = Vec::with_capacity(reader.room_for(schema::BINDINGS));
    let has_frames = reader
        .table(schema::BINDINGS)
        .is_some_and(|table| table.column(schema::FRAME_AROUND).is_some());
    let spec = schema::table_spec(schema::BINDINGS);
    let mut wants = spec.map_or(Vec::new(), |spec| spec.columns.to_vec());
    wants.extend(has_frames.then_some(Want::short(schema::FRAME_AROUND)));
    reader.scan_some(schema::BINDINGS, &wants, |cells| {
        let name = cells.text("name").unwrap_or_else(|| {
            let issue = Issue::warning("unnamed-binding", "a binding has no name");
            cells.mark_odd("name", issue.hint("Give the binding the name that its statement binds. Without a name, no statement can use the binding."));
            Text::default()
        });
        let mut binding = Binding {
            name,
            execution_id: cells.int("execution_id"),
            kind: BindingKind::parse(&cells.word("kind")),
            value: cells.value_at("value"),
            parent_execution_id: has_frames
                .then(|| cells.int(schema::FRAME_AROUND))
                .flatten(),
            ..Binding::default()
        };
        tail(&mut binding, cells);
        binding.tail_known = cells.row.reached();
        check(&binding, cells);
        bindings.push(binding);
    });
    bindings.shrink_to_fit();
    supersede(&mut bindings, &mut reader.notes);
    bindings
}

/// Returns a binding with the columns that decoding skips after a large value: statement, times and attachment.
///
/// # Errors
/// If the row does not exist or cannot be read.
pub fn binding_tail(db: &dyn Database, binding: &Binding) -> Result<Binding, DecodeError> {
    let mut full = [Binding {
        fields: Box::default(),
        tail_known: false,
        ..binding.clone()
    }];
    binding_tails(db, &mut full)?;
    let [full] = full;
    if full.tail_known {
        return Ok(full);
    }
    Err(DecodeError::NotFound(match &full.value {
        ValueAt::Row { rowid, .. } => format!("row {rowid} in bindings"),
        _ => "row of this binding".into(),
    }))
}

/// Reads the statement, times and attachment of all bindings that lack them, like [`binding_tail`]. A binding whose
/// row no longer exists stays unchanged.
///
/// # Errors
/// If a row cannot be read.
pub fn binding_tails(db: &dyn Database, bindings: &mut [Binding]) -> Result<(), DecodeError> {
    if bindings.iter().all(|b| b.tail_known) {
        return Ok(());
    }
    // One reader serves all rows, so that the table's columns are looked up only once.
    let mut reader = RowsReader::of_table(db, schema::BINDINGS, "")?;
    for binding in bindings.iter_mut().filter(|b| !b.tail_known) {
        let ValueAt::Row { rowid, .. } = binding.value else {
            continue;
        };
        reader.scan_row(schema::BINDINGS, rowid, |cells| {
            tail(binding, cells);
            binding.tail_known = true;
        })?;
    }
    Ok(())
}

/// Reads the columns that a row stores after its value.
fn tail(binding: &mut Binding, cells: &mut ScannedRow<'_>) {
    binding.source = cells.text("source_statement");
    binding.created = cells.stamp("created_at");
    binding.updated = cells.stamp("updated_at");
    binding.attachment = cells.text("attachment_path");
}

fn check(binding: &Binding, cells: &mut ScannedRow<'_>) {
    let name = &binding.name;
    // SQLite does not restrict the column, so a row may contain any text as a kind (errata B10).
    if let BindingKind::Other(word) = &binding.kind {
        let found = if word.is_empty() {
            "no kind".to_owned()
        } else {
            format!("the unknown kind “{word}”")
        };
        let issue = Issue::warning("unknown-kind", format!("{name} has {found}"));
        cells.mark_odd(
            "kind",
            issue.hint("OpenProse has the kinds `input`, `output`, `let` and `const`."),
        );
    }
    // Reading accepts any name (errata B11). A note marks names that look like something else, such as a path.
    if let Some(why) = odd_name(name) {
        let issue = Issue::noted("odd-name", format!("the name “{name}” {why}"))
            .hint("The name is shown as written, but `prosescope` refuses to record such a name.");
        cells.mark_odd("name", issue);
    }
}

/// Adds an issue for each binding whose `execution_id` is not the id of a recorded execution.
pub(super) fn check_frames(bindings: &[Binding], executions: &[Execution], notes: &mut Notes) {
    for binding in bindings {
        let Some(id) = binding.execution_id else {
            continue;
        };
        if executions.binary_search_by_key(&id, |e| e.id).is_ok() {
            continue;
        }
        let message = format!(
            "{} belongs to execution {id}, which is not recorded",
            binding.name
        );
        let issue = Issue::warning("unknown-execution", message)
            .hint("No statement finds this binding, because its frame does not exist. The binding is shown with the recorded id.")
            .at_row(schema::BINDINGS, row(binding))
            .at_column("execution_id");
        notes.add(issue);
    }
}

fn row(binding: &Binding) -> i64 {
    match binding.value {
        ValueAt::Row { rowid, .. } => rowid,
        _ => 0,
    }
}

/// Returns why a binding's name could be misread as something else, such as a path (errata B11); otherwise `None`.
fn odd_name(name: &str) -> Option<&'static str> {
    let scoped = name
        .rsplit_once("__")
        .is_some_and(|(_, end)| !end.is_empty() && end.bytes().all(|b| b.is_ascii_digit()));
    if scoped {
        Some("looks like the file name of a binding in a frame")
    } else if name.contains(['/', '\\']) {
        Some("looks like a path")
    } else if !name
        .chars()
        .all(|c| c.is_alphanumeric() || "_-.".contains(c))
    {
        Some("has characters other than letters, digits, `_`, `-` and `.`")
    } else if name.len() > 200 {
        Some("is longer than 200 bytes")
    } else {
        None
    }
}

/// Marks the earlier of two rows with the same name and frame as superseded, and adds an issue (errata S2, B5).
pub(super) fn supersede(bindings: &mut [Binding], notes: &mut Notes) {
    let mut last: BTreeMap<(Text, Option<i64>), usize> = BTreeMap::new();
    let mut earlier: Vec<(usize, usize)> = Vec::new();
    for (i, binding) in bindings.iter().enumerate() {
        let key = (Text::clone(&binding.name), binding.execution_id);
        if let Some(before) = last.insert(key, i) {
            earlier.push((before, i));
        }
    }
    for (before, after) in earlier {
        let rowid = |i: usize| bindings.get(i).map_or(0, row);
        let (old, new) = (rowid(before), rowid(after));
        let Some(binding) = bindings.get_mut(before) else {
            continue;
        };
        binding.superseded = true;
        let place = match binding.execution_id {
            Some(id) => format!("in execution {id}"),
            None => "at the root".into(),
        };
        notes.add(
            Issue::warning(
                "duplicate-binding",
                format!(
                    "{} is recorded twice {place}, in rows {old} and {new}",
                    binding.name
                ),
            )
            .at_row(schema::BINDINGS, old)
            .at_column("name")
            .hint("The later row is used; the earlier one is shown as superseded."),
        );
    }
}
