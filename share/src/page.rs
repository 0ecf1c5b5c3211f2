//! Reads and writes an HTML page with a packed run. The page contains the viewer, a summary that needs no script, and
//! the run as the text of an element.

use std::collections::BTreeSet;
use std::io;

use prosescope_core::model::text::escape;

use crate::ReaderAt;
use crate::dense::{self, Decoder};

/// The beginning of the element with the run; the length in bytes and `">` follow. Neither the encoded run nor a
/// summary contains `<`, so the first match is this element.
const RUN: &str = r#"<script type="text/plain" id="prosescope-run" data-bytes=""#;
/// A tag in the head of each viewer page. The run follows this tag, so a page with the tag but without a run is
/// truncated.
const VIEWER: &[u8] = br#"<meta name="prosescope-served""#;
/// The places of the run, the summary and the title in the viewer's page; each must occur exactly once.
const RUN_SLOT: &str = r#"<script type="text/plain" id="prosescope-run" data-bytes="0"></script>"#;
const SUMMARY_SLOT: &str = r#"<div id="prosescope-summary"></div>"#;
const TITLE_SLOT: &str = "<title>Prosescope</title>";

/// The largest packed run in a page, in bytes. A browser opens a page several times as large, but slowly.
pub const MOST: u64 = 150 << 20;
/// The id of the element with the run. A browser finds the element by this id, however the tag is written.
const ID: &[u8] = b"prosescope-run";
/// The number of bytes of a page that are read at a time.
const PIECE: usize = 256 << 10;

/// The reason why a page is not written, or the run in a page is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The viewer does not belong to this version of the program.
    #[error("the viewer's page lacks the place where a run is inserted: {0}")]
    Viewer(&'static str),
    /// The page was changed or truncated.
    #[error("the run in this page cannot be read: {0}")]
    Damaged(&'static str),
    /// The page is the viewer as built, without a run.
    #[error("this page is the viewer without a run")]
    Empty,
    /// The page could not be read, or the receiver of the pieces failed.
    #[error("{0}")]
    Failed(String),
}

impl PageError {
    /// Returns what the user can do about a page that was not read or written.
    pub fn next_step(&self) -> &'static str {
        match self {
            PageError::Viewer(_) => "Use the viewer of the same version of Prosescope.",
            PageError::Damaged(_) => {
                "Ask the sender for the file again: this file was changed or truncated in transit."
            }
            PageError::Empty => "Name a page that `prosescope share` wrote, or a run.",
            PageError::Failed(_) => "Check the file and the free disk space, then try again.",
        }
    }
}

/// Returns the viewer's page with a title, a summary (plain text) and a packed run.
///
/// # Errors
/// If `viewer` is not a page of this program's viewer.
pub fn write(viewer: &str, title: &str, summary: &str, packed: &[u8]) -> Result<String, PageError> {
    let run = format!(
        r#"{RUN}{}">{}</script>"#,
        packed.len(),
        dense::encode(packed)
    );
    let summary = format!(
        r#"<div id="prosescope-summary"><pre>{}</pre></div>"#,
        html(summary)
    );
    let title = format!("<title>{}</title>", html(title));
    let mut page = String::with_capacity(viewer.len() + run.len() + summary.len());
    let mut rest = viewer;
    for (slot, part) in [
        (TITLE_SLOT, title),
        (SUMMARY_SLOT, summary),
        (RUN_SLOT, run),
    ] {
        let (before, after) = rest.split_once(slot).ok_or(PageError::Viewer(slot))?;
        page.push_str(before);
        page.push_str(&part);
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}

/// Passes the packed run of a page to `each` in pieces, and returns its length; `None` if the page has no run. Holds at
/// most one piece in memory.
///
/// # Errors
/// If the page's run cannot be read, or if `each` fails.
pub fn unpack<R: ReaderAt>(
    page: &R,
    each: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> Option<Result<u64, PageError>> {
    let found = begin(page).and_then(|at| match at {
        Some(at) => run(page, at, each).map(Some),
        None => Ok(None),
    });
    found.transpose()
}

/// Returns the packed run of a page that is in memory; `None` if the page has no run.
///
/// # Errors
/// As for [`unpack`].
pub fn packed(page: &[u8]) -> Option<Result<Vec<u8>, PageError>> {
    let mut whole = Vec::new();
    let unpacked = unpack(&page, &mut |bytes| {
        whole.extend_from_slice(bytes);
        Ok(())
    });
    Some(unpacked?.map(|_| whole))
}

/// Returns whether a file with this beginning may be a page.
pub fn is_page(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    head.get(..15)
        .is_some_and(|head| head.eq_ignore_ascii_case(b"<!doctype html>"))
}

/// Returns the position of the run's length in the page; `None` if the page is not a viewer page. Reads the page to its
/// end: if two elements have the run's id, a browser and this function could open different runs, so both refuse the
/// page (web/page/boot.js).
fn begin<R: ReaderAt>(page: &R) -> Result<Option<u64>, PageError> {
    let mut piece = vec![0; PIECE];
    let (mut at, mut is_ours, mut run) = (0, false, None);
    let mut ids = BTreeSet::new();
    loop {
        let read = fill(page, &mut piece, at)?;
        is_ours |= at == 0 && find(read, VIEWER).is_some();
        let found = find(read, RUN.as_bytes()).map(|found| at + (found + RUN.len()) as u64);
        run = run.or(found);
        let named = memchr::memmem::find_iter(read, ID).filter(|id| is_id(read.get(..*id)));
        ids.extend(named.map(|id| at + id as u64).take(2));
        if ids.len() > 1 {
            return Err(PageError::Damaged("two elements claim to be it"));
        }
        if read.len() < PIECE {
            return match run {
                None if is_ours => Err(PageError::Damaged("the page ends before it")),
                run => Ok(run),
            };
        }
        at += (PIECE - RUN.len()) as u64;
    }
}

/// Returns whether an id after these bytes is the value of an attribute: `=` is before it, perhaps with blanks and a
/// quote. In the page's script, the id is an argument of a function.
fn is_id(before: Option<&[u8]>) -> bool {
    let is_between = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'');
    let mut before = before.unwrap_or_default().iter().rev();
    before.find(|byte| !is_between(byte)) == Some(&b'=')
}

fn run<R: ReaderAt>(
    page: &R,
    at: u64,
    each: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> Result<u64, PageError> {
    let damaged = PageError::Damaged;
    let mut piece = vec![0; PIECE];
    let head = fill(page, piece.get_mut(..40).unwrap_or_default(), at)?;
    let end = find(head, br#"">"#).ok_or(damaged("the run's length is missing"))?;
    let len = head
        .get(..end)
        .and_then(|len| std::str::from_utf8(len).ok());
    let len: u64 = len
        .and_then(|len| len.parse().ok())
        .ok_or(damaged("the run's length is not a number"))?;
    if len == 0 {
        return Err(PageError::Empty);
    }
    let (mut at, mut decoder, mut bytes) = (at + end as u64 + 2, Decoder::new(len), Vec::new());
    loop {
        let read = fill(page, &mut piece, at)?;
        let text = memchr::memchr(b'<', read).map_or(read, |end| read.get(..end).unwrap_or(read));
        decoder
            .feed(text, &mut bytes)
            .ok_or(damaged("the run's encoding is invalid"))?;
        each(&bytes).map_err(|error| PageError::Failed(error.to_string()))?;
        bytes.clear();
        at += text.len() as u64;
        if text.len() < PIECE {
            break;
        }
    }
    let end = fill(page, piece.get_mut(..9).unwrap_or_default(), at)?;
    if end != b"</script>" {
        return Err(damaged("the run's end is missing"));
    }
    decoder.end().ok_or(damaged(
        "the run is shorter or longer than the page declares",
    ))?;
    Ok(len)
}

/// Fills `piece` from position `at` of the page. The result is shorter than `piece` only at the end of the page.
fn fill<'a, R: ReaderAt>(page: &R, piece: &'a mut [u8], at: u64) -> Result<&'a [u8], PageError> {
    let mut read = 0;
    while let Some(rest) = piece.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match page.read_at(rest, at + read as u64) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(PageError::Failed(error.to_string())),
        }
    }
    Ok(piece.get(..read).unwrap_or_default())
}

fn find(bytes: &[u8], sought: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, sought)
}

/// Escapes text for HTML, so that it can neither run code, nor reorder the page's text, nor look like the attribute of
/// another element with the run ([`is_id`]).
fn html(text: &str) -> String {
    let text = escape(text, true);
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '=' => html.push_str("&#61;"),
            c => html.push(c),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    fn viewer() -> String {
        format!("<!doctype html>\n{TITLE_SLOT}<body>{SUMMARY_SLOT}{RUN_SLOT}<script>x</script>")
    }

    #[test]
    fn a_run_comes_out_of_its_page() {
        let bytes: Vec<u8> = (0..=255).cycle().take(5000).collect();
        let hostile = format!("</pre></div></script><script>alert(1)</script>{RUN}7\">x</script>");
        let page = write(&viewer(), &hostile, &hostile, &bytes).unwrap();
        assert!(is_page(page.as_bytes()));
        assert_eq!(packed(page.as_bytes()), Some(Ok(bytes)));
        assert_eq!(page.matches("<script").count(), 2, "{page}");
        assert_eq!(page.matches("</pre>").count(), 1);
    }

    #[test]
    fn a_run_is_found_wherever_it_lies_and_however_long_it_is() {
        let bytes: Vec<u8> = (0..PIECE * 3).map(|at| (at * 7 % 251) as u8).collect();
        for before in [0, PIECE - 70, PIECE - 1, PIECE * 2 + 3] {
            for len in [1, 1000, PIECE * 7 / 8 - 1, PIECE * 7 / 8, bytes.len()] {
                let style = format!("<style>{}</style></head><body>", " ".repeat(before));
                let viewer = viewer().replace("<body>", &style);
                let bytes = bytes.get(..len).unwrap();
                let page = write(&viewer, "t", "s", bytes).unwrap();
                assert_eq!(packed(page.as_bytes()), Some(Ok(bytes.to_vec())));
            }
        }
    }

    /// A browser opens the element that it finds by its id, and this reader the first tag as the viewer writes it. So a
    /// second element is refused, however its tag is written and wherever it is.
    #[test]
    fn two_elements_with_a_run_are_refused() {
        let page = write(&viewer(), "t", "s", b"some bytes").unwrap();
        let own = format!("{RUN}1\">a</script>");
        let others = [
            own.clone(),
            format!("<!-- {own} -->"),
            "<p id='prosescope-run'>".to_owned(),
            "<p id = prosescope-run data-bytes=1>".to_owned(),
            "<template><p class=a id=\n\" prosescope-run\"></template>".replace("\" ", "\""),
        ];
        let far = " ".repeat(PIECE - 20);
        for other in others {
            for far in ["", &far] {
                let first = page.replacen("<body>", &format!("<body>{other}{far}"), 1);
                let last = format!("{page}{far}{other}");
                for forged in [first, last] {
                    let read = packed(forged.as_bytes());
                    let two = PageError::Damaged("two elements claim to be it");
                    assert_eq!(read, Some(Err(two)), "{other}");
                }
            }
        }
        // The id in a script, or in text, names no element.
        let script = format!("{page}<script>get(\"prosescope-run\")</script>prosescope-run");
        assert!(matches!(packed(script.as_bytes()), Some(Ok(_))));
    }

    #[test]
    fn what_is_no_run_is_told() {
        assert_eq!(packed(b"PK\x03\x04"), None);
        let none = packed(viewer().as_bytes()).unwrap();
        assert_eq!(none, Err(PageError::Empty));
        let page = write(&viewer(), "t", "s", b"some bytes").unwrap();
        let cut = page.split_once("</script><script>").unwrap().0;
        for damaged in [
            cut.to_owned(),
            page.replace("\"10\"", "\"8\""),
            page.replace("\"10\"", "\"11\""),
            page.replace("\"10\"", "\"18446744073709551615\""),
            page.replace("\"10\"", "\"x\""),
        ] {
            assert!(
                matches!(packed(damaged.as_bytes()), Some(Err(_))),
                "{damaged}"
            );
        }
        assert!(write("<html>", "t", "s", b"x").is_err());
    }
}
