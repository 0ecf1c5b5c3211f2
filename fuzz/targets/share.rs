//! Fuzzes shared files: reads the input as a zip and as a page that contains a zip, and opens the unpacked files as a
//! run.
#![no_main]

mod run;

use std::io;

use libfuzzer_sys::fuzz_target;
use prosescope_share::archive::Archive;
use prosescope_share::manifest::{self, Sink};
use prosescope_share::{dense, page};

/// Maximum unpacked size of an input in bytes; lower than in a shell, so that more inputs are tried.
const MOST: u64 = 4 << 20;

#[derive(Default)]
struct Files(Vec<(String, Vec<u8>)>);

impl Sink for Files {
    fn begin(&mut self, path: &str, len: u64) -> io::Result<()> {
        assert!(len <= MOST);
        assert!(!path.starts_with('/') && !path.split('/').any(|name| matches!(name, "" | "." | "..")), "{path}");
        self.0.push((path.to_owned(), Vec::new()));
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.last_mut().expect("a file has begun").1.extend(bytes);
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fuzz_target!(|bytes: &[u8]| {
    if let Some(Ok(zip)) = page::packed(bytes) {
        opened(&zip);
    }
    opened(bytes);
    // Decoding the encoded bytes yields the same bytes.
    let text = dense::encode(bytes);
    assert_eq!(dense::decode(&text, bytes.len()).as_deref(), Some(bytes));
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = dense::decode(text, bytes.len());
    }
});

fn opened(zip: &[u8]) {
    let Ok(archive) = Archive::open(zip, zip.len() as u64, MOST) else {
        return;
    };
    let mut files = Files::default();
    let Ok(verified) = manifest::unpack(&archive, &mut files) else {
        return;
    };
    let _ = (verified.words(), verified.issue());
    let files: Vec<(&str, &[u8])> = files.0.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    run::open(&files);
}
