//! Tests each row of the table of environments in pkg/README.md, with the code in that row.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use prosescope_tests::browser::Page;
use prosescope_tests::needs;

use super::server::serve;
use super::{Project, readme};

const RUN: &str = "examples/.prose/runs/20260118-201530-z4t9wa";
const HEADLINE: &str = "Failed at line 38: draft = session: translator";

/// The first version of Node whose `require` can load ES modules.
const REQUIRES: [u32; 2] = [20, 19];

/// Defines a test for each row: its name, the row's first cell, and a function of a project and the row's code.
macro_rules! rows {
    ($($test:ident, $row:literal, $body:expr;)*) => {
        const ROWS: &[&str] = &[$($row),*];

        $(#[test]
        fn $test() {
            let body: fn(&Project, &[String]) = $body;
            if let Some(project) = Project::new() {
                body(&project, &code_of($row));
            }
        })*
    };
}

rows! {
    a_page_without_a_bundler, "a page without a bundler", |project, code| {
        assert_eq!(code, ["prosescope.wasm"]);
        app(project);
        for script in ["page.js", "in-worker.js"] {
            let script = project.path().join(script);
            let text = fs::read_to_string(&script).unwrap();
            let text = text.replace("'prosescope'", "'./node_modules/prosescope/index.js'");
            let text = text.replace("'prosescope/worker'", "'./node_modules/prosescope/worker.js'");
            fs::write(script, text).unwrap();
        }
        works(&serve(built(project, ".")));
    };
    vite_8, "Vite 8", |project, code| {
        assert!(code.is_empty());
        app(project);
        if project.has_node(REQUIRES, "Vite 8") {
            vite(project, "vite8");
        }
    };
    vite_6_and_7, "Vite 6 and 7", |project, code| {
        app(project);
        let settings = format!("export default {{ {} }};", code.first().unwrap());
        fs::write(project.path().join("vite.config.mjs"), settings).unwrap();
        vite(project, "vite6");
        if project.has_node(REQUIRES, "Vite 7") {
            vite(project, "vite7");
        }
    };
    webpack_5, "webpack 5", |project, code| {
        assert!(code.is_empty());
        app(project);
        project.must(&["webpack.mjs"]);
        works(&serve(built(project, "dist")));
    };
    // The README's example is built into one HTML file and opened from disk. Then a folder is chosen, as a person
    // would.
    esbuild_in_one_file, "esbuild, all in one file", |project, code| {
        let Some(chromium) = needs::chromium() else { return };
        let (example, [import, init, loader]) = (readme("In a browser", "js"), code) else { panic!("{code:?}") };
        assert!(example.contains(import) && example.contains(init));
        fs::write(project.path().join("page.mjs"), example).unwrap();
        esbuild(project, &["page.mjs", "--minify", "--format=esm", "--outfile=bundled.js", loader]);
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
        assert_eq!(page.eval("document.querySelector('output').textContent"), HEADLINE);
        page.assert_quiet();
    };
    esbuild_beside, "esbuild, the WebAssembly beside the bundle", |project, code| {
        let Some(chromium) = needs::chromium() else { return };
        let [import, init, loader] = code else { panic!("{code:?}") };
        app(project);
        let page = format!(
            "import {{ init, open }} from 'prosescope'; {import}; {init};
             const run = await open(await (await fetch('state.db')).arrayBuffer());
             document.title = run.overview().headline;"
        );
        fs::write(project.path().join("page.js"), page).unwrap();
        esbuild(project, &["page.js", "--minify", "--format=esm", "--outdir=dist", loader]);
        let mut page = Page::open(&chromium, &serve(built(project, "dist")));
        page.wait("document.title !== ''");
        assert_eq!(page.eval("document.title"), HEADLINE);
        page.assert_no_errors();
    };
    esbuild_with_a_worker, "esbuild, `prosescope/worker`", |project, code| {
        let [_, side, format, names, wasm] = code else { panic!("{code:?}") };
        app(project);
        esbuild(project, &["page.js", "in-worker.js", side, "--minify", "--outdir=dist", format, names]);
        beside(project, wasm);
        works(&serve(built(project, "dist")));
    };
    esbuild_for_node, "esbuild, for Node", |project, code| {
        let [platform, format, wasm] = code else { panic!("{code:?}") };
        let script = "import { openPath } from 'prosescope/node';
            const run = await openPath('state.db').catch(error => error);
            console.log(run.code ?? run.overview().headline, run.hint);";
        fs::write(project.path().join("script.mjs"), script).unwrap();
        fs::copy(database(), project.path().join("state.db")).unwrap();
        esbuild(project, &["script.mjs", "--outdir=dist", "--out-extension:.js=.mjs", platform, format]);
        let hint = "copy prosescope.wasm beside the bundle, or give init() its bytes";
        assert_eq!(project.must(&["dist/script.mjs"]), format!("init-failed {hint}\n"));
        beside(project, wasm);
        assert_eq!(project.must(&["dist/script.mjs"]), format!("{HEADLINE} undefined\n"));
    };
    esbuild_for_node_commonjs, "esbuild, for Node, CommonJS", |project, code| {
        let [platform, format, wasm] = code else { panic!("{code:?}") };
        fs::copy(database(), project.path().join("state.db")).unwrap();
        let script = "import { openPath, startRun } from 'prosescope/node';
            const none = await_(startRun('x.prose', { executable: './nothing' }));
            const run = await_(openPath('state.db'));
            async function await_(call) { return call.catch(error => error); }
            Promise.all([run, none]).then(([run, none]) => {
              console.log(run.code ?? run.overview().headline, none.code, run.share?.({ format: 'html' }).report.format);
            });";
        // The bundle runs in another folder than its own.
        fs::write(project.path().join("script.js"), script).unwrap();
        esbuild(project, &["script.js", "--outdir=dist", "--out-extension:.js=.cjs", platform, format]);
        assert_eq!(project.must(&["dist/script.cjs"]), "init-failed program-failed undefined\n");
        beside(project, wasm);
        beside(project, "viewer.html");
        assert_eq!(project.must(&["dist/script.cjs"]), format!("{HEADLINE} program-failed html\n"));
    };
    esbuild_to_share_a_page, "esbuild, to share a page", |project, code| {
        let [import, option, _, loader] = code else { panic!("{code:?}") };
        let script = format!("import {{ openPath }} from 'prosescope/node'; {import};
            const run = await openPath('state.db');
            console.log(run.share({{ format: 'html', {option} }}).report.format);");
        fs::write(project.path().join("script.mjs"), script).unwrap();
        fs::copy(database(), project.path().join("state.db")).unwrap();
        esbuild(project, &["script.mjs", "--outdir=dist", "--out-extension:.js=.mjs", "--platform=node", "--format=esm", loader]);
        beside(project, "prosescope.wasm");
        assert_eq!(project.must(&["dist/script.mjs"]), "html\n");
    };
    node_es_modules, "Node, ES modules", |project, code| in_node(project, code, "script.mjs");
    node_commonjs, "Node, CommonJS", |project, code| {
        if project.has_node(REQUIRES, "require of a module") {
            in_node(project, code, "script.cjs");
        }
    };
    typescript, "TypeScript 6 and 7, strict", |project, code| {
        assert!(code.is_empty());
        fs::write(project.path().join("readme.mts"), readme("In Node", "js")).unwrap();
        fs::write(project.path().join("sharing.mts"), readme("Sharing", "js")).unwrap();
        fs::write(project.path().join("recording.mts"), readme("Recording", "js")).unwrap();
        for version in ["typescript", "typescript7"] {
            let tsc = format!("node_modules/{version}/bin/tsc");
            // The second settings do not include the types of the DOM.
            for settings in ["tsconfig.json", "tsconfig.node.json"] {
                assert_eq!(project.must(&[&tsc, "--project", settings]), "", "{version}");
            }
        }
    };
}

#[test]
fn the_readme_s_table_has_a_row_for_each_of_these_tests() {
    let text = fs::read_to_string(needs::root().join("pkg/README.md")).unwrap();
    let rows: Vec<&str> = table(&text).map(|(row, _)| row).collect();
    assert_eq!(rows, ROWS);
}

/// Returns each row of the README's table as its two cells.
fn table(readme: &str) -> impl Iterator<Item = (&str, &str)> {
    let (_, rows) = readme
        .split_once("\n| where | what to write |\n|---|---|\n")
        .unwrap();
    let rows = rows.lines().take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells = row.trim_matches('|').split_once(" | ").unwrap();
        (cells.0.trim(), cells.1.trim())
    })
}

/// Returns the code in a row of the README's table: in its first cell, then in its second.
fn code_of(row: &str) -> Vec<String> {
    let text = fs::read_to_string(needs::root().join("pkg/README.md")).unwrap();
    let (name, cell) = table(&text).find(|(name, _)| *name == row).unwrap();
    let code = |cell: &str| -> Vec<String> {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    [code(name), code(cell)].concat()
}

fn database() -> PathBuf {
    needs::root().join(RUN).join("state.db")
}

/// Puts the example's database into the project's `public` folder.
fn app(project: &Project) {
    let public = project.path().join("public");
    fs::create_dir(&public).unwrap();
    fs::copy(database(), public.join("state.db")).unwrap();
}

/// Returns the folder that a bundler built, after adding the files that a server has beside the scripts.
fn built(project: &Project, folder: &str) -> PathBuf {
    let built = project.path().join(folder);
    fs::copy(database(), built.join("state.db")).unwrap();
    if folder != "." {
        fs::copy(project.path().join("index.html"), built.join("index.html")).unwrap();
    }
    built
}

/// Copies a file of the package to the bundle's folder.
fn beside(project: &Project, file: &str) {
    let package = project.path().join("node_modules/prosescope");
    fs::copy(package.join(file), project.path().join("dist").join(file)).unwrap();
}

fn esbuild(project: &Project, args: &[&str]) {
    let always = [
        "node_modules/esbuild/bin/esbuild",
        "--bundle",
        "--log-level=warning",
    ];
    assert_eq!(project.must(&[&always, args].concat()), "");
}

/// Opens the page from Vite's development server, and then from Vite's build.
fn vite(project: &Project, version: &str) {
    let server = Server::of(project, version);
    works(&server.address);
    drop(server);
    let bin = format!("node_modules/{version}/bin/vite.js");
    project.must(&[&bin, "build", "--logLevel", "warn"]);
    works(&serve(project.path().join("dist")));
}

/// A running development server. Dropping this value ends it.
struct Server {
    address: String,
    node: Child,
}

impl Server {
    fn of(project: &Project, version: &str) -> Server {
        let mut node = Command::new(&project.node)
            .args(["vite.mjs", version])
            .current_dir(project.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let mut said = BufReader::new(node.stdout.as_mut().unwrap());
        said.read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        Server { address, node }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server ends when its standard input ends.
        drop(self.node.stdin.take());
        let _ = self.node.wait();
    }
}

/// Checks page.js: opening a run in the page, in the package's worker and in its own worker, and refusing invalid
/// files.
fn works(address: &str) {
    let Some(chromium) = needs::chromium() else {
        return;
    };
    let mut page = Page::open(&chromium, address);
    page.wait("document.title !== ''");
    let expected = [
        HEADLINE,
        HEADLINE,
        HEADLINE,
        "OpenError unreadable-database",
    ]
    .join("|");
    assert_eq!(page.eval("document.title"), expected);
    page.assert_no_errors();
}

fn in_node(project: &Project, code: &[String], script: &str) {
    let [import] = code else { panic!("{code:?}") };
    let text = format!(
        "{import};\nopenPath('state.db').then(run => console.log(run.overview().headline));"
    );
    fs::write(project.path().join(script), text).unwrap();
    fs::copy(database(), project.path().join("state.db")).unwrap();
    assert_eq!(project.must(&[script]), format!("{HEADLINE}\n"));
}
