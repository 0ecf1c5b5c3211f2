//! Drives a headless Chromium over its DevTools socket: real drops of files and folders, real keys, screenshots, and
//! a log of everything that a page must not do (requests, console errors, dialogs). With a headless Firefox
//! ([`Firefox`]), tests check that pages also work in Firefox.
//!
//! The pages of a test program share one Chromium, each with its own empty profile, because starting a Chromium takes
//! a second of processor time. A test that measures the browser starts a Chromium of its own ([`Page::alone`]).

mod devtools;
mod firefox;
mod keys;
mod process;
mod processes;

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::{Value, json};

use devtools::DevTools;
use process::Process;

pub use firefox::Firefox;

use crate::work::PATIENCE;

/// A page with its own cookies, storage and downloads.
///
/// Its methods are for tests: they panic on errors, and the message contains the content of the page.
pub struct Page {
    devtools: DevTools,
    session: String,
    url: String,
    /// The id of the page's isolated browser context.
    context: Value,
    downloads: tempfile::TempDir,
    chromium: Browser,
}

/// The Chromium that a page runs in, and whether other tests share it.
enum Browser {
    Shared(&'static Process),
    Own(Process),
}

impl Deref for Browser {
    type Target = Process;

    fn deref(&self) -> &Process {
        match self {
            Browser::Shared(chromium) => chromium,
            Browser::Own(chromium) => chromium,
        }
    }
}

/// JavaScript that describes the page: its address, the element with the focus, the current row, and the visible text.
const LOOK: &str = "[
    location.href,
    'focus: ' + document.activeElement?.outerHTML.slice(0, 300),
    'current: ' + document.querySelector('.row.current')?.outerHTML.slice(0, 300),
    document.body?.innerText,
].join('\\n')";

/// Returns JavaScript that tests whether an expression is true. An exception counts as false, because an element may
/// not exist yet.
fn truth(js: &str) -> String {
    format!("(() => {{ try {{ return !!({js}) }} catch {{ return false }} }})()")
}

impl Page {
    /// Opens an address in the browser shared by the tests of this program.
    pub fn open(chromium: &Path, url: &str) -> Page {
        Page::within(Browser::Shared(Process::shared_chromium(chromium)), url)
    }

    /// Opens an address in a browser without other pages.
    pub fn alone(chromium: &Path, url: &str) -> Page {
        Page::within(Browser::Own(Process::chromium(chromium)), url)
    }

    fn within(chromium: Browser, url: &str) -> Page {
        let (port, path) = chromium.devtools();
        let mut devtools = DevTools::connect(port, &path);
        let call = |d: &mut DevTools, session: &str, method: &str, params: Value| {
            d.try_call(session, method, params)
                .unwrap_or_else(|e| panic!("{e}"))
        };
        let context = call(
            &mut devtools,
            "",
            "Target.createBrowserContext",
            json!({"disposeOnDetach": true}),
        )["browserContextId"]
            .take();
        let window = json!({"url": "about:blank", "browserContextId": context, "newWindow": true});
        let target = call(&mut devtools, "", "Target.createTarget", window);
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = call(&mut devtools, "", "Target.attachToTarget", attach)["sessionId"]
            .as_str()
            .expect("a session")
            .to_owned();
        for domain in [
            "Page.enable",
            "Runtime.enable",
            "Network.enable",
            "Log.enable",
            "DOM.enable",
        ] {
            call(&mut devtools, &session, domain, json!({}));
        }
        // A worker waits until its DevTools domains are enabled, so that the log contains all of its requests.
        let workers = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
        call(&mut devtools, &session, "Target.setAutoAttach", workers);
        // The page behaves as focused even if the window of another page is on top.
        let focus = json!({"enabled": true});
        call(
            &mut devtools,
            &session,
            "Emulation.setFocusEmulationEnabled",
            focus,
        );
        let downloads = tempfile::tempdir().expect("a folder for downloads");
        let allow = json!({
            "behavior": "allow",
            "eventsEnabled": true,
            "browserContextId": context,
            "downloadPath": downloads.path(),
        });
        call(&mut devtools, "", "Browser.setDownloadBehavior", allow);
        let mut page = Page {
            devtools,
            session,
            url: String::new(),
            context,
            downloads,
            chromium,
        };
        page.go(url);
        page
    }

    /// Opens a file on disk, as a double click would, in the browser shared by the tests of this program.
    pub fn open_file(chromium: &Path, file: &Path) -> Page {
        Page::open(chromium, &file_url(file))
    }

    /// Goes to another address.
    pub fn go(&mut self, url: &str) {
        self.url = url.to_owned();
        let answer = self.call("Page.navigate", json!({"url": url}));
        assert!(
            answer["errorText"].is_null(),
            "{url}: {}",
            answer["errorText"]
        );
        self.wait("document.readyState === 'complete'");
    }

    /// Loads the page again.
    pub fn reload(&mut self) {
        self.eval("window.__before_reload = true");
        self.call("Page.reload", json!({}));
        self.wait("!window.__before_reload && document.readyState === 'complete'");
    }

    /// Calls a DevTools method of the page.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        let session = self.session.clone();
        self.devtools
            .try_call(&session, method, params)
            .unwrap_or_else(|e| panic!("{e}"))
    }

    /// Records the browser's own trace events of these categories, separated by commas, while `during` runs.
    pub fn trace(&mut self, categories: &str, during: impl FnOnce(&mut Page)) -> Vec<Value> {
        let own = json!({"categories": categories, "transferMode": "ReportEvents"});
        let call = |page: &mut Page, method, params| {
            let answer = page.devtools.try_call("", method, params);
            answer.unwrap_or_else(|e| panic!("{e}"));
        };
        call(self, "Tracing.start", own);
        during(self);
        call(self, "Tracing.end", json!({}));
        self.wait_until("the trace", |page| {
            page.devtools.settle(Duration::from_millis(20));
            page.devtools.log.is_traced
        });
        self.devtools.log.is_traced = false;
        std::mem::take(&mut self.devtools.log.trace)
    }

    /// Evaluates an expression, awaits a promise, and returns the value.
    pub fn eval(&mut self, js: &str) -> Value {
        let params = json!({"expression": js, "returnByValue": true, "awaitPromise": true, "userGesture": true});
        let answer = self.call("Runtime.evaluate", params);
        let thrown = &answer["exceptionDetails"];
        assert!(
            thrown.is_null(),
            "{js}\nthrew {}",
            thrown["exception"]["description"]
        );
        answer["result"]["value"].clone()
    }

    /// Waits for this time and reads events meanwhile. A worker starts only after this process has answered its event,
    /// so sleeping would delay the worker.
    pub fn pause(&mut self, time: Duration) {
        let millis = time.as_millis();
        self.eval(&format!("new Promise(done => setTimeout(done, {millis}))"));
    }

    /// Waits until an expression is true, and returns the waiting time.
    pub fn wait(&mut self, js: &str) -> Duration {
        let start = Instant::now();
        let js = truth(js);
        loop {
            let params = json!({"expression": js, "returnByValue": true});
            let session = self.session.clone();
            // While the page navigates, it has no context that could evaluate the expression.
            if let Ok(answer) = self.devtools.try_call(&session, "Runtime.evaluate", params)
                && answer["result"]["value"] == json!(true)
            {
                return start.elapsed();
            }
            if start.elapsed() > PATIENCE {
                panic!(
                    "waited {} s for {js}\n{}",
                    PATIENCE.as_secs(),
                    self.describe()
                );
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until a condition on the log is true ([`Page::requests`], [`Page::errors`] and others). The log's events
    /// arrive a moment after what they report.
    pub fn wait_until(&mut self, what: &str, holds: impl Fn(&mut Page) -> bool) {
        let start = Instant::now();
        while !holds(self) {
            assert!(
                start.elapsed() < PATIENCE,
                "waited {} s for {what}\n{}",
                PATIENCE.as_secs(),
                self.describe()
            );
        }
    }

    /// Waits until the page contains a text.
    pub fn wait_text(&mut self, text: &str) {
        self.wait(&format!(
            "document.body.innerText.includes({})",
            json!(text)
        ));
    }

    /// Returns the visible text of the page.
    pub fn text(&mut self) -> String {
        self.eval("document.body.innerText")
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Drops files or folders on the page, as from a file manager.
    pub fn drop_files(&mut self, files: &[&Path]) {
        for kind in ["dragEnter", "dragOver", "drop"] {
            let data = json!({"items": [], "files": files, "dragOperationsMask": 1});
            self.call(
                "Input.dispatchDragEvent",
                json!({"type": kind, "x": 200, "y": 200, "data": data}),
            );
        }
    }

    /// Chooses files in a file input, or one folder if the input accepts folders.
    pub fn set_files(&mut self, selector: &str, files: &[&Path]) {
        let expression = format!("document.querySelector({})", json!(selector));
        let found = self.call("Runtime.evaluate", json!({"expression": expression}));
        let object = &found["result"]["objectId"];
        assert!(
            object.is_string(),
            "no element {selector}\n{}",
            self.describe()
        );
        self.call(
            "DOM.setFileInputFiles",
            json!({"objectId": object, "files": files}),
        );
    }

    /// Calls `ask`, which makes the page open a file dialog, and chooses these files in the dialog.
    pub fn choose_files(&mut self, files: &[&Path], ask: impl FnOnce(&mut Page)) {
        self.call(
            "Page.setInterceptFileChooserDialog",
            json!({"enabled": true}),
        );
        ask(self);
        let start = Instant::now();
        let chooser = loop {
            if let Some(node) = self.devtools.log.chooser.take() {
                break node;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "the page asked for no files\n{}",
                self.describe()
            );
            self.devtools.settle(Duration::from_millis(50));
        };
        let chosen = json!({"backendNodeId": chooser, "files": files});
        self.call("DOM.setFileInputFiles", chosen);
        self.call(
            "Page.setInterceptFileChooserDialog",
            json!({"enabled": false}),
        );
    }

    /// Presses and releases a key: `Enter`, `j`, `Shift+Tab`, `Ctrl+o`.
    pub fn key(&mut self, name: &str) {
        for event in keys::events(name) {
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Types a text, key by key.
    pub fn type_text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                ' ' => self.key("Space"),
                '\n' => self.key("Enter"),
                _ => self.key(&c.to_string()),
            }
        }
    }

    /// Clicks the middle of an element with the mouse.
    pub fn click(&mut self, selector: &str) {
        self.click_found(&format!("document.querySelector({})", json!(selector)));
    }

    /// Clicks the middle of the first element that matches the selector and contains a text, with the mouse.
    pub fn click_text(&mut self, selector: &str, text: &str) {
        self.click_found(&format!(
            "[...document.querySelectorAll({})].find(e => e.innerText.includes({}))",
            json!(selector),
            json!(text)
        ));
    }

    /// Clicks the element that an expression returns, once the element exists and has stopped moving. If a later
    /// rendering moves the element so that the press hits another one, the page does not receive the press. The click
    /// is then retried.
    fn click_found(&mut self, found: &str) {
        let start = Instant::now();
        loop {
            self.wait(found);
            let place = self.eval(&format!(
                "(async () => {{
                    let e, r, before = '', place;
                    do {{
                        await new Promise(requestAnimationFrame);
                        [e, before] = [{found}, place];
                        if (!e) return null;
                        e.scrollIntoView({{block: 'nearest'}});
                        r = e.getBoundingClientRect();
                        place = [r.x, r.y, r.width, r.height].join();
                    }} while (place !== before);
                    window.met = undefined;
                    const guard = event => {{
                        window.met ??= e.contains(event.target);
                        if (window.met) return;
                        event.preventDefault();
                        event.stopImmediatePropagation();
                    }};
                    for (const kind of ['mousedown', 'click']) addEventListener(kind, guard, {{capture: true, once: true}});
                    return [r.x + r.width / 2, r.y + r.height / 2];
                }})()",
            ));
            if !place.is_null() {
                for kind in ["mousePressed", "mouseReleased"] {
                    let at = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
                    self.call("Input.dispatchMouseEvent", at);
                }
                // The variable is undefined on another page: the click hit and led to that page.
                if self.eval("window.met") != json!(false) {
                    return;
                }
            }
            assert!(
                start.elapsed() < PATIENCE,
                "something covers {found}\n{}",
                self.describe()
            );
        }
    }

    /// Sets the window's size in pixels, and the system's colour scheme.
    pub fn look(&mut self, width: u32, height: u32, dark: bool) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({"features": [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]});
        self.call("Emulation.setEmulatedMedia", media);
    }

    /// Takes a screenshot at a size and colour scheme, and writes it as PNG.
    pub fn screenshot(&mut self, file: &Path, width: u32, height: u32, dark: bool) {
        self.look(width, height, dark);
        // The page waits for two frames: one for layout, one for painting.
        self.eval("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))");
        let shot = self.call("Page.captureScreenshot", json!({"format": "png"}));
        let png = base64::engine::general_purpose::STANDARD
            .decode(shot["data"].as_str().unwrap_or_default())
            .expect("a picture");
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).expect("a folder for the picture");
        }
        fs::write(file, png).expect("the picture is written");
    }

    /// Returns the URLs that the page and its workers requested, without the page itself, data URLs and blobs.
    pub fn requests(&mut self) -> Vec<String> {
        self.catch_up();
        self.requested()
    }

    fn requested(&self) -> Vec<String> {
        let page = self.url.split('#').next().unwrap_or_default();
        let log = &self.devtools.log.requests;
        let asked = |url: &&String| {
            !url.starts_with("data:")
                && !url.starts_with("blob:")
                && url.split('#').next() != Some(page)
        };
        log.iter().filter(asked).cloned().collect()
    }

    /// Returns console errors, uncaught exceptions and refused resources of the page and its workers.
    pub fn errors(&mut self) -> Vec<String> {
        self.catch_up();
        self.devtools.log.errors.clone()
    }

    /// Returns the texts of the dialogs that the page opened. Each dialog was dismissed at once.
    pub fn dialogs(&mut self) -> Vec<String> {
        self.catch_up();
        self.devtools.log.dialogs.clone()
    }

    /// Returns the windows and frames that the page opened.
    pub fn opened(&mut self) -> Vec<String> {
        self.catch_up();
        self.devtools.log.opened.clone()
    }

    /// Fails if the page sent a request, opened a dialog, a window or a frame, or reported an error.
    pub fn assert_quiet(&mut self) {
        self.assert_no_errors();
        assert_eq!(self.requested(), [] as [String; 0], "requests");
    }

    /// Fails if the page opened a dialog, a window or a frame, or reported an error.
    pub fn assert_no_errors(&mut self) {
        self.catch_up();
        let log = &self.devtools.log;
        assert_eq!(log.opened, [] as [String; 0], "windows and frames");
        assert_eq!(log.dialogs, [] as [String; 0], "dialogs");
        assert_eq!(log.errors, [] as [String; 0], "errors on the console");
    }

    /// Returns the file downloaded under this name, once it is complete.
    pub fn downloaded(&mut self, name: &str) -> PathBuf {
        let file = self.downloads.path().join(name);
        let start = Instant::now();
        // The browser creates the file before it writes the content.
        while !self.devtools.log.has_downloaded(name) || !file.is_file() {
            assert!(
                start.elapsed() < PATIENCE,
                "no download {name}: {:?}",
                self.devtools.log.downloads
            );
            self.devtools.settle(Duration::from_millis(50));
        }
        file
    }

    /// Returns the size of the WebAssembly memory of the page and its workers, in bytes.
    pub fn wasm_memory(&mut self) -> u64 {
        self.catch_up();
        self.sessions()
            .iter()
            .map(|session| self.wasm_memory_of(session))
            .sum()
    }

    /// Returns the peak memory of the browser's largest renderer process in bytes, if the system reports it.
    pub fn renderer_peak(&self) -> Option<u64> {
        processes::renderer_peak(self.chromium.id())
    }

    /// Returns the number of the page's workers.
    pub fn workers(&mut self) -> usize {
        self.catch_up();
        self.devtools.log.workers.len()
    }

    /// Evaluates an expression in the page's oldest worker and returns its value. Workers that start later only warm
    /// up the browser.
    ///
    /// # Errors
    /// The exception, such as a trap of WebAssembly, or that there is no worker.
    pub fn try_eval_in_worker(&mut self, js: &str) -> Result<Value, String> {
        let worker = self.devtools.log.workers.first().cloned();
        let worker = worker.ok_or("there is no worker")?;
        let params = json!({"expression": js, "returnByValue": true, "awaitPromise": true});
        let answer = self
            .devtools
            .try_call(&worker, "Runtime.evaluate", params)?;
        match &answer["exceptionDetails"] {
            Value::Null => Ok(answer["result"]["value"].clone()),
            thrown => Err(thrown["exception"]["description"]
                .as_str()
                .unwrap_or("something was thrown")
                .to_owned()),
        }
    }

    /// Sets the clocks of the page and its workers forward, as if this much time had passed. Timers do not run sooner.
    pub fn pass(&mut self, time: Duration) {
        let ahead = time.as_millis();
        let later = format!("{{ const now = Date.now; Date.now = () => now() + {ahead} }}");
        for session in self.sessions() {
            let params = json!({"expression": later});
            self.devtools
                .try_call(&session, "Runtime.evaluate", params)
                .unwrap_or_else(|e| panic!("{e}"));
        }
    }

    /// Returns the processor time of the page's workers; zero if the system does not report it.
    pub fn worker_time(&self) -> Duration {
        processes::worker_time(self.chromium.id()).unwrap_or_default()
    }

    /// Returns the processor time of the page itself, including drawing; zero if the system does not report it.
    pub fn page_time(&self) -> Duration {
        processes::page_time(self.chromium.id()).unwrap_or_default()
    }

    /// Returns the ids of the DevTools sessions of the page and its workers.
    fn sessions(&self) -> Vec<String> {
        let workers = self.devtools.log.workers.iter().cloned();
        workers.chain([self.session.clone()]).collect()
    }

    /// Brings the log up to date: the page and each worker answer one command, and their earlier events arrive before
    /// the answer. Events of other processes (requests, windows) may still be on their way.
    fn catch_up(&mut self) {
        for session in self.sessions() {
            let nothing = json!({"expression": "0"});
            // A page that navigates, or a worker that has ended, does not answer, and has no further events.
            let _ = self
                .devtools
                .try_call(&session, "Runtime.evaluate", nothing);
        }
        self.devtools.settle(Duration::from_millis(50));
    }

    fn wasm_memory_of(&mut self, session: &str) -> u64 {
        let mut call = |method: &str, params: Value| {
            self.devtools
                .try_call(session, method, params)
                .unwrap_or_else(|e| panic!("{e}"))
        };
        call("HeapProfiler.collectGarbage", json!({}));
        let prototype = call(
            "Runtime.evaluate",
            json!({"expression": "WebAssembly.Memory.prototype"}),
        );
        let id = &prototype["result"]["objectId"];
        let memories = call("Runtime.queryObjects", json!({"prototypeObjectId": id}));
        // A shared memory may appear twice with the same buffer, which counts once.
        let sum = "function() { return [...new Set(this.map(m => m.buffer))].reduce((n, b) => n + b.byteLength, 0) }";
        let id = &memories["objects"]["objectId"];
        let on = json!({"objectId": id, "functionDeclaration": sum, "returnByValue": true});
        call("Runtime.callFunctionOn", on)["result"]["value"]
            .as_u64()
            .unwrap_or(0)
    }

    /// Returns a description of the page, its focus and its current row for the message of a failing test.
    fn describe(&mut self) -> String {
        let look = json!({"expression": LOOK, "returnByValue": true});
        let session = self.session.clone();
        let shown = self
            .devtools
            .try_call(&session, "Runtime.evaluate", look)
            .unwrap_or_default();
        let shown: String = shown["result"]["value"]
            .as_str()
            .unwrap_or("(no page)")
            .chars()
            .take(2_000)
            .collect();
        format!("the page: {shown}\nerrors: {:#?}", self.devtools.log.errors)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let context = json!({"browserContextId": self.context});
        let _ = self
            .devtools
            .try_call("", "Target.disposeBrowserContext", context);
    }
}

/// Returns the URL of a file or folder on disk.
pub fn file_url(file: &Path) -> String {
    let path = fs::canonicalize(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut url = String::from("file://");
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                url.push(char::from(byte));
            }
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}
