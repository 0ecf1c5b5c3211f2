//! Returns a run as redacted text for a language model.
//!
//! ```text
//! run ──► packed copy, redacted and checked ──► the copy opened ──► text
//! ```
//!
//! The text is made from a redacted copy of the run instead of being redacted itself: the text contains shortened
//! values, and no rule would find a secret that was cut in two.

use std::rc::Rc;

use prosescope_core::model::source::Source;
use prosescope_core::pages::session::{FoundKind, Options, Session, pages, survey};
use prosescope_core::pages::view::{ForModel, ModelSize, ReplacedInText};
use prosescope_core::trace::NodeId;
use prosescope_redact::Remains;

use crate::file::{Shareable, checked};
use crate::pack::{Made, ShareError};
use crate::sharing::Sharing;

/// A request for a run, or one of its rows, as text for a language model.
#[derive(Debug, Clone, Copy, Default)]
pub struct ModelTextRequest {
    /// A row of the trace; `None` for the row that needs attention first.
    pub node: Option<NodeId>,
    /// The largest size of the text.
    pub size: ModelSize,
    /// The current time in milliseconds since 1970 UTC.
    pub now: Option<i64>,
}

/// Returns a run as text for a model. `sharing` must contain only this run, and `source` the run's files. A run that is
/// shared raw is read directly, without a copy.
///
/// # Errors
/// As for [`crate::file::file`]: if the run cannot be copied, or if a replaced text would still occur in the result.
pub fn for_model(
    sharing: &mut Sharing<'_>,
    source: &dyn Shareable,
    made: &Made,
    asked: ModelTextRequest,
) -> Result<ForModel, ShareError> {
    let original = sharing.session();
    if let Some(session) = original.filter(|_| sharing.is_raw()) {
        let mut text = pages::for_model(session, asked.node, asked.size, asked.now);
        text.set_raw();
        return Ok(text);
    }
    let called = original.map(|session| session.name());
    // A row has the same id and position in the copy as in the original; either of them finds the asked row in the
    // copy.
    let row = asked.node.and_then(|node| original?.trace().node(node)?.id);
    let called = called.map(|name| sharing.masked(&name));
    let copy: Rc<dyn Source> = checked(sharing, source, made)?.copy;
    let found = survey(copy.as_ref()).found;
    let place = found.iter().find(|found| found.kind != FoundKind::Agents);
    let place = place.map_or("", |found| found.place.as_str());
    let options = Options {
        now: asked.now,
        called,
        ..Options::default()
    };
    let session = Session::open(Rc::clone(&copy), place, &options)
        .map_err(|error| ShareError::unread("the copy", &error))?;
    let node = match row {
        Some(id) => session.node_of_row(id).or(asked.node),
        None => asked.node,
    };
    let mut text = pages::for_model(&session, node, asked.size, asked.now);
    if let Some(place) = Remains::of(sharing.names()).search(text.text.as_bytes()) {
        return Err(ShareError::Remains {
            name: place.name,
            path: "the text".to_owned(),
            form: place.form.to_owned(),
        });
    }
    let replaced = replaced(sharing, &text.text);
    text.set_replaced(replaced);
    Ok(text)
}

/// Replaces the secrets of a run in a text about the run. `sharing` must contain only this run, and `source` the run's
/// files.
///
/// # Errors
/// As for [`for_model`].
pub fn masked(
    sharing: &mut Sharing<'_>,
    source: &dyn Shareable,
    made: &Made,
    text: &str,
) -> Result<String, ShareError> {
    // The copy of the run finds the secrets that only their place in a file shows.
    checked(sharing, source, made)?;
    let text = sharing.masked(text);
    match Remains::of(sharing.names()).search(text.as_bytes()) {
        None => Ok(text),
        Some(place) => Err(ShareError::Remains {
            name: place.name,
            path: "the text".to_owned(),
            form: place.form.to_owned(),
        }),
    }
}

/// Returns the replacements that occur in the text, each with its number of occurrences.
fn replaced(sharing: &Sharing<'_>, text: &str) -> Vec<ReplacedInText> {
    let kinds = sharing.kinds();
    let kind = |name: &str| {
        let stem = name.split(" #").next().unwrap_or(name);
        kinds
            .get(stem)
            .cloned()
            .unwrap_or_else(|| "secret".to_owned())
    };
    let mut names: Vec<String> = sharing.replaced().map(|(_, name)| name).collect();
    names.sort();
    names.dedup();
    let counted = names.into_iter().map(|name| ReplacedInText {
        count: text.matches(&format!("[{name}]")).count() as u64,
        kind: kind(&name),
        name,
    });
    counted.filter(|of| of.count > 0).collect()
}
