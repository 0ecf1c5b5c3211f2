use std::rc::Rc;

use super::{Options, Session};
use crate::model::{FolderForm, Form};
use crate::view::{ImportView, ImportsView};

/// Nested deeper than this, an import is named and not opened (viewer.md).
const DEEPEST: usize = 50;

impl Session {
    /// The imports, with what is known of their nested runs.
    pub fn imports(&self) -> ImportsView {
        let above = above(&self.place);
        let deep = above.len() >= DEEPEST;
        let imports = self.run.imports.iter().map(|import| {
            let place = import
                .nested
                .as_deref()
                .map(|nested| format!("{}{nested}", self.root));
            let prefix = format!("{}.", import.alias);
            let note = if deep {
                Some(format!("nested deeper than {DEEPEST}: not opened"))
            } else {
                self.repeats(import.source_url.as_deref(), &above)
            };
            let nested_status = place.as_deref().filter(|_| !deep).and_then(|place| {
                let session = self.nested(place)?;
                (!session.is_program_alone()).then(|| session.status().to_owned())
            });
            ImportView {
                alias: import.alias.to_string(),
                source_url: import.source_url.as_deref().map(str::to_owned),
                fetched: import.fetched.clone(),
                inputs_schema: import.inputs_schema.as_deref().map(str::to_owned),
                outputs_schema: import.outputs_schema.as_deref().map(str::to_owned),
                place: place.filter(|_| !deep),
                nested_status,
                bindings: (0..self.run.bindings.len() as u32)
                    .filter_map(|b| self.binding_ref(b))
                    .filter(|b| b.name.starts_with(&prefix))
                    .take(200)
                    .collect(),
                note,
            }
        });
        ImportsView {
            imports: imports.collect(),
            above,
        }
    }

    /// The nested run at a place, where it can be opened.
    pub(super) fn nested(&self, place: &str) -> Option<Session> {
        Session::open(Rc::clone(&self.source), place, &Options::default()).ok()
    }

    /// Whether there is a program and nothing that ran: beside a database lies that much of an import.
    fn is_program_alone(&self) -> bool {
        let form = FolderForm::Bare;
        self.run.form == Form::Folder { form } && self.run.bindings.is_empty()
    }

    /// A program that imports itself, seen from the handles on the way down.
    fn repeats(&self, source: Option<&str>, above: &[String]) -> Option<String> {
        let own = self.run.program.path.as_deref()?;
        let source = source?;
        let slug = |text: &str| {
            text.rsplit('/')
                .next()
                .unwrap_or(text)
                .trim_end_matches(".prose")
                .to_owned()
        };
        (!above.is_empty() && slug(source) == slug(own))
            .then(|| "this program imports itself: a cycle".to_owned())
    }
}

/// The runs above a nested place, from the outside in: the parts before each `imports/`.
fn above(place: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = place.get(at..).and_then(|rest| rest.find("imports/")) {
        let end = at + next;
        if end == 0 || place.as_bytes().get(end - 1) == Some(&b'/') {
            found.push(
                place
                    .get(..end)
                    .unwrap_or_default()
                    .trim_end_matches('/')
                    .to_owned(),
            );
        }
        at = end + "imports/".len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::above;

    #[test]
    fn names_the_runs_above() {
        assert_eq!(above("runs/a"), Vec::<String>::new());
        assert_eq!(above("runs/a/imports/r--x"), ["runs/a"]);
        assert_eq!(
            above("runs/a/imports/r--x/imports/s--y"),
            ["runs/a", "runs/a/imports/r--x"]
        );
        assert_eq!(above("imports/r--x"), [""]);
    }
}
