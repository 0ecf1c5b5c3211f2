//! Tests the viewer as people open it: one HTML file from disk, or the page served by `prosescope view`.

mod accessible;
mod clock;
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

/// A JavaScript function that returns the parts of the page that are not the viewer's own.
const FOREIGN: &str = include_str!("foreign.js");

/// JavaScript that returns the text of the band (the headline of a run) and of the page below it.
const TOLD: &str =
    "[...document.querySelectorAll('.band, main')].map(e => e.innerText).join('\\n')";

/// The viewer in a browser.
struct Viewer {
    page: Page,
}

impl Viewer {
    /// Opens the empty viewer from disk. Returns `None`, after printing why, if the viewer or the browser is missing.
    fn from_disk() -> Option<Viewer> {
        let (chromium, html) = (needs::chromium()?, needs::viewer()?);
        Some(Viewer::begun(Page::open_file(&chromium, &html)))
    }

    /// Opens the viewer like [`Viewer::from_disk`], in a browser without other tests, so that its cost can be
    /// measured.
    fn alone() -> Option<Viewer> {
        let (chromium, html) = (needs::chromium()?, needs::viewer()?);
        Some(Viewer::begun(Page::alone(&chromium, &file_url(&html))))
    }

    /// Waits until the page handles events, because an earlier drop would be lost.
    fn begun(mut page: Page) -> Viewer {
        page.wait("document.querySelector('main')");
        Viewer { page }
    }

    /// Opens the page of a `prosescope view` server.
    fn served(address: &str) -> Option<Viewer> {
        let chromium = needs::chromium()?;
        Some(Viewer::begun(Page::open(&chromium, address)))
    }

    /// Drops files on an empty page: closes what is open, because dropped files are added to it.
    fn drop_files(&mut self, files: &[&Path]) {
        self.eval("document.querySelector('.menu .close')?.click()");
        self.page.drop_files(files);
    }

    /// Drops files, and waits until a run is shown.
    fn drop_run(&mut self, files: &[&Path]) {
        self.drop_files(files);
        self.wait_page("Trace");
    }

    /// Returns the title of each tab of the open run, and the key that opens it.
    fn tabs(&mut self) -> Vec<(String, String)> {
        let tabs = self.eval(
            "[...document.querySelectorAll('nav.pages a')].map(a => a.title.match(/^(.*) \\((.)\\)$/).slice(1))",
        );
        serde_json::from_value(tabs).expect("titles and keys")
    }

    /// Opens a page of a run by its tab, and waits until it is completely shown.
    fn open_page(&mut self, title: &str) {
        let tab = format!("nav.pages a[title^='{title} (']");
        self.wait(&format!("document.querySelector(\"{tab}\")"));
        self.click(&tab);
        self.wait_page(title);
    }

    /// Waits until this page of a run is completely shown.
    fn wait_page(&mut self, title: &str) {
        let title = json!(title);
        self.wait(&format!(
            "document.querySelector('nav.pages a[aria-current]').title.startsWith({title} + ' (')"
        ));
        // A list draws its rows one frame after it has learned its own height.
        self.wait(
            "!document.querySelector('main .waiting, main .bone') &&
             [...document.querySelectorAll('main .rows')].every(list =>
                list.getAttribute('aria-rowcount') === '1' || list.querySelector('.row:not(.head)'))",
        );
    }

    /// Fails if the page sent a request, opened a dialog, reported an error, or contains parts that are not the
    /// viewer's own.
    fn assert_quiet(&mut self) {
        self.page.assert_quiet();
        self.assert_own();
    }

    /// Fails if the page opened a dialog, reported an error, or contains parts that are not the viewer's own.
    fn assert_no_errors(&mut self) {
        self.page.assert_no_errors();
        self.assert_own();
    }

    fn assert_own(&mut self) {
        let foreign = self.eval(&format!("({FOREIGN})()"));
        assert_eq!(foreign, json!([]), "what is not the viewer's own");
    }

    /// Returns the text of the band (the headline of a run) and of the page's main part.
    fn main_text(&mut self) -> String {
        let text = self.eval(TOLD);
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the band or the main part contains this text, ignoring case.
    fn wait_main(&mut self, text: &str) {
        let text = json!(text.to_lowercase());
        self.wait(&format!("({TOLD}).toLowerCase().includes({text})"));
    }

    /// Returns the number of rows in the page's main list, without its head.
    fn rows(&mut self) -> u64 {
        self.wait("!document.querySelector('.reading')");
        self.wait("+document.querySelector('[data-list]').getAttribute('aria-rowcount') > 1");
        let rows =
            self.eval("+document.querySelector('[data-list]').getAttribute('aria-rowcount') - 1");
        rows.as_u64().expect("a list")
    }

    /// Returns how many bytes the viewer has read, and the size of its worker's wasm memory.
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

/// Returns the `.prose` folder of the examples.
fn examples() -> PathBuf {
    needs::root().join("examples/.prose")
}

/// Returns the folder of an example run.
fn example(id: &str) -> PathBuf {
    examples().join("runs").join(id)
}

const FINISHED: &str = "20260112-091407-k3v8qd";
const FOLDER: &str = "20260115-083214-h5n2ye";
const FAILED: &str = "20260118-201530-z4t9wa";
const WAITING: &str = "20260125-125506-p7r2mx";
