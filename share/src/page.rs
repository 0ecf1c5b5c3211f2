//! A page that holds a packed run: the viewer, a summary that needs no script, and the run as text of an element.

use prosescope_core::text::escape;

use crate::dense;

/// What stands before the run's text in a page; its length in bytes and `">` follow. `<` is in no such text, nor in a summary.
const RUN: &str = r#"<script type="text/plain" id="prosescope-run" data-bytes=""#;
/// What is in each page that holds a viewer.
const VIEWER: &[u8] = br#"<meta name="prosescope-served""#;
/// Where the viewer takes a run, a summary and a title: each is in its page exactly once.
const RUN_SLOT: &str = r#"<script type="text/plain" id="prosescope-run" data-bytes="0"></script>"#;
const SUMMARY_SLOT: &str = r#"<div id="prosescope-summary"></div>"#;
const TITLE_SLOT: &str = "<title>Prosescope</title>";

/// Why a page is not made, or the run in it not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The viewer is not the one that belongs to this program.
    #[error("the viewer has no place for a run: {0}")]
    Viewer(&'static str),
    /// The page was changed, or cut off on its way.
    #[error("the run in this page cannot be read: {0}")]
    Damaged(&'static str),
}

/// Makes a page of the viewer, a title, a summary (plain text) and a packed run.
///
/// # Errors
/// When the viewer is none of ours.
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

/// The packed run in a page; `None` where the bytes are no page that holds one.
///
/// # Errors
/// When there is one, and it cannot be read.
pub fn packed(page: &[u8]) -> Option<Result<Vec<u8>, PageError>> {
    let Some(at) = find(page, RUN.as_bytes()) else {
        // The viewer of a shared page comes before its run.
        let is_cut = find(page, VIEWER).is_some();
        return is_cut.then_some(Err(PageError::Damaged("the page ends before it")));
    };
    let rest = page.get(at + RUN.len()..)?;
    Some(read(rest))
}

/// Whether what begins so may be a page.
pub fn is_page(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    head.get(..15)
        .is_some_and(|head| head.eq_ignore_ascii_case(b"<!doctype html>"))
}

fn read(rest: &[u8]) -> Result<Vec<u8>, PageError> {
    let damaged = PageError::Damaged;
    let head = rest.get(..40.min(rest.len())).unwrap_or_default();
    let end = find(head, br#"">"#).ok_or(damaged("its length is missing"))?;
    let len = rest
        .get(..end)
        .and_then(|len| std::str::from_utf8(len).ok());
    let len: usize = len
        .and_then(|len| len.parse().ok())
        .ok_or(damaged("its length is no number"))?;
    if len == 0 {
        return Err(damaged("this page holds no run"));
    }
    let text = rest.get(end + 2..).unwrap_or_default();
    let end = find(text, b"</script>").ok_or(damaged("its end is missing"))?;
    let text = text.get(..end).unwrap_or_default();
    let text = std::str::from_utf8(text).map_err(|_| damaged("it is no text"))?;
    dense::decode(text, len).ok_or(damaged("it is shorter or longer than the page says"))
}

fn find(bytes: &[u8], sought: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, sought)
}

/// Text as HTML shows it: nothing in it acts on the page or on whoever reads it.
fn html(text: &str) -> String {
    let text = escape(text, true);
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
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
    fn what_is_no_run_is_told() {
        assert_eq!(packed(b"PK\x03\x04"), None);
        let none = packed(viewer().as_bytes()).unwrap();
        assert_eq!(none, Err(PageError::Damaged("this page holds no run")));
        let page = write(&viewer(), "t", "s", b"some bytes").unwrap();
        let cut = page.split_once("</script><script>").unwrap().0;
        for damaged in [
            cut.to_owned(),
            page.replace("\"10\"", "\"8\""),
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
