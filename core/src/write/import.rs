use super::begin::touch;
use super::instance::running;
use super::{At, Change, Facts, ImportRow, Plan, Record, WriteError, names};

/// The longest handle, in bytes: with its slug it names a folder.
const LONGEST_HANDLE: usize = 100;

/// `import add`: a program is registered under a handle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddImport {
    /// The handle that the program uses it by.
    pub alias: String,
    /// Where it came from.
    pub source_url: String,
    /// Its inputs, JSON.
    pub inputs_schema: Option<String>,
    /// Its outputs, JSON.
    pub outputs_schema: Option<String>,
}

/// What was registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The handle.
    pub alias: String,
    /// The folder of its nested run inside the run's, in the folder form: `imports/{handle}--{slug}`.
    pub nested: String,
    /// Whether it was registered before.
    pub again: bool,
}

impl Record for AddImport {
    type Done = Imported;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<Imported>, WriteError> {
        running(facts)?;
        names::plain("handle", &self.alias)?;
        for (mark, why) in [
            (
                ".",
                "a dot stands between the handle and a binding of the import: `research.findings`",
            ),
            (
                "--",
                "two dashes stand between the handle and its folder's slug: `research--deep-research`",
            ),
        ] {
            if self.alias.contains(mark) {
                let message = format!("the handle {} has `{mark}` in it", self.alias);
                return Err(WriteError::wrong(message, why));
            }
        }
        if self.alias.len() > LONGEST_HANDLE {
            return Err(WriteError::wrong(
                format!("the handle has {} bytes", self.alias.len()),
                format!("at most {LONGEST_HANDLE}: it is a part of a folder's name"),
            ));
        }
        for (what, schema) in [
            ("inputs", &self.inputs_schema),
            ("outputs", &self.outputs_schema),
        ] {
            let Some(schema) = schema else { continue };
            if let Err(error) = serde_json::from_str::<serde_json::Value>(schema) {
                return Err(WriteError::wrong(
                    format!("the schema of the {what} is no JSON: {error}"),
                    "give a JSON value, such as {\"topic\": \"text\"}",
                ));
            }
        }
        Ok(Plan {
            changes: vec![
                Change::Import(ImportRow {
                    alias: self.alias.clone(),
                    source_url: self.source_url.clone(),
                    fetched: at.text(facts.style()),
                    inputs_schema: self.inputs_schema.clone(),
                    outputs_schema: self.outputs_schema.clone(),
                }),
                touch(facts, at),
            ],
            done: Imported {
                nested: format!("imports/{}--{}", self.alias, slug(&self.source_url)),
                alias: self.alias.clone(),
                again: facts.import(&self.alias)?,
            },
        })
    }
}

/// The last part of an address as a folder's name (filesystem.md, "Imports Recursive Structure").
fn slug(source: &str) -> String {
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
