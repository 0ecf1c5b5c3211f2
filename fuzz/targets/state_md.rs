//! Fuzzes the parser of state files in form A, with the file alone and in a run folder with a program.
#![no_main]

mod run;

use libfuzzer_sys::fuzz_target;
use prosescope_core::decode::state_md;
use prosescope_core::render::state_md::from_state_file;

const PROGRAM: &[u8] = b"let a = session \"A\"\nloop until **ok** (max: 3):\n  let b = session \"B\"\nparallel:\n  c = session \"C\"\n  d = session \"D\"\n";

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let (file, _) = state_md::parse(&text);
    let printed = from_state_file(&file);
    let (again, _) = state_md::parse(&printed);
    // Parsing a rendered state file and rendering it again yields the same text.
    assert_eq!(from_state_file(&again), printed, "{text:?}");
    let mut whole = b"# Execution State\n".to_vec();
    whole.extend(bytes);
    run::open(&[
        ("state.md", &whole),
        ("program.prose", PROGRAM),
        ("bindings/a.md", b"A"),
        ("bindings/b__2.md", b"# b\n\nkind: let\nexecution_id: 2\n\n---\n\nB"),
    ]);
});
