//! The viewer as people open it: one HTML file from disk, or the page that `prosescope view` serves.

mod accessible;
mod compare;
mod damage;
mod decide;
mod dropped;
mod find;
mod firefox;
mod honest;
mod injection;
mod keyboard;
mod large;
mod live;
mod opening;
mod phone;
mod screenshots;
mod shared;
mod sharing;
mod sql;
mod steps;
mod tasks;
mod timeline;
mod told;
mod workflows;

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

use prosescope_tests::browser::{Page, file_url};
use prosescope_tests::needs;
use serde_json::{Value, json};

/// What of the page is not the viewer's own: a function.
const FOREIGN: &str = include_str!("foreign.js");

/// The pages of a run: title and key.
const PAGES: [(&str, &str); 10] = [
    ("Trace", "1"),
    ("Program", "2"),
    ("Values", "3"),
    ("Agents", "4"),
    ("Gates", "5"),
    ("Imports", "6"),
    ("Data", "7"),
    ("state.md", "8"),
    ("SQL", "q"),
    ("Issues", "9"),
];

/// What a page of a run tells: how the run stands, and the page itself.
const TOLD: &str =
    "[...document.querySelectorAll('.band, main')].map(e => e.innerText).join('\\n')";

/// The viewer in a browser.
struct Viewer {
    page: Page,
}

impl Viewer {
    /// The empty viewer, opened from disk; `None` where it or the browser is missing (which was said).
    fn from_disk() -> Option<Viewer> {
        let (chromium, html) = (needs::chromium()?, needs::viewer()?);
        Some(Viewer::begun(Page::open_file(&chromium, &html)))
    }

    /// As [`Viewer::from_disk`], in a browser that no other test uses, so that what it takes can be measured.
    fn alone() -> Option<Viewer> {
        let (chromium, html) = (needs::chromium()?, needs::viewer()?);
        Some(Viewer::begun(Page::alone(&chromium, &file_url(&html))))
    }

    /// Waits until the page listens: it is loaded before its program runs, and what is dropped until then is lost.
    fn begun(mut page: Page) -> Viewer {
        page.wait("document.querySelector('main')");
        Viewer { page }
    }

    /// What a server offers.
    fn served(address: &str) -> Option<Viewer> {
        let chromium = needs::chromium()?;
        Some(Viewer::begun(Page::open(&chromium, address)))
    }

    /// Drops files, and waits until a run is shown.
    fn drop_run(&mut self, files: &[&Path]) {
        self.drop_files(files);
        self.wait_page("Trace");
    }

    /// Waits until this page of a run is shown and has said all it has to say.
    fn wait_page(&mut self, title: &str) {
        let title = json!(title);
        self.wait(&format!(
            "document.querySelector('nav.pages a[aria-current]').title.startsWith({title} + ' (')"
        ));
        // A list that has rows draws them a frame after it learns its own height.
        self.wait(
            "!document.querySelector('main .waiting, main .bone') &&
             [...document.querySelectorAll('main .rows')].every(list =>
                list.getAttribute('aria-rowcount') === '1' || list.querySelector('.row:not(.head)'))",
        );
    }

    /// Fails when the page asked for anything, opened a dialog, said an error, or holds what is not the viewer's own.
    fn assert_quiet(&mut self) {
        self.page.assert_quiet();
        self.assert_own();
    }

    /// Fails when the page opened a dialog, said an error, or holds what is not the viewer's own.
    fn assert_no_errors(&mut self) {
        self.page.assert_no_errors();
        self.assert_own();
    }

    fn assert_own(&mut self) {
        let foreign = self.eval(&format!("({FOREIGN})()"));
        assert_eq!(foreign, json!([]), "what is not the viewer's own");
    }

    /// The text of the band and of the page's main part.
    fn main_text(&mut self) -> String {
        let text = self.eval(TOLD);
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until one of them says this, in letters of any size.
    fn wait_main(&mut self, text: &str) {
        let text = json!(text.to_lowercase());
        self.wait(&format!("({TOLD}).toLowerCase().includes({text})"));
    }

    /// How many rows the list that has `j` and `k` has, its head not counted.
    fn rows(&mut self) -> u64 {
        self.wait("!document.querySelector('.reading')");
        self.wait("+document.querySelector('[data-list]').getAttribute('aria-rowcount') > 1");
        let rows =
            self.eval("+document.querySelector('[data-list]').getAttribute('aria-rowcount') - 1");
        rows.as_u64().expect("a list")
    }

    /// What the viewer says it has read, and the size of its worker's wasm memory.
    fn stats(&mut self) -> Value {
        self.eval("prosescope.stats()")
    }
}

impl Deref for Viewer {
    type Target = Page;

    fn deref(&self) -> &Page {
        &self.page
    }
}

impl DerefMut for Viewer {
    fn deref_mut(&mut self) -> &mut Page {
        &mut self.page
    }
}

/// The `.prose` folder of the examples.
fn examples() -> PathBuf {
    needs::root().join("examples/.prose")
}

/// The folder of an example run.
fn example(id: &str) -> PathBuf {
    examples().join("runs").join(id)
}

const FINISHED: &str = "20260112-091407-k3v8qd";
const FOLDER: &str = "20260115-083214-h5n2ye";
const FAILED: &str = "20260118-201530-z4t9wa";
const WAITING: &str = "20260125-125506-p7r2mx";
