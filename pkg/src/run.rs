//! Exports an opened run to JavaScript, with one method for each page of the core.

use std::collections::BTreeSet;
use std::rc::Rc;

use js_sys::Reflect;
use prosescope_core::model::Binding;
use prosescope_core::model::source::SourceError;
use prosescope_core::pages::session::pages::TraceChoice;
use prosescope_core::pages::session::{Options, Session, ValueOf, pages};
use prosescope_core::trace::NodeId;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::error::Problem;
use crate::source::JsSource;

/// An opened run, wrapped by `pkg/js/run.js`. Its pages are plain objects, equal to the output of `prosescope …
/// --json`.
#[wasm_bindgen]
pub struct Run {
    session: Session,
    source: Rc<JsSource>,
    /// The path of the run's folder or file in the source.
    place: String,
    now: Option<f64>,
}

impl Run {
    pub(crate) fn new(
        session: Session,
        source: Rc<JsSource>,
        place: String,
        now: Option<f64>,
    ) -> Run {
        Run {
            session,
            source,
            place,
            now,
        }
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) fn source(&self) -> &Rc<JsSource> {
        &self.source
    }

    /// Returns the path of the run's folder or file in the source.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Returns the time that the run's pages use as the present, in milliseconds since 1970 UTC.
    pub(crate) fn now(&self) -> i64 {
        clock(self.now)
    }
}

#[wasm_bindgen]
impl Run {
    /// Returns what happened, where the run stopped and why.
    pub fn overview(&self) -> Result<JsValue, JsValue> {
        json(&pages::overview(&self.session, Some(self.now())))
    }

    /// Returns the program with its executions by line: `len` lines (default: all) from line `from` (default: 0).
    pub fn program(&self, from: Option<u32>, len: Option<u32>) -> Result<JsValue, JsValue> {
        json(&pages::program_page(&self.session, first(from), most(len)))
    }

    /// Returns the trace as a list of visible rows: `len` of them (default: all) from row `from` (default: 0),
    /// without the children of the nodes in `folded`.
    pub fn trace(
        &self,
        from: Option<u32>,
        len: Option<u32>,
        folded: Option<Vec<u32>>,
    ) -> Result<JsValue, JsValue> {
        let folded = folded.unwrap_or_default().into_iter();
        let folded: BTreeSet<NodeId> = folded.map(NodeId::new).collect();
        json(&pages::trace_page(
            &self.session,
            &folded,
            first(from),
            most(len),
        ))
    }

    /// Returns filtered rows of the trace, without levels, in a chosen order: `len` of them (default: all) from
    /// `from` (default: 0).
    pub fn chosen(
        &self,
        choice: &JsValue,
        from: Option<u32>,
        len: Option<u32>,
    ) -> Result<JsValue, JsValue> {
        let rows = pages::chosen(&self.session, &choice_of(&self.session, choice)?);
        json(&pages::chosen_page(
            &self.session,
            &rows,
            first(from),
            most(len),
        ))
    }

    /// Returns the times of the trace's rows: bars on one axis, on which idle time is shortened.
    pub fn timeline(&self) -> Result<JsValue, JsValue> {
        json(&pages::timeline(&self.session))
    }

    /// Returns all details of a node of the trace; null if there is no such node.
    pub fn node(&self, node: u32) -> Result<JsValue, JsValue> {
        json(&pages::node_detail(&self.session, NodeId::new(node)))
    }

    /// Returns the bindings, first those of the root, then by frame: `len` of them (default: all) from `from`
    /// (default: 0).
    pub fn bindings(&self, from: Option<u32>, len: Option<u32>) -> Result<JsValue, JsValue> {
        json(&pages::bindings_page(&self.session, first(from), most(len)))
    }

    /// Returns a whole value as text, with invalid UTF-8 replaced. If `of` is a name, it is resolved from `frame` (an
    /// execution id; the root if missing).
    pub fn value(&self, of: JsValue, frame: &JsValue) -> Result<String, JsValue> {
        let bytes = self.value_bytes(of, frame)?;
        let text = String::from_utf8(bytes);
        Ok(text.unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
    }

    /// Returns a whole value, byte for byte.
    #[wasm_bindgen(js_name = valueBytes)]
    pub fn value_bytes(&self, of: JsValue, frame: &JsValue) -> Result<Vec<u8>, JsValue> {
        let (nested, of) = self.value_of(&of, frame)?;
        let session = nested.as_ref().unwrap_or(&self.session);
        let mut bytes = Vec::new();
        let each = &mut |piece: &[u8]| {
            bytes.extend_from_slice(piece);
            true
        };
        session
            .value_pieces(&of, each)
            .map_err(|e| self.missing(e))?;
        Ok(bytes)
    }

    /// Returns the beginning of a value, up to `most` bytes (default: all), with the value's size, format and origin.
    #[wasm_bindgen(js_name = valueView)]
    pub fn value_view(
        &self,
        of: JsValue,
        frame: &JsValue,
        most: Option<u32>,
    ) -> Result<JsValue, JsValue> {
        let (nested, of) = self.value_of(&of, frame)?;
        let session = nested.as_ref().unwrap_or(&self.session);
        let most = most.map_or(usize::MAX, |most| most as usize);
        json(&session.value(&of, most).map_err(|e| self.missing(e))?)
    }

    /// Returns the gates with their deadlines, and the audit log with its verification.
    pub fn gates(&self) -> Result<JsValue, JsValue> {
        json(&pages::gates(&self.session, Some(self.now())))
    }

    /// Returns the agents, their invocations, and the changes between them.
    pub fn agents(&self) -> Result<JsValue, JsValue> {
        json(&pages::agents(&self.session))
    }

    /// Returns the imports. `openRun` opens a nested run by its `place`.
    pub fn imports(&self) -> Result<JsValue, JsValue> {
        json(&pages::imports(&self.session))
    }

    /// Returns both texts of state.md, rendered from the data and as stored in the folder, and their differences.
    pub fn state(&self, whole: Option<bool>) -> Result<JsValue, JsValue> {
        json(&pages::state_page(&self.session, whole.unwrap_or_default()))
    }

    /// Returns the list of the run's files and tables.
    pub fn files(&self) -> Result<JsValue, JsValue> {
        json(&pages::files(&self.session))
    }

    /// Returns rows of a table, with large cells truncated: `len` of them (default: all) from row `from` (default:
    /// 0).
    pub fn table(
        &self,
        table: &JsValue,
        from: Option<u32>,
        len: Option<u32>,
    ) -> Result<JsValue, JsValue> {
        let from = u64::from(first(from));
        let rows = pages::table_rows(&self.session, &text(table)?, from, most(len));
        json(&rows.map_err(|e| self.missing(e))?)
    }

    /// Returns all issues with their places, errors first.
    pub fn issues(&self) -> Result<JsValue, JsValue> {
        json(&pages::issues_page(&self.session))
    }
}

impl Run {
    /// Resolves `of`: a binding's name, or an object such as `{ file }`. Returns the value, and the nested run that
    /// contains the value if it is not in this run.
    fn value_of(
        &self,
        of: &JsValue,
        frame: &JsValue,
    ) -> Result<(Option<Session>, ValueOf), Problem> {
        if let Some(name) = of.as_string() {
            return self.visible(&name, self.frame(frame)?);
        }
        let get = |key: &str| Reflect::get(of, &key.into()).ok();
        let index = |key: &str| {
            let number = get(key)?.as_f64()?;
            (number.fract() == 0.0 && (0.0..f64::from(u32::MAX)).contains(&number))
                .then_some(number as u32)
        };
        let of = index("binding")
            .map(ValueOf::Binding)
            .or_else(|| index("summary").map(ValueOf::Summary))
            .or_else(|| index("memory").map(ValueOf::Memory))
            .or_else(|| get("file")?.as_string().map(ValueOf::File))
            .ok_or_else(|| {
                Problem::usage(
                    "bad-argument",
                    "the argument does not name a value",
                    "give a binding's name, or { binding }, { summary }, { memory } with an index, or { file } with a path",
                )
            })?;
        Ok((None, of))
    }

    /// Returns the execution from which a name is resolved; `None` for the root. An unknown id is an error, because
    /// resolving from the root instead could return another value.
    pub(crate) fn frame(&self, frame: &JsValue) -> Result<Option<i64>, Problem> {
        let Some(id) = execution(frame)? else {
            return Ok(None);
        };
        let session = &self.session;
        let has_id = |binding: &Binding| binding.execution_id == Some(id);
        if session.node_of_row(id).is_some() || session.run().bindings.iter().any(has_id) {
            return Ok(Some(id));
        }
        let hint = match session.trace().by_row.is_empty() {
            true => "leave out frame: this run records no ids of executions",
            false => "trace() lists the executions with their ids",
        };
        let message = format!("there is no execution {id} in run {}", session.run().id);
        Err(Problem::not_found(message, hint))
    }

    /// Creates an error for a missing or unreadable part of the run.
    fn missing(&self, error: SourceError) -> Problem {
        match error {
            SourceError::NotFound(what) => Problem::not_found(
                format!("run {} has no {what}", self.session.run().id),
                "files(), bindings() and agents() list the parts of the run",
            ),
            error => error.into(),
        }
    }

    /// Returns the binding to which a name resolves in the frame `from`, and the nested run that contains the binding,
    /// if it is an import's.
    fn visible(
        &self,
        name: &str,
        from: Option<i64>,
    ) -> Result<(Option<Session>, ValueOf), Problem> {
        if let Some(winner) = self.session.winner(name, from) {
            return Ok((None, ValueOf::Binding(winner)));
        }
        if let Some((nested, name)) = pages::in_import(&self.session, name, &Options::default()) {
            let session = nested.as_ref().unwrap_or(&self.session);
            if let Some(winner) = session.winner(&name, None) {
                return Ok((nested, ValueOf::Binding(winner)));
            }
        }
        let view = pages::resolve(&self.session, name, from);
        let place = from.map_or("at the root".to_owned(), |id| format!("from frame {id}"));
        let frames: Vec<String> = view
            .candidates
            .iter()
            .filter_map(|c| c.row.execution_id)
            .take(5)
            .map(|id| id.to_string())
            .collect();
        let hint = match frames.as_slice() {
            [] => "bindings() lists the bindings of the run".to_owned(),
            frames => format!(
                "give one of the frames with this binding: {}",
                frames.join(", ")
            ),
        };
        let run = &self.session.run().id;
        let message = format!("run {run} has no binding {name} that can be seen {place}");
        Err(Problem::not_found(message, hint))
    }
}

/// Returns the given time, or else the system's, in milliseconds since 1970 UTC.
pub(crate) fn clock(now: Option<f64>) -> i64 {
    now.unwrap_or_else(js_sys::Date::now) as i64
}

/// The largest integer up to which a JavaScript number represents every integer.
const SAFE: f64 = 9_007_199_254_740_991.0;

/// Returns a view as an object, equal to the output of `prosescope … --json`. Integers that a JavaScript number
/// cannot represent become texts.
pub(crate) fn json<T: Serialize>(view: &T) -> Result<JsValue, JsValue> {
    let plain = serde_wasm_bindgen::Serializer::json_compatible();
    // This conversion fails only for a view with an integer beyond `SAFE`, which few runs have.
    if let Ok(object) = view.serialize(&plain) {
        return Ok(object);
    }
    let defect = |why: &dyn std::fmt::Display| {
        JsValue::from(Problem::defect(&format!(
            "a view could not be written: {why}"
        )))
    };
    let mut value = serde_json::to_value(view).map_err(|e| defect(&e))?;
    large_as_texts(&mut value);
    value.serialize(&plain).map_err(|e| defect(&e))
}

fn large_as_texts(value: &mut serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::Number(number)
            if !number.is_f64() && number.as_f64().is_some_and(|n| n.abs() > SAFE) =>
        {
            *value = Value::String(number.to_string());
        }
        Value::Array(all) => all.iter_mut().for_each(large_as_texts),
        Value::Object(all) => all.values_mut().for_each(large_as_texts),
        _ => {}
    }
}

/// Parses the filter and order of trace rows that JavaScript passes.
fn choice_of(opened: &Session, choice: &JsValue) -> Result<TraceChoice, Problem> {
    let refused = |why: String| {
        Problem::usage(
            "bad-argument",
            format!("the choice of rows is not valid: {why}"),
            "see the types of this package",
        )
    };
    let choice: TraceChoice = serde_wasm_bindgen::from_value(choice.clone())
        .map_err(|error| refused(error.to_string()))?;
    choice.known_status(opened).map_err(|known| {
        refused(format!(
            "no row has the status {}; the rows have {}",
            choice.status,
            known.join(", ")
        ))
    })?;
    Ok(choice)
}

/// Returns the text in a JavaScript value. Takes any value, because wasm-bindgen would convert a value that is not a
/// text to an empty text.
pub(crate) fn text(value: &JsValue) -> Result<String, Problem> {
    value.as_string().ok_or_else(|| {
        Problem::usage(
            "bad-argument",
            "the argument is not a text",
            "see the types of this package",
        )
    })
}

/// Parses an execution's id: a whole number. Beyond 2^53, the id is a `BigInt` or a text, as in the pages.
fn execution(frame: &JsValue) -> Result<Option<i64>, Problem> {
    if frame.is_undefined() || frame.is_null() {
        return Ok(None);
    }
    let number = || {
        let number = frame.as_f64().filter(|id| id.fract() == 0.0)?;
        (number.abs() <= SAFE).then_some(number as i64)
    };
    let text = || frame.as_string()?.parse().ok();
    let big = || i64::try_from(frame.clone()).ok();
    number().or_else(text).or_else(big).map(Some).ok_or_else(|| {
        Problem::usage(
            "bad-argument",
            "the argument is not the id of an execution",
            "give the id of an execution row as a whole number (beyond 2^53 as a BigInt or a text), or nothing for the root",
        )
    })
}

fn first(from: Option<u32>) -> u32 {
    from.unwrap_or(0)
}

fn most(len: Option<u32>) -> u32 {
    len.unwrap_or(u32::MAX)
}
