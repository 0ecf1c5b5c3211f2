//! The core does no I/O: a WebAssembly module of the core alone has no imports at all.

use std::fs;

use prosescope_tests::needs;
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
