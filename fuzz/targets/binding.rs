//! Fuzzes the parser of binding files, with each input whole and cut in half.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prosescope_core::read::decode::binding_md;

fuzz_target!(|bytes: &[u8]| {
    let _ = binding_md::parse(bytes, true, "result__43");
    let _ = binding_md::parse(bytes, false, "result");
    let cut = bytes.len() / 2;
    let _ = binding_md::parse(&bytes[..cut], false, "");
});
