use super::begin::touch;
use super::instance::{frame_of, no_execution, shown};
use super::{
    At, AttachmentFile, BindingRow, Change, Facts, Fault, FaultKind, Plan, Record, Style,
    WriteError, names,
};
use crate::model::{BindingKind, Execution};
use crate::program;

/// A longer value goes to a file of its own (sqlite.md, "Large Outputs"), in bytes.
pub const LARGE: usize = 100_000;

/// Characters of a summary that is taken from the value.
const SUMMARY: usize = 160;

/// `put`: a subagent writes its output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Put {
    /// The name; `None` takes the next `anon_…` (errata B13).
    pub name: Option<String>,
    /// The execution that writes it: its frame is the scope. `None` is the root.
    pub execution: Option<i64>,
    /// input, output, let or const; by the program, else `let`.
    pub kind: Option<String>,
    /// The statement that makes it; by the execution or the program, where it is not given.
    pub source: Option<String>,
    /// What it is in a sentence; else the value's first line.
    pub summary: Option<String>,
    /// The value.
    pub value: Vec<u8>,
}

/// What was written, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The name.
    pub name: String,
    /// Its frame, `None` for the root.
    pub frame: Option<i64>,
    /// Its kind.
    pub kind: String,
    /// What it is in a sentence.
    pub summary: String,
    /// The attachment that holds the value.
    pub attachment: Option<String>,
    /// Whether an earlier value was kept as history.
    pub replaced: bool,
}

impl Record for Put {
    type Done = Written;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<Written>, WriteError> {
        // A session that outlives an interruption still hands in what it made; what is over is over.
        let run = facts.run()?;
        if run.status.is_finished() {
            return Err(WriteError::refused(
                "run-finished",
                format!("run {} is {} already", run.id, run.status.word()),
                "a finished run is not written to; `prose init PROGRAM` begins another",
            ));
        }
        let name = match &self.name {
            Some(name) => {
                names::binding(name)?;
                names::file_in(facts.style(), "binding", name)?;
                name.clone()
            }
            None => anonymous(facts.last_anonymous()?)?,
        };
        let row = match self.execution {
            Some(id) => Some(facts.execution(id)?.ok_or_else(|| no_execution(id))?),
            None => None,
        };
        let scope = frame_of(facts, self.execution)?;
        let frame = scope.as_ref().map(|frame| frame.id);
        let above = match &scope {
            Some(frame) => frame_of(facts, frame.parent)?.map(|frame| frame.id),
            None => None,
        };
        let before = facts.binding(&name, frame)?;
        let declared = self.declared(facts, &name)?;
        let source = self.source.clone().or_else(|| written_by(row.as_ref()));
        let source = source.or_else(|| declared.as_ref().map(|(_, text)| text.clone()));
        let kind = match (&self.kind, &before, &declared) {
            (Some(word), ..) => known_kind(word)?,
            (None, Some(before), _) => before.kind.clone(),
            (None, None, Some((kind, _))) => kind.clone(),
            (None, None, None) => BindingKind::Let,
        };
        if let Some(before) = &before {
            let fixed = [&before.kind, &kind]
                .into_iter()
                .any(|kind| matches!(kind, BindingKind::Const | BindingKind::Input));
            // B6: a loop round or a retry is the same statement again.
            if fixed && (before.source.is_none() || before.source != source) {
                return Err(overwrites(&name, &before.kind, before.source.as_deref()));
            }
        } else if facts.style() == Style::Files
            && let Some(other) = facts.binding_by_case(&name, frame)?
        {
            return Err(WriteError::refused(
                "name-differs-by-case",
                format!("{name} and {other} differ in case only, and could share a file"),
                "take another name",
            ));
        }
        let text = std::str::from_utf8(&self.value).ok();
        let summary = match (&self.summary, text) {
            (Some(summary), _) => one_line(summary),
            (None, Some(text)) => one_line(text),
            (None, None) => format!("{} bytes, not text", self.value.len()),
        };
        // Text beyond the limit, and what is no text at all, lies beside; a NUL would end a text in SQLite's shell.
        let inline = text.filter(|text| text.len() <= LARGE && !text.contains('\0'));
        let mut changes = Vec::with_capacity(3);
        let attachment = match inline {
            Some(_) => None,
            None => {
                let path = free_attachment(facts, &name, frame, text.is_some())?;
                changes.push(Change::Attachment(AttachmentFile {
                    path: path.clone(),
                    bytes: self.value.clone(),
                }));
                Some(path)
            }
        };
        changes.push(Change::Binding(BindingRow {
            name: name.clone(),
            execution_id: frame,
            parent_execution_id: above,
            kind: kind.word().to_owned(),
            value: inline.unwrap_or(&summary).to_owned(),
            source,
            attachment: attachment.clone(),
            at: at.text(facts.style()),
            created: None,
        }));
        changes.push(touch(facts, at));
        Ok(Plan {
            changes,
            done: Written {
                name,
                frame,
                kind: kind.word().to_owned(),
                summary,
                attachment,
                replaced: before.is_some(),
            },
        })
    }
}

impl Put {
    /// How the program declares the name: its kind and its statement, when one statement alone does.
    fn declared(
        &self,
        facts: &dyn Facts,
        name: &str,
    ) -> Result<Option<(BindingKind, String)>, WriteError> {
        if self.kind.is_some() && self.source.is_some() {
            return Ok(None);
        }
        let Some(source) = facts.program()? else {
            return Ok(None);
        };
        let listing = program::scan(&source);
        Ok(listing.binder(name).map(|statement| {
            let kind = BindingKind::parse(statement.binds.as_deref().unwrap_or("let"));
            (kind, statement.text.clone())
        }))
    }
}

/// A statement of its own is the source; a frame or a construct only says where it ran.
fn written_by(row: Option<&Execution>) -> Option<String> {
    let row = row?;
    (crate::trace::shape(row) == crate::trace::Shape::Statement && !row.text.is_empty())
        .then(|| row.text.to_string())
}

fn known_kind(word: &str) -> Result<BindingKind, WriteError> {
    match BindingKind::parse(word) {
        BindingKind::Other(_) => Err(WriteError::wrong(
            format!("{word:?} is no kind of binding"),
            "input, output, let or const",
        )),
        kind => Ok(kind),
    }
}

fn overwrites(name: &str, kind: &BindingKind, source: Option<&str>) -> WriteError {
    let by = source.map_or(String::new(), |text| {
        format!(", written by: {}", shown(text))
    });
    WriteError::refused(
        "binding-fixed",
        format!(
            "{name} is there already and does not change ({}{by})",
            kind.word()
        ),
        "only the same statement may write it again (--source); take another name, or `let`",
    )
}

/// `anon_001`, and so on; more digits past 999, and nine at most: stores count no further, so that the name behind the
/// last one would be given out again and again.
fn anonymous(last: u32) -> Result<String, WriteError> {
    const LAST: u32 = 999_999_999;
    match last {
        0..LAST => Ok(format!("anon_{:03}", last + 1)),
        LAST.. => Err(WriteError::refused(
            "anonymous-used-up",
            format!("anon_{LAST} is there already, and the last of its kind"),
            "give the value a name",
        )),
    }
}

/// B8: an attachment is never overwritten.
fn free_attachment(
    facts: &dyn Facts,
    name: &str,
    frame: Option<i64>,
    text: bool,
) -> Result<String, WriteError> {
    let end = if text { "md" } else { "bin" };
    let scope = frame.map_or(String::new(), |id| format!("__{id}"));
    // `aux.md` is no file on Windows, `aux@2.md` is.
    let mut version: u32 = if names::is_device(name) { 2 } else { 1 };
    loop {
        let at = match version {
            1 => String::new(),
            n => format!("@{n}"),
        };
        let path = format!("attachments/{name}{scope}{at}.{end}");
        if !facts.attachment(&path)? {
            return Ok(path);
        }
        version = version.checked_add(1).ok_or_else(|| {
            Fault::new(FaultKind::Damaged, format!("no version of {name} is free"))
        })?;
    }
}

/// The first line that says something, cut.
fn one_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or_default();
    match line.char_indices().nth(SUMMARY) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or(line).trim_end()),
        None => line.to_owned(),
    }
}
