//! Drives a headless Firefox by WebDriver BiDi: evaluates scripts, chooses files, presses keys, and reports the page's
//! errors.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use super::devtools::DevTools;
use super::process::Process;
use super::truth;
use crate::work::PATIENCE;

/// A page in its own Firefox. Its methods panic on errors, because they are for tests.
pub struct Firefox {
    bidi: DevTools,
    context: Value,
    _process: Process,
}

impl Firefox {
    /// Starts a Firefox and opens an address in it.
    pub fn open(program: &Path, url: &str) -> Firefox {
        let process = Process::firefox(program);
        let mut bidi = DevTools::connect(process.bidi(), "/session");
        let mut call = |method: &str, params: Value| {
            bidi.try_call("", method, params)
                .unwrap_or_else(|e| panic!("{e}"))
        };
        call("session.new", json!({"capabilities": {}}));
        call("session.subscribe", json!({"events": ["log.entryAdded"]}));
        let context = call("browsingContext.getTree", json!({}))["contexts"][0]["context"].take();
        let mut page = Firefox {
            bidi,
            context,
            _process: process,
        };
        let size = json!({"viewport": {"width": 1280, "height": 900}});
        page.call("browsingContext.setViewport", size);
        page.call(
            "browsingContext.navigate",
            json!({"url": url, "wait": "complete"}),
        );
        page
    }

    /// Calls a method with parameters; the page is added as the context.
    fn call(&mut self, method: &str, mut params: Value) -> Value {
        params["context"] = self.context.clone();
        self.bidi
            .try_call("", method, params)
            .unwrap_or_else(|e| panic!("{e}"))
    }

    /// Evaluates an expression and returns its value: a text, a number or a boolean.
    pub fn eval(&mut self, js: &str) -> Value {
        let params = json!({
            "expression": js, "target": {"context": self.context}, "awaitPromise": true, "userActivation": true,
        });
        let answer = self.bidi.try_call("", "script.evaluate", params);
        let answer = answer.unwrap_or_else(|e| panic!("{js}: {e}"));
        let thrown = &answer["exceptionDetails"]["text"];
        assert!(thrown.is_null(), "{js}\nthrew {thrown}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub fn wait(&mut self, js: &str) {
        let start = Instant::now();
        let js = truth(js);
        while self.eval(&js) != json!(true) {
            if start.elapsed() > PATIENCE {
                let shown = self.eval("location.href + '\\n' + document.body?.innerText");
                let seconds = PATIENCE.as_secs();
                panic!(
                    "waited {seconds} s for {js}\n{}",
                    shown.as_str().unwrap_or_default()
                );
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Chooses files in a file input.
    pub fn set_files(&mut self, selector: &str, files: &[&Path]) {
        let by = json!({"locator": {"type": "css", "value": selector}});
        let found = self.call("browsingContext.locateNodes", by);
        let element = json!({"sharedId": found["nodes"][0]["sharedId"]});
        self.call(
            "input.setFiles",
            json!({"element": element, "files": files}),
        );
    }

    /// Presses and releases keys, one after the other. Enter is `\n`.
    pub fn keys(&mut self, keys: &str) {
        let down = |c: char| match c {
            '\n' => "\u{e007}".to_owned(),
            c => c.to_string(),
        };
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|c| ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": down(c)})))
            .collect();
        let keyboard = json!([{"type": "key", "id": "keyboard", "actions": actions}]);
        self.call("input.performActions", json!({"actions": keyboard}));
    }

    /// Fails if the page has reported an error.
    pub fn assert_no_errors(&mut self) {
        // Waiting for an answer also reads all events that arrive before the answer.
        self.eval("0");
        assert_eq!(self.bidi.log.errors, [] as [String; 0], "errors");
    }
}
