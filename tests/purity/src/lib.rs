//! The core alone as a wasm: CI asserts that it has no imports.
