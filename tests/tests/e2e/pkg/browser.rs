//! In a real browser: bundled with the WebAssembly inside, bundled with it beside, and not bundled at all.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use prosescope_tests::browser::Page;
use prosescope_tests::needs;

use super::{Project, readme};

const RUN: &str = "examples/.prose/runs/20260118-201530-z4t9wa";
const HEADLINE: &str = "Failed at line 38: draft = session: translator";

/// The README's example, in one HTML file that was opened from disk: a person chooses a folder.
#[test]
fn a_bundled_page_opens_a_run_that_a_person_chose() {
    let (Some(project), Some(chromium)) = (Project::new(), needs::chromium()) else {
        return;
    };
    let script = project.path().join("page.mjs");
    fs::write(&script, readme("In a browser", "js")).unwrap();
    project.must(&["bundle.mjs", "page.mjs", "bundled.js", "binary"]);
    let bundle = fs::read_to_string(project.path().join("bundled.js")).unwrap();
    assert!(!bundle.contains("</script"));
    let html = format!(
        "<!doctype html><meta charset=utf-8><input type=file webkitdirectory><output></output>\
         <script type=module>{bundle};document.body.dataset.ready = 'yes'</script>"
    );
    let file = project.path().join("page.html");
    fs::write(&file, html).unwrap();

    let mut page = Page::open_file(&chromium, &file);
    page.wait("document.body.dataset.ready === 'yes'");
    page.set_files("input", &[&needs::root().join(RUN)]);
    page.wait("document.querySelector('output').textContent !== ''");
    let shown = page.eval("document.querySelector('output').textContent");
    assert_eq!(shown, HEADLINE);
    page.assert_quiet();
}

#[test]
fn pages_from_a_server_load_the_webassembly_themselves() {
    let (Some(project), Some(chromium)) = (Project::new(), needs::chromium()) else {
        return;
    };
    let database = needs::root().join(RUN).join("state.db");
    fs::copy(database, project.path().join("state.db")).unwrap();
    let look = "const bytes = await (await fetch('state.db')).arrayBuffer();
        const run = await open(bytes);
        document.title = [(await run.overview()).headline, (await run.value('style', { frame: 19 })).length].join();
        await run.free();
        await open(new Blob(['{}'])).catch(e => { document.body.dataset.error = `${e.name} ${e.code}` });";
    // Not bundled: the module beside the script is found by itself.
    let plain = format!("import {{ open }} from './node_modules/prosescope/index.js'; {look}");
    // Bundled, the module beside the bundle.
    let asset = format!(
        "import {{ init, open }} from 'prosescope'; import url from 'prosescope/prosescope.wasm'; await init(url); {look}"
    );
    fs::write(project.path().join("asset.mjs"), asset).unwrap();
    project.must(&["bundle.mjs", "asset.mjs", "asset.js", "file"]);
    fs::write(project.path().join("plain.js"), plain).unwrap();
    // In a worker, which has no page.
    let worker = plain_worker(look);
    fs::write(project.path().join("in-worker.js"), worker).unwrap();
    let ask = "new Worker('in-worker.js', { type: 'module' }).onmessage = ({ data }) => {
        document.title = data.title; document.body.dataset.error = data.body.dataset.error };";
    fs::write(project.path().join("worker.js"), ask).unwrap();
    // In the package's own worker: files are read there, in parts.
    let far = format!("import {{ open }} from './node_modules/prosescope/worker.js'; {look}");
    let far = far.replace("open(bytes)", "open(new File([bytes], 'state.db'))");
    fs::write(project.path().join("far.js"), far).unwrap();
    let address = serve(project.path().to_path_buf());
    for script in ["plain.js", "asset.js", "worker.js", "far.js"] {
        let html = format!(
            "<!doctype html><link rel=icon href=data:,><body><script type=module src={script}></script>"
        );
        fs::write(project.path().join("index.html"), html).unwrap();
        let mut page = Page::open(&chromium, &address);
        page.wait("document.body.dataset.error");
        assert_eq!(
            page.eval("document.title"),
            format!("{HEADLINE},115"),
            "{script}"
        );
        let error = page.eval("document.body.dataset.error");
        assert_eq!(error, "OpenError unreadable-database", "{script}");
        page.assert_no_errors();
    }
}

/// The same in a worker: an object stands for the page, and is sent to it.
fn plain_worker(look: &str) -> String {
    format!(
        "import {{ open }} from './node_modules/prosescope/index.js';
         const document = {{ body: {{ dataset: {{}} }} }}; {look} postMessage(document);"
    )
}

/// Serves a folder until the test ends; returns its address.
fn serve(folder: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            std::thread::spawn(move || answer(&folder, stream));
        }
    });
    address
}

fn answer(folder: &Path, mut stream: TcpStream) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    let first = lines.next()?.ok()?;
    lines
        .take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty()))
        .count();
    let path = first.split(' ').nth(1)?.trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    let kind = match Path::new(path).extension()?.to_str()? {
        "html" => "text/html",
        "js" => "text/javascript",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    };
    let body = fs::read(folder.join(path)).unwrap_or_default();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&body).ok()
}
