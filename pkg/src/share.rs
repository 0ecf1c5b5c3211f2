//! Shares runs of the opened source as one file, and redacts a single text.

use std::collections::BTreeMap;
use std::rc::Rc;

use js_sys::{Object, Reflect, Uint8Array};
use prosescope_core::model::source::Source;
use prosescope_core::model::time::Stamp;
use prosescope_core::pages::session::{Options, Session, choose};
use prosescope_core::pages::view::SecretFound;
use prosescope_share::copy::{Redactor, SharedRun};
use prosescope_share::file::{Shareable as _, SharedForm, file};
use prosescope_share::pack::{Databases, Made, ShareError};
use prosescope_share::redact::{Exact, RuleKind, Rules, SHORTEST};
use prosescope_share::sharing::Sharing;
use prosescope_share::text::redacted;
use prosescope_share::wishes::{LocalSecret, Wishes};
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

use crate::error::Problem;
use crate::run::{Run, json, text};
use crate::source::JsSource;

#[wasm_bindgen]
impl Run {
    /// Returns a report of what a shared file would contain and which texts would be replaced. `asked` is built by
    /// `pkg/js/wishes.js`.
    #[wasm_bindgen(js_name = lookToShare)]
    pub fn look_to_share(&self, asked: &JsValue) -> Result<JsValue, JsValue> {
        let mut report = self.sharing(&ShareOptions::of(asked)?, |sharing, _| sharing.look())?;
        SharedForm::default().word().clone_into(&mut report.format);
        json(&report)
    }

    /// Returns the shared file's bytes with a report of its content. `asked` is as for [`Run::look_to_share`];
    /// `viewer` is the page from which an HTML file is built.
    pub fn share(
        &self,
        asked: &JsValue,
        format: &JsValue,
        viewer: Option<String>,
    ) -> Result<JsValue, JsValue> {
        let asked = ShareOptions::of(asked)?;
        let form = form(&text(format)?)?;
        if form == SharedForm::Html && viewer.is_none() {
            return Err(Problem::usage(
                "bad-argument",
                "a page needs the viewer, and none was given",
                "give the text of prosescope/viewer.html as the option viewer, in a bundle for Node copy viewer.html beside the bundle, or share a zip",
            )
            .into());
        }
        let made = Made {
            by: format!("prosescope {}", env!("CARGO_PKG_VERSION")),
            at: Stamp::At(self.now()).to_string(),
            deflated: form != SharedForm::Db,
            opens: None,
        };
        let (report, bytes) = self.sharing(&asked, |sharing, source| {
            file(sharing, source, form, &made, viewer.as_deref())
        })?;
        let shared = Object::new();
        Reflect::set(&shared, &"report".into(), &json(&report)?)?;
        let bytes = Uint8Array::from(bytes.as_slice());
        Reflect::set(&shared, &"bytes".into(), &bytes)?;
        Ok(shared.into())
    }
}

/// Returns the text without secrets. `asked` is built by `pkg/js/wishes.js`.
#[wasm_bindgen(js_name = redactText)]
pub fn redact_text(bare: &JsValue, asked: &JsValue) -> Result<JsValue, JsValue> {
    #[derive(Serialize)]
    struct Redacted {
        text: String,
        found: Vec<SecretFound>,
    }
    let mut redactor = ShareOptions::of(asked)?.redactor(Vec::new())?;
    let (text, found) = redacted(&text(bare)?, &mut redactor).map_err(Problem::from)?;
    json(&Redacted { text, found })
}

impl Run {
    fn sharing<T>(
        &self,
        asked: &ShareOptions,
        then: impl FnOnce(&mut Sharing<'_>, &JsSource) -> Result<T, ShareError>,
    ) -> Result<T, Problem> {
        let source = self.source().as_ref();
        let redactor = asked.redactor(source.known())?;
        let others = self.others(&asked.also)?;
        let others = others
            .iter()
            .map(|(place, session)| (place.as_str(), session));
        let mut runs = Vec::new();
        for (place, session) in [(self.place(), self.session())].into_iter().chain(others) {
            let databases: Box<dyn Databases> = source.databases()?;
            runs.push((SharedRun::run(session, source, place), databases));
        }
        Ok(then(&mut Sharing::new(runs, redactor)?, source)?)
    }

    /// Returns the runs with these names, each once and without this run.
    fn others(&self, names: &[String]) -> Result<Vec<(String, Session)>, Problem> {
        let dynamic: Rc<dyn Source> = self.source().clone();
        let mut others: Vec<(String, Session)> = Vec::new();
        for name in names {
            // Everything is read without limits, because the recipients of a copy see all of it.
            let options = Options::default();
            let place = choose(&dynamic, name, &options)?;
            if place != self.place() && others.iter().all(|(known, _)| *known != place) {
                let session = Session::open(Rc::clone(&dynamic), &place, &options)?;
                others.push((place, session));
            }
        }
        Ok(others)
    }
}

/// The options of a share or a redaction, as `pkg/js/wishes.js` builds them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShareOptions {
    wishes: Wishes,
    #[serde(default)]
    secrets: BTreeMap<String, String>,
    #[serde(default)]
    also: Vec<String>,
}

impl ShareOptions {
    fn of(asked: &JsValue) -> Result<ShareOptions, Problem> {
        serde_json::from_str(&text(asked)?).map_err(|error| {
            Problem::usage(
                "bad-argument",
                format!("the options are not valid: {error}"),
                "see the types of this package",
            )
        })
    }

    /// Creates a redactor for these choices, the given secrets and the known values.
    fn redactor(&self, mut known: Vec<LocalSecret>) -> Result<Redactor, Problem> {
        for (name, value) in &self.secrets {
            // A file that contains only a key ends with a line break, which is not part of the key.
            let value = value.trim();
            // An environment variable that is empty contains no secret.
            if value.is_empty() {
                continue;
            }
            if !Exact::secret(name, value).usable() {
                return Err(Problem::usage(
                    "bad-argument",
                    format!(
                        "the secret {name} has fewer than {SHORTEST} characters, and such short texts occur by chance"
                    ),
                    "leave this secret out of secrets, or give it in redact, which also replaces short texts",
                ));
            }
            known.push(LocalSecret {
                name: name.clone(),
                value: value.to_owned(),
                kind: RuleKind::Secret,
            });
        }
        self.wishes
            .redactor(Rules::new(), known)
            .map_err(|(_, refused)| {
                let (why, next) = refused.split_once(". Next: ").unwrap_or((&refused, ""));
                Problem::usage("bad-argument", format!("redact: {why}"), next)
            })
    }
}

fn form(word: &str) -> Result<SharedForm, Problem> {
    let forms = [SharedForm::Html, SharedForm::Zip, SharedForm::Db];
    let form = forms.into_iter().find(|form| form.word() == word);
    form.ok_or_else(|| {
        Problem::usage(
            "bad-argument",
            format!("there is no format {word:?}"),
            "give html, zip or db",
        )
    })
}
