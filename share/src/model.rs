//! A run as text for a language model, without what must not leave.
//!
//! ```text
//! run ──► packed copy, redacted and looked through ──► the copy opened ──► text
//! ```
//!
//! The text is made of the copy and not redacted itself: it cuts what is long, and a secret that is cut in two is found by no rule.

use std::rc::Rc;

use prosescope_core::session::{FoundKind, Options, Session, pages, survey};
use prosescope_core::source::Source;
use prosescope_core::trace::NodeId;
use prosescope_core::view::{ForModel, ModelSize, ReplacedInText};
use prosescope_redact::Remains;

use crate::file::{Shareable, checked};
use crate::pack::{Made, ShareError};
use crate::sharing::Sharing;

/// What the text is about.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked {
    /// A row of the trace; `None` is what asks for somebody first.
    pub node: Option<NodeId>,
    /// The most that the text has.
    pub size: ModelSize,
    /// Milliseconds since 1970 UTC.
    pub now: Option<i64>,
}

/// Returns a run as text for a model. `sharing` holds that run alone, and `source` is where it lies. A run that is shared raw
/// is not copied.
///
/// # Errors
/// As [`crate::file::file`]: when the run cannot be copied, or something that was replaced would still be in the text.
pub fn for_model(
    sharing: &mut Sharing<'_>,
    source: &dyn Shareable,
    made: &Made,
    asked: Asked,
) -> Result<ForModel, ShareError> {
    let original = sharing.session();
    if let Some(session) = original.filter(|_| sharing.is_raw()) {
        let mut text = pages::for_model(session, asked.node, asked.size, asked.now);
        text.set_raw();
        return Ok(text);
    }
    let called = original.map(|session| session.name());
    // A row keeps its id in the copy, and the place that it has among the others.
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

/// What the text has a name for in its place.
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
