//! Compares the size of the viewer with the size of sql.js, uncompressed and as a server would compress both.

use std::path::PathBuf;
use std::process::Command;

use prosescope_tests::needs;

use crate::Effort;
use crate::table::Table;

/// A script for Node that prints the size of files in bytes: uncompressed, with gzip, and with Brotli, each at its
/// highest level.
const SCRIPT: &str = "const { readFileSync } = require('fs'), { gzipSync, brotliCompressSync, constants: c } = require('zlib');
    const bytes = Buffer.concat(process.argv.slice(1).map(file => readFileSync(file)));
    const params = { [c.BROTLI_PARAM_QUALITY]: 11, [c.BROTLI_PARAM_LGWIN]: 24, [c.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    console.log(bytes.length, gzipSync(bytes, { level: 9 }).length, brotliCompressSync(bytes, { params }).length);";

pub(crate) fn measure(_: Effort) {
    let (Some(viewer), Some(node)) = (needs::viewer(), needs::node()) else {
        return;
    };
    let built = |name: &str| viewer.with_file_name(name);
    let dist = needs::root().join("tests/js/node_modules/sql.js/dist");
    let sqljs = [dist.join("sql-wasm.wasm"), dist.join("sql-wasm.js")];
    let ours = [built("viewer_bg.wasm"), built("viewer.js")];
    let mut table = Table::new(&["", "bytes", "gzip", "brotli"]);
    let mut row = |name: &str, files: &[PathBuf]| {
        let out = Command::new(&node)
            .args(["-e", SCRIPT])
            .args(files)
            .output()
            .expect("node starts");
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        let cells = said.split_whitespace().map(str::to_owned);
        table.row([name.to_owned()].into_iter().chain(cells).collect());
    };
    row("sql.js: wasm and glue", &sqljs);
    row("viewer: wasm and glue", &ours);
    row("viewer: wasm alone", &ours[..1]);
    row(
        "viewer: the page, everything in it",
        std::slice::from_ref(&viewer),
    );
    table.print();
}
