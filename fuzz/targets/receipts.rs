//! Fuzzes the reader of receipts: of one node in a mounted run, and as the list of a reactor.
#![no_main]

mod run;

use libfuzzer_sys::fuzz_target;

const NODES: &[u8] =
    br#"{"nodes": ["draft", "gate"], "edges": [{"subscriber": "draft", "producer": "gate"}]}"#;
const GATE: &[u8] = b"{\"node\":\"gate\",\"status\":\"rendered\",\"prev\":null}\n";
const LOG: &[u8] =
    b"# run:r draft\n\n1\xe2\x86\x92 gate \xe2\x9c\x93 rendered\n---end 2026-01-04T10:20:00Z\n";

fuzz_target!(|bytes: &[u8]| {
    run::open(&[
        ("compiled-intent.json", NODES),
        ("receipts/draft.jsonl", bytes),
        ("receipts/gate.jsonl", GATE),
        ("workspace/draft/__error.md", b"# Error: draft\n\nlost\n"),
        ("world-model/draft/digest.md", b"Tides."),
        ("vm.log.md", LOG),
    ]);
    let lines = bytes.trim_ascii().split(|byte| *byte == b'\n');
    let list = lines.collect::<Vec<_>>().join(&b","[..]);
    run::open(&[
        ("receipts.json", &[b"[", &*list, b"]"].concat()),
        ("compile/topology.json", NODES),
    ]);
});
