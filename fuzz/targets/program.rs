//! Fuzzes the parser of programs: no line may be lost, every statement must have a line of the program, and parents
//! must come before their children.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prosescope_core::program;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let listing = program::scan(&text);
    let body = text.strip_prefix('\u{feff}').unwrap_or(&text);
    // Lines end with a carriage return, as on old Macs, if there is no line feed.
    let lines = match body.contains('\n') {
        true => body.lines().count(),
        false => body.split_terminator('\r').count(),
    };
    assert_eq!(listing.lines.len(), lines, "{text:?}");
    for (at, statement) in listing.statements.iter().enumerate() {
        assert!(statement.line >= 1 && statement.line as usize <= lines, "{text:?}");
        if let Some(parent) = statement.parent {
            assert!((parent as usize) < at, "a parent comes before its children: {text:?}");
        }
    }
});
