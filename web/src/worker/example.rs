//! Contains the example runs of the viewer, as bytes in the wasm file.

use crate::bytes::WebSource;

/// Includes a file of the examples, by its path in the folder `examples/.prose`.
macro_rules! example {
    ($path:literal) => {
        (
            concat!(".prose/", $path),
            include_bytes!(concat!("../../../examples/.prose/", $path)),
        )
    };
}

/// The example runs: one that finished, one that failed, one that waits.
const EXAMPLE: &[(&str, &[u8])] = &[
    example!("agents.db"),
    example!("runs/20260112-091407-k3v8qd/program.prose"),
    example!("runs/20260112-091407-k3v8qd/state.db"),
    example!("runs/20260118-201530-z4t9wa/program.prose"),
    example!("runs/20260118-201530-z4t9wa/state.db"),
    example!("runs/20260125-125506-p7r2mx/program.prose"),
    example!("runs/20260125-125506-p7r2mx/state.db"),
];

/// Returns a source with the example runs.
pub(super) fn source() -> WebSource {
    let files = EXAMPLE.iter();
    let files = files.map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec()));
    WebSource::of_bytes("the example".to_owned(), files.collect())
}
