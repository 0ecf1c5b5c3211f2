//! Tests that the core does no I/O: a WebAssembly module of the core alone has no imports.

use std::fs;

use base64::Engine as _;
use prosescope_tests::browser::Page;
use prosescope_tests::needs;
use serde_json::{Value, json};
use wasmparser::{Parser, Payload};

#[test]
fn a_wasm_of_the_core_alone_has_no_imports() {
    let Some(wasm) = needs::purity_wasm() else {
        return;
    };
    let bytes = fs::read(wasm).unwrap();
    let imports = imports(&bytes);
    assert_eq!(
        imports,
        [] as [String; 0],
        "something in the core reaches outside"
    );
}

/// Checks that the module of the core works in a browser that gives it no imports: it decodes a database, folds it,
/// builds its views and renders it.
#[test]
fn a_wasm_of_the_core_alone_reads_a_run_without_any_import() {
    let (Some(wasm), Some(chromium)) = (needs::purity_wasm(), needs::chromium()) else {
        return;
    };
    let database = needs::root().join("examples/.prose/runs/20260118-201530-z4t9wa/state.db");
    let base64 = |path| base64::engine::general_purpose::STANDARD.encode(fs::read(path).unwrap());
    let mut page = Page::open(&chromium, "about:blank");
    let answer = page.eval(&format!(
        "(async () => {{
           const bytes = async text => new Uint8Array(await (await fetch('data:;base64,' + text)).arrayBuffer());
           const {{ instance }} = await WebAssembly.instantiate(await bytes({}), {{}});
           const core = instance.exports, database = await bytes({});
           const at = core.room(database.length);
           new Uint8Array(core.memory.buffer, at, database.length).set(database);
           const length = core.read(at, database.length);
           return new TextDecoder().decode(new Uint8Array(core.memory.buffer, core.answer(), length));
         }})()",
        json!(base64(wasm)),
        json!(base64(database))
    ));
    let answer = answer.as_str().unwrap();
    let overview = answer.lines().next().unwrap();
    let overview: Value =
        serde_json::from_str(overview).unwrap_or_else(|e| panic!("{e}: {overview}"));
    assert_eq!(overview["status"], "failed", "{overview:#}");
}

fn imports(wasm: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        if let Payload::ImportSection(section) = payload.unwrap() {
            for import in section.into_imports() {
                let import = import.unwrap();
                names.push(format!("{}.{}", import.module, import.name));
            }
        }
    }
    names
}
