//! Reading from the local server that `prose view` runs: a list of files, then ranges of them.
//!
//! Requests are synchronous; a worker may do that, and SQLite reads so. The server answers beside the page:
//! `files.json` ([`Listing`]) and `file/{path}?v={version}` with `Range`, 409 when the file is no longer that
//! version.

use std::ops::Range;

use serde::Deserialize;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{XmlHttpRequest, XmlHttpRequestResponseType};

use prosescope_core::issue::Issue;
use prosescope_core::source::SourceError;

/// What the server offers.
#[derive(Debug, Deserialize)]
pub(crate) struct Listing {
    /// What to call it to a person.
    pub(crate) label: String,
    /// The files.
    pub(crate) files: Vec<Served>,
    /// What is to be said of the listing.
    #[serde(default)]
    pub(crate) issues: Vec<Issue>,
}

/// A file that the server offers.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Served {
    /// Its path, `/` between its parts.
    pub(crate) path: String,
    /// Bytes.
    pub(crate) len: u64,
    /// When it was last changed.
    pub(crate) modified: Option<String>,
    /// Names this state of the file; passed back with every read.
    #[serde(default)]
    pub(crate) version: String,
}

/// Asks the server at `base` (the page's address, ending in `/`) for its files.
pub(crate) fn list_served(base: &str) -> Result<Listing, SourceError> {
    let unreadable = |cause: String| SourceError::Unreadable {
        path: "files.json".into(),
        cause,
    };
    let request = get(&format!("{base}files.json"), None).map_err(|e| unreadable(words(&e)))?;
    let status = request.status().unwrap_or(0);
    if status != 200 {
        return Err(unreadable(format!("the server answered {status}")));
    }
    let bytes = body(&request).ok_or_else(|| unreadable("the answer is empty".into()))?;
    serde_json::from_slice(&bytes).map_err(|e| unreadable(e.to_string()))
}

/// Reads a range of a file.
pub(crate) fn range(base: &str, file: &Served, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
    let unreadable = |cause: String| SourceError::Unreadable {
        path: file.path.clone(),
        cause,
    };
    let url = format!(
        "{base}file/{}?v={}",
        encoded(&file.path),
        encoded(&file.version)
    );
    let request = get(&url, Some(&range)).map_err(|_| {
        unreadable("the local server does not answer; is `prose view` still running?".to_owned())
    })?;
    match request.status().unwrap_or(0) {
        206 => {}
        200 if range.start == 0 => {}
        404 | 409 | 412 | 416 => return Err(SourceError::Changed(file.path.clone())),
        status => return Err(unreadable(format!("the local server answered {status}"))),
    }
    let mut bytes = body(&request).unwrap_or_default();
    let wanted = (range.end - range.start) as usize;
    bytes.truncate(wanted);
    if bytes.len() < wanted {
        return Err(SourceError::Changed(file.path.clone()));
    }
    Ok(bytes)
}

fn get(url: &str, range: Option<&Range<u64>>) -> Result<XmlHttpRequest, JsValue> {
    let request = XmlHttpRequest::new()?;
    request.open_with_async("GET", url, false)?;
    request.set_response_type(XmlHttpRequestResponseType::Arraybuffer);
    if let Some(range) = range {
        request.set_request_header("Range", &format!("bytes={}-{}", range.start, range.end - 1))?;
    }
    request.send()?;
    Ok(request)
}

fn body(request: &XmlHttpRequest) -> Option<Vec<u8>> {
    let buffer: js_sys::ArrayBuffer = request.response().ok()?.dyn_into().ok()?;
    Some(js_sys::Uint8Array::new(&buffer).to_vec())
}

fn encoded(path: &str) -> String {
    path.split('/')
        .map(|part| String::from(js_sys::encode_uri_component(part)))
        .collect::<Vec<_>>()
        .join("/")
}

fn words(error: &JsValue) -> String {
    error
        .dyn_ref::<js_sys::Error>()
        .map_or_else(|| format!("{error:?}"), |e| String::from(e.message()))
}
