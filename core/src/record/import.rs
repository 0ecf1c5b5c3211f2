use super::entry::touch;
use super::instance::{running, shown};
use super::source::ProgramSource;
use super::{
    At, AttachmentFile, Change, CommandPlan, Facts, ImportFact, ImportRegistered, ImportRow,
    NestedRun, Record, Style, WriteError, names,
};

use crate::program::StatementKind;

/// Limit for a handle, in bytes, because handle and slug together form a folder's name.
const LONGEST_HANDLE: usize = 100;

/// The begin of a `use`, which registers a program under a handle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddImport {
    /// The handle by which the program uses the import.
    pub alias: String,
    /// The address of the imported program; by default from the program's `use`, or from the earlier registration.
    pub source_url: Option<String>,
    /// The imported program's inputs as JSON; by default from the earlier registration.
    pub inputs_schema: Option<String>,
    /// The imported program's outputs as JSON; by default from the earlier registration.
    pub outputs_schema: Option<String>,
    /// The imported program's text. A folder keeps the text in the nested run. For a database, the text is stored in a
    /// file at the same path beside the database.
    pub program: Option<String>,
    /// The name of the imported program's file; by default made from the handle.
    pub name: Option<String>,
}

impl Record for AddImport {
    type Done = ImportRegistered;

    fn plan(
        &self,
        facts: &Facts<'_>,
        at: &At,
    ) -> Result<CommandPlan<ImportRegistered>, WriteError> {
        let run = running(facts)?;
        names::plain("handle", &self.alias)?;
        for (mark, why) in [
            (
                ".",
                "take a handle without a dot: in `research.findings`, a dot separates the handle from a binding",
            ),
            (
                "--",
                "take a handle without `--`: in the folder name `research--deep-research`, `--` ends the handle",
            ),
        ] {
            if self.alias.contains(mark) {
                let message = format!("the handle {} has `{mark}` in it", self.alias);
                return Err(WriteError::wrong(message, why));
            }
        }
        if self.alias.len() > LONGEST_HANDLE {
            return Err(WriteError::wrong(
                format!(
                    "the handle has {} bytes, more than {LONGEST_HANDLE}",
                    self.alias.len()
                ),
                "take a shorter handle: the handle becomes a part of a folder's name",
            ));
        }
        for (what, schema) in [
            ("inputs", &self.inputs_schema),
            ("outputs", &self.outputs_schema),
        ] {
            let Some(schema) = schema else { continue };
            if let Err(error) = serde_json::from_str::<serde_json::Value>(schema) {
                return Err(WriteError::wrong(
                    format!("the schema of the {what} is not valid JSON: {error}"),
                    "give a JSON value, such as {\"topic\": \"text\"}",
                ));
            }
        }
        let known = facts.import(&self.alias);
        let source_url = self.source(facts, known.as_ref())?;
        let folder = format!("{}--{}", self.alias, slug(&source_url));
        let nested = format!("imports/{folder}");
        if let Some(known) = &known {
            self.same_source(known, &source_url, &nested)?;
        }
        let again = known.is_some();
        let before = known.unwrap_or_default();
        let mut changes = Vec::with_capacity(3);
        let program = format!("{nested}/program.prose");
        if let Some(text) = &self.program
            && facts.style() != Style::Files
            && !facts.attachment(&program)?
        {
            changes.push(Change::Attachment(AttachmentFile {
                path: program,
                content: text.clone().into_bytes().into(),
            }));
        }
        changes.extend([
            Change::Import(ImportRow {
                nested: (facts.style() == Style::Files).then(|| NestedRun {
                    place: nested.clone(),
                    name: match &self.name {
                        Some(name) => name.clone(),
                        None => format!("{}.prose", self.alias),
                    },
                    program: self.program.clone().unwrap_or_default(),
                }),
                alias: self.alias.clone(),
                source_url,
                fetched: at.text(facts.style()),
                inputs_schema: self.inputs_schema.clone().or(before.inputs_schema),
                outputs_schema: self.outputs_schema.clone().or(before.outputs_schema),
            }),
            touch(facts, at),
        ]);
        Ok(CommandPlan {
            changes,
            done: ImportRegistered {
                nested: Some(format!("{run}/{folder}")),
                run,
                alias: self.alias.clone(),
                again,
            },
        })
    }
}

impl AddImport {
    fn source(&self, facts: &Facts<'_>, known: Option<&ImportFact>) -> Result<String, WriteError> {
        if let Some(source) = &self.source_url {
            return Ok(source.clone());
        }
        if let Some(source) = known.and_then(|known| known.source_url.clone()) {
            return Ok(source);
        }
        let program = ProgramSource::of(facts);
        let mut used = program
            .listing
            .iter()
            .flat_map(|listing| &listing.statements);
        let used = used.find(|s| {
            s.kind == StatementKind::Use && s.name.as_deref() == Some(self.alias.as_str())
        });
        used.and_then(|s| s.target.clone()).ok_or_else(|| {
            WriteError::wrong(
                format!(
                    "the program has no `use … as {}`, so its source is unknown",
                    self.alias
                ),
                "give the whole statement: `prosescope begin --text 'use \"SOURCE\" as HANDLE'`",
            )
        })
    }

    /// Refuses a second source under one handle: `research.findings` would be ambiguous, and a folder would contain two
    /// nested runs for one handle.
    fn same_source(
        &self,
        known: &ImportFact,
        source_url: &str,
        nested: &str,
    ) -> Result<(), WriteError> {
        let same = match &known.source_url {
            Some(source) => *source == source_url,
            None => known.nested.is_empty() || known.nested.iter().any(|own| own == nested),
        };
        if same {
            return Ok(());
        }
        let from = match &known.source_url {
            Some(source) => shown(source),
            None => shown(&known.nested.join(", ")),
        };
        Err(WriteError::refused(
            "import-differs",
            format!(
                "{} is the handle of another import already: {from}",
                self.alias
            ),
            "take another handle for this import",
        ))
    }
}

/// Returns the last part of an address as a folder's name (filesystem.md, "Imports Recursive Structure").
pub(super) fn slug(source: &str) -> String {
    let path = source.split(['?', '#']).next().unwrap_or(source);
    let last = path
        .rsplit(['/', '\\'])
        .find(|part| !part.is_empty())
        .unwrap_or_default();
    let last = last.strip_suffix(".prose").unwrap_or(last);
    let mut slug = String::new();
    for c in last.chars().flat_map(char::to_lowercase).take(60) {
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "program" } else { slug }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn a_slug_is_a_plain_folder_name() {
        for (source, expected) in [
            ("https://p.prose.md/@alice/research", "research"),
            ("./lib/Deep Research.prose", "deep-research"),
            ("https://example.org/a/b/?x=../..", "b"),
            ("../..", "program"),
            ("", "program"),
        ] {
            assert_eq!(slug(source), expected, "{source}");
        }
    }
}
