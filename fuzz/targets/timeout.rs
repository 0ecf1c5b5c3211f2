//! Fuzzes timeouts: a valid timeout keeps its text and is longer than zero; an invalid timeout yields an error
//! message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prosescope_core::model::timeout::Timeout;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    match Timeout::parse(&text) {
        Ok(timeout) => {
            assert!(timeout.seconds() > 0, "{text:?}");
            assert_eq!(timeout.as_str(), text);
            let _ = timeout.deadline(1_769_349_600_000);
            let _ = timeout.deadline(i64::MAX);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
