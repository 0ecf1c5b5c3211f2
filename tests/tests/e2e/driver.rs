//! Tests the browser driver: it must notice requests, dialogs and errors of a page, so that tests which assert silence
//! can fail.

use std::fs;

use prosescope_tests::browser::Page;
use prosescope_tests::needs;
use serde_json::json;

/// Opens a page with this body. The page works only as long as the returned folder exists.
fn open(body: &str) -> Option<(Page, tempfile::TempDir)> {
    let chromium = needs::chromium()?;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a page#1.html");
    fs::write(&file, format!("<!doctype html><meta charset=utf-8>{body}")).unwrap();
    Some((Page::open_file(&chromium, &file), folder))
}

#[test]
fn a_still_page_is_quiet() {
    let Some((mut page, _folder)) = open("<p>still</p>") else {
        return;
    };
    page.wait_text("still");
    page.assert_quiet();
}

#[test]
fn errors_dialogs_and_requests_are_seen_in_workers_too() {
    let Some((mut page, _folder)) = open(
        "<script>console.error('one', 2); alert('three'); fetch('http://127.0.0.1:9/four').catch(() => {}); \
         setTimeout(() => { throw new Error('five') });
         const source = 'fetch(\"http://127.0.0.1:9/six\").catch(() => postMessage(7)); console.error(\"eight\");';
         new Worker(URL.createObjectURL(new Blob([source]))).onmessage = e => { document.title = e.data };</script>",
    ) else {
        return;
    };
    page.wait("document.title === '7'");
    assert_eq!(page.dialogs(), ["three"]);
    page.wait_until("both requests", |page| {
        page.requests() == ["http://127.0.0.1:9/four", "http://127.0.0.1:9/six"]
    });
    for seen in ["one 2", "Error: five", "eight"] {
        page.wait_until(seen, |page| page.errors().join("\n").contains(seen));
    }
    assert_eq!(page.workers(), 1);
}

#[test]
fn windows_frames_and_sockets_are_seen() {
    let Some((mut page, _folder)) = open("<p>still</p>") else {
        return;
    };
    page.eval("document.body.append(document.createElement('iframe'))");
    page.eval("new WebSocket('ws://127.0.0.1:9/one') && 0");
    page.eval("open('http://127.0.0.1:9/two') && 0");
    page.wait_until("the frame and the window", |page| {
        page.opened() == ["a frame", "http://127.0.0.1:9/two"]
    });
    page.wait_until("the socket", |page| {
        page.requests().contains(&"ws://127.0.0.1:9/one".to_owned())
    });
}

#[test]
fn drops_files_and_folders_and_presses_keys() {
    let Some((mut page, folder)) = open(
        "<body style='height: 900px'><input id=i autofocus><input id=f type=file multiple><script>
         globalThis.log = [];
         addEventListener('dragover', e => e.preventDefault());
         addEventListener('drop', async e => { e.preventDefault();
           for (const h of await Promise.all([...e.dataTransfer.items].map(i => i.getAsFileSystemHandle())))
             log.push(h.kind + ' ' + h.name) });
         f.addEventListener('change', () => log.push([...f.files].map(x => x.name + ' ' + x.size).join()));
         addEventListener('keydown', e => log.push((e.ctrlKey ? 'Ctrl+' : '') + e.key));</script>",
    ) else {
        return;
    };
    let sub = folder.path().join("folder");
    fs::create_dir(&sub).unwrap();
    let file = folder.path().join("file.txt");
    fs::write(&file, "four").unwrap();
    page.drop_files(&[&file, &sub]);
    page.wait("log.length === 2");
    assert_eq!(
        page.eval("log.splice(0)"),
        json!(["file file.txt", "directory folder"])
    );
    page.set_files("#f", &[&file]);
    page.wait("log.length === 1");
    assert_eq!(page.eval("log.splice(0)"), json!(["file.txt 4"]));
    page.click("#i");
    page.type_text("a ?");
    page.key("Ctrl+k");
    page.key("Tab");
    assert_eq!(
        page.eval("log.splice(0)"),
        json!(["a", " ", "?", "Ctrl+k", "Tab"])
    );
    assert_eq!(
        page.eval("[i.value, document.activeElement.id]"),
        json!(["a ?", "f"])
    );
    page.reload();
    assert_eq!(page.eval("log.length"), json!(0));
}

#[test]
fn counts_wasm_memory_of_page_and_workers() {
    let Some((mut page, _folder)) = open(
        "<script>globalThis.m = new WebAssembly.Memory({initial: 2});
         globalThis.w = new Worker(URL.createObjectURL(new Blob(
           ['globalThis.m = new WebAssembly.Memory({initial: 3}); postMessage(1)'])));
         w.onmessage = () => { document.title = 'ready' };</script>",
    ) else {
        return;
    };
    page.wait("document.title === 'ready'");
    assert_eq!(page.wasm_memory(), 5 * 65_536);
}
