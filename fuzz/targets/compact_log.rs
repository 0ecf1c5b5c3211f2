//! Fuzzes the parser of the compact log (form B of state.md), with the log alone and in a run folder with a program.
#![no_main]

mod run;

use libfuzzer_sys::fuzz_target;
use prosescope_core::read::decode::compact_log;

const PROGRAM: &[u8] = b"let plan = session \"Plan\"\nparallel:\n  a = session \"A\"\n  b = session \"B\"\nloop until **ok** (max: 5):\n  block implement(task):\n    session \"Impl\"\n";

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let _ = compact_log::parse(&text);
    let mut whole = b"# run:20260213-113205-0fbf7c a.prose\n".to_vec();
    whole.extend(bytes);
    run::open(&[
        ("state.md", &whole),
        ("program.prose", PROGRAM),
        ("bindings/plan.md", b"P"),
    ]);
});
