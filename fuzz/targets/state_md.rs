//! Fuzzes the parser of state files in form A, with the file alone and in a run folder with a program.
#![no_main]

mod run;

use libfuzzer_sys::fuzz_target;
use prosescope_core::read::decode::state_md;
use prosescope_core::model::StateFile;
use prosescope_core::record::render::state_md::from_state_file;

const PROGRAM: &[u8] = b"let a = session \"A\"\nloop until **ok** (max: 3):\n  let b = session \"B\"\nparallel:\n  c = session \"C\"\n  d = session \"D\"\n";

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let (file, _) = state_md::parse(&text);
    let (again, _) = state_md::parse(&from_state_file(&file));
    // When a file is printed, none of its texts becomes another line or row.
    let rows = |file: &StateFile| {
        let index = [file.bindings.len(), file.agents.len(), file.call_stack.len()];
        let constructs = [file.parallels.len(), file.loops.len()];
        [&[file.trace.len()], &index[..], &constructs[..]].concat()
    };
    let (was, is) = (rows(&file), rows(&again));
    assert!(was.iter().zip(&is).all(|(was, is)| is <= was), "{text:?}");
    assert!(again.extra.is_empty(), "{text:?}");
    let mut whole = b"# Execution State\n".to_vec();
    whole.extend(bytes);
    run::open(&[
        ("state.md", &whole),
        ("program.prose", PROGRAM),
        ("bindings/a.md", b"A"),
        ("bindings/b__2.md", b"# b\n\nkind: let\nexecution_id: 2\n\n---\n\nB"),
    ]);
});
