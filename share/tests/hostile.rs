//! Tests of malicious and damaged zips: each is refused with the reason or read correctly.

use std::collections::BTreeMap;
use std::io;

use prosescope_share::archive::{Archive, ArchiveError};
use prosescope_share::manifest::{
    self, FORMAT, MANIFEST, Manifest, ManifestCheck, PackedFile, Sink,
};
use prosescope_test_support::zip::{Entry, crc, zip, zip_listing, zip_of_a_million};
use sha2::{Digest, Sha256};

/// The limit on unpacked bytes in these tests.
const MOST: u64 = 1 << 30;

/// Collects unpacked files.
#[derive(Debug, Default, PartialEq)]
struct Files(BTreeMap<String, Vec<u8>>, String);

impl Sink for Files {
    fn begin(&mut self, path: &str, _len: u64) -> io::Result<()> {
        path.clone_into(&mut self.1);
        self.0.insert(path.to_owned(), Vec::new());
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.entry(self.1.clone()).or_default().extend(bytes);
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn unpacked(zip: &[u8], most: u64) -> Result<(Files, ManifestCheck), ArchiveError> {
    let archive = Archive::open(zip, zip.len() as u64, most)?;
    let mut files = Files::default();
    let verified = manifest::unpack(&archive, &mut files)?;
    Ok((files, verified))
}

#[track_caller]
fn refused(what: &str, zip: &[u8], why: &str) {
    match unpacked(zip, MOST) {
        Err(error) => {
            assert!(error.to_string().contains(why), "{what}: {error}");
            assert!(error.next_step().ends_with('.'), "{what}");
        }
        Ok((files, _)) => panic!("{what} was unpacked: {:?}", files.0.keys()),
    }
}

fn one(change: impl FnOnce(&mut Entry)) -> Vec<u8> {
    let mut entry = Entry::stored("state.db", b"some bytes");
    change(&mut entry);
    zip(&[entry])
}

/// Returns a zip with an entry of this name, in the directory as well as in the entry's header.
fn named(name: &[u8]) -> Vec<u8> {
    one(|entry| {
        entry.name = name.to_vec();
        entry.local = name.to_vec();
    })
}

#[test]
fn a_sound_zip_is_unpacked() {
    let sound = zip(&[
        Entry::stored("runs/b/state.md", b"two"),
        Entry::stored("runs/a/state.md", b"one"),
        Entry::stored("empty", b""),
    ]);
    let (files, verified) = unpacked(&sound, MOST).unwrap();
    let paths: Vec<&str> = files.0.keys().map(String::as_str).collect();
    assert_eq!(paths, ["empty", "runs/a/state.md", "runs/b/state.md"]);
    assert_eq!(files.0["runs/b/state.md"], b"two");
    assert_eq!(verified, ManifestCheck::NoManifest);
    assert_eq!(verified.issue().rule, "share-without-manifest");
}

#[test]
fn no_path_leads_out() {
    let deep = "a/".repeat(200) + "b";
    let long = "a".repeat(5000);
    let names: [&[u8]; 16] = [
        b"../state.db",
        b"/state.db",
        b"//host/state.db",
        b"a/../../state.db",
        b"a/..",
        b"..",
        b".",
        b"./state.db",
        b"a//state.db",
        b"..\\state.db",
        b"C:\\state.db",
        b"C:/state.db",
        b"state\0.db",
        b"\xff\xfe.db",
        deep.as_bytes(),
        long.as_bytes(),
    ];
    for name in names {
        let why = match name {
            b"\xff\xfe.db" => "the name is not valid UTF-8",
            name if name == deep.as_bytes() => "is nested too deeply",
            _ => "not a plain path",
        };
        refused(&String::from_utf8_lossy(name), &named(name), why);
    }
}

#[test]
fn what_is_no_file_is_refused() {
    for mode in [0o120_777, 0o020_666, 0o060_666, 0o010_644, 0o140_755] {
        let zip = one(|entry| entry.mode = mode);
        refused(&format!("mode {mode:o}"), &zip, "is a link or a device");
    }
    refused("encrypted", &one(|entry| entry.flags = 1), "is encrypted");
    for method in [1, 6, 9, 12, 14, 93, 95, 99, 1000] {
        let zip = one(|entry| entry.method = method);
        let why = "uses an unsupported compression method";
        refused(&format!("method {method}"), &zip, why);
    }
}

#[test]
fn no_two_files_claim_one_place_or_one_stretch_of_bytes() {
    let stored = |name| Entry::stored(name, b"some bytes");
    let twice = zip(&[stored("a"), stored("b"), stored("a")]);
    refused("a duplicate", &twice, "occurs twice");
    let both = zip(&[stored("a/b"), stored("a"), stored("a-")]);
    refused("a file and a folder", &both, "is a file and a folder");
    // The bytes of the first entry contain a second, complete entry.
    let inner = zip(&[Entry::stored("b", b"within")]);
    let outer = Entry::stored("a", &inner);
    let mut within = Entry::stored("b", b"within");
    within.at = Some(30 + 1);
    let shared = zip(&[outer, within]);
    refused("bytes of another", &shared, "overlaps another entry");
    let mut same = stored("b");
    same.at = Some(0);
    let same = zip(&[stored("a"), same]);
    refused(
        "the bytes of another",
        &same,
        "has different names in its header",
    );
}

#[test]
fn the_list_and_the_bytes_agree() {
    let name = |entry: &mut Entry| entry.local = b"other.db".to_vec();
    refused("a name", &one(name), "has different names in its header");
    let shorter = |entry: &mut Entry| entry.len = 20;
    refused("too short", &one(shorter), "is damaged");
    let longer = |entry: &mut Entry| entry.len = 3;
    refused("too long", &one(longer), "is damaged");
    refused("a checksum", &one(|entry| entry.crc ^= 1), "is damaged");
    let deflated = |entry: &mut Entry| entry.method = 8;
    refused("a stream", &one(deflated), "is damaged");
    let behind = |entry: &mut Entry| entry.at = Some(1 << 30);
    refused("behind the end", &one(behind), "state.db");
    let entries = [Entry::stored("a", b"1"), Entry::stored("b", b"2")];
    for listed in [0, 1, 3, 60_000] {
        let zip = zip_listing(&entries, listed);
        let error = unpacked(&zip, MOST).unwrap_err();
        assert!(
            matches!(error, ArchiveError::Malformed(_)),
            "{listed}: {error}"
        );
    }
}

#[test]
fn what_would_not_end_is_not_begun() {
    refused(
        "a million entries",
        &zip_of_a_million(),
        "at most 200000 are read",
    );
    let bomb = one(|entry| entry.len = 900 << 20);
    refused("a ratio", &bomb, "that ratio is not plausible for a run");
    let zip = zip(&[Entry::stored("a", &[0; 600]), Entry::stored("b", &[0; 600])]);
    let error = unpacked(&zip, 1000).unwrap_err().to_string();
    assert!(error.contains("unpacks to 1200 bytes"), "{error}");
    let many: Vec<Entry> = (0..60_000)
        .map(|n| Entry {
            len: 100_000,
            ..Entry::stored(&n.to_string(), b"")
        })
        .collect();
    let error = unpacked(&zip_listing(&many, 60_000), MOST).unwrap_err();
    assert!(matches!(error, ArchiveError::TooLarge(_)), "{error}");
}

/// Returns a zip with a manifest.
fn shared() -> (Vec<u8>, Manifest) {
    let parts = [
        ("state.db", b"some bytes of a run".as_slice()),
        ("x/y", b"z"),
    ];
    let part = |(path, bytes): &(&str, &[u8])| PackedFile {
        path: (*path).to_owned(),
        bytes: bytes.len() as u64,
        sha256: Sha256::digest(bytes)
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect(),
    };
    let manifest = Manifest {
        format: FORMAT.to_owned(),
        made_at: "2026-01-25T16:00:00Z".to_owned(),
        parts: parts.iter().map(part).collect(),
        ..Manifest::default()
    };
    let text = serde_json::to_vec(&manifest).unwrap();
    let mut entries: Vec<Entry> = parts.map(|(path, bytes)| Entry::stored(path, bytes)).into();
    entries.push(Entry::stored(MANIFEST, &text));
    (zip(&entries), manifest)
}

#[test]
fn what_was_shared_is_told_from_what_was_changed() {
    let (sound, manifest) = shared();
    let (files, verified) = unpacked(&sound, MOST).unwrap();
    assert_eq!(files.0.len(), 2, "the manifest is no part of the run");
    assert_eq!(
        verified.words(),
        "As shared on 2026-01-25 16:00 UTC, unchanged; nothing in it was replaced."
    );
    assert_eq!(verified.issue().rule, "shared-copy");
    let text = serde_json::to_vec(&manifest).unwrap();
    let changed = zip(&[
        Entry::stored("state.db", b"some bytes of a run!"),
        Entry::stored("more", b""),
        Entry::stored(MANIFEST, &text),
    ]);
    let (_, verified) = unpacked(&changed, MOST).unwrap();
    let what = ["state.db was changed", "x/y is missing", "more was added"];
    assert_eq!(differences(&verified), what);
    assert_eq!(verified.issue().rule, "share-changed");
    let unread = zip(&[Entry::stored(MANIFEST, b"{}")]);
    let (_, verified) = unpacked(&unread, MOST).unwrap();
    assert_eq!(differences(&verified).len(), 1, "{verified:?}");
    // With many differences, the last sentence counts the rest.
    let many: Vec<Entry> = (0..1000)
        .map(|n| Entry::stored(&n.to_string(), b""))
        .collect();
    let many = [many, vec![Entry::stored(MANIFEST, &text)]].concat();
    let (_, verified) = unpacked(&zip(&many), MOST).unwrap();
    assert_eq!(differences(&verified).len(), 21);
}

fn differences(verified: &ManifestCheck) -> &[String] {
    match verified {
        ManifestCheck::Changed(what) => what,
        _ => &[],
    }
}

/// A manifest of another format is neither "unchanged" nor "changed", even if its fields are those of this format. A
/// name in it cannot add a line to a message.
#[test]
fn an_unknown_format_cannot_be_checked() {
    let (_, manifest) = shared();
    let manifest = serde_json::to_value(&manifest).unwrap();
    for (format, shown) in [
        ("prosescope-share-9", "prosescope-share-9"),
        ("", ""),
        ("x\nnote: unchanged", "x note: unchanged"),
    ] {
        let mut other = manifest.clone();
        other["format"] = format.into();
        let alone = serde_json::json!({ "format": format, "files": 1 });
        for manifest in [other, alone] {
            let text = serde_json::to_vec(&manifest).unwrap();
            let zip = zip(&[
                Entry::stored("state.db", b"some bytes of a run"),
                Entry::stored("x/y", b"z"),
                Entry::stored(MANIFEST, &text),
            ]);
            let (_, verified) = unpacked(&zip, MOST).unwrap();
            assert!(verified.is_doubtful());
            assert_eq!(verified.issue().rule, "share-unchecked");
            assert_eq!(
                verified.words(),
                format!(
                    "The manifest's format “{shown}” is not known to this version: whether this copy was changed cannot be checked."
                )
            );
        }
    }
}

#[test]
fn a_copy_with_a_signature_and_fields_of_other_versions_is_opened_unchanged() {
    let (_, manifest) = shared();
    let mut manifest = serde_json::to_value(&manifest).unwrap();
    manifest["of_another_version"] = true.into();
    let text = serde_json::to_vec(&manifest).unwrap();
    let signed = zip(&[
        Entry::stored("state.db", b"some bytes of a run"),
        Entry::stored("x/y", b"z"),
        Entry::stored(MANIFEST, &text),
        Entry::stored("prosescope-share.json.sig", b"a signature"),
    ]);
    let (files, verified) = unpacked(&signed, MOST).unwrap();
    assert_eq!(files.0.len(), 2, "{files:?}");
    assert!(
        matches!(verified, ManifestCheck::Unchanged(_)),
        "{verified:?}"
    );
}

/// Checks that each altered byte is reported, except in fields without effect, such as a time or a version, and that a
/// truncated zip is refused.
#[test]
fn an_altered_byte_is_said_and_a_cut_is_refused() {
    let (sound, _) = shared();
    let (files, _) = unpacked(&sound, MOST).unwrap();
    for at in 0..sound.len() {
        for bit in [1, 0x80] {
            let mut altered = sound.clone();
            altered[at] ^= bit;
            match unpacked(&altered, MOST) {
                Ok((read, ManifestCheck::Unchanged(_))) => assert_eq!(read, files, "byte {at}"),
                Ok((_, ManifestCheck::Changed(what))) => assert!(!what.is_empty()),
                Ok((_, ManifestCheck::Unknown(format))) => assert_ne!(format, FORMAT),
                // The alteration hit the manifest's name in both places, so the zip no longer has a manifest.
                Ok((_, ManifestCheck::NoManifest)) => panic!("byte {at} took the manifest away"),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
        let cut = unpacked(&sound[..at], MOST);
        assert!(cut.is_err(), "{at} bytes of it were read: {cut:?}");
    }
}

#[test]
fn the_checksum_is_that_of_zips() {
    assert_eq!(crc(b"123456789"), 0xcbf4_3926);
}
