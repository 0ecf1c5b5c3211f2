//! Detects whether a file's content is an encrypted envelope: SOPS (JSON), age, or PGP (ASCII armor).

/// The first and last lines of each type of armored envelope.
const ARMORS: &[(&str, &str)] = &[
    (
        "-----BEGIN AGE ENCRYPTED FILE-----",
        "-----END AGE ENCRYPTED FILE-----",
    ),
    ("-----BEGIN PGP MESSAGE-----", "-----END PGP MESSAGE-----"),
];
/// The first bytes of an age file without armor.
const AGE: &[u8] = b"age-encryption.org/";
/// Texts that occur in SOPS files in JSON: a value and a key.
const SOPS: &[&[u8]] = &[b"\"ENC[", b"\"sops\""];

/// Whether a text begins with an encrypted envelope.
pub(crate) fn is_sealed(text: &str) -> bool {
    is_sealed_bytes(text.as_bytes())
}

/// Whether a file's first part begins with an encrypted envelope.
pub(crate) fn is_sealed_bytes(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let bytes = bytes.trim_ascii_start();
    let armored = ARMORS
        .iter()
        .any(|(first, _)| bytes.starts_with(first.as_bytes()));
    let has = |mark: &&[u8]| bytes.windows(mark.len()).any(|part| part == *mark);
    armored || bytes.starts_with(AGE) || bytes.starts_with(b"{") && SOPS.iter().any(has)
}

/// Returns the offset after an armored envelope at the start of a text. Text may follow the envelope, because a
/// writer may append plain lines to an encrypted log.
pub(crate) fn armor_end(text: &str) -> Option<usize> {
    let start = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    let (_, last) = ARMORS.iter().find(|(first, _)| start.starts_with(first))?;
    Some(text.find(last).map_or(text.len(), |at| at + last.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_is_known_by_its_beginning() {
        for text in [
            "{\n\t\"data\": \"ENC[AES256_GCM,data:x]\",\n\t\"sops\": {}\n}\n",
            "\u{feff}\n-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n-----END AGE ENCRYPTED FILE-----\n",
            "-----BEGIN PGP MESSAGE-----\n\nhQEMA\n",
            "age-encryption.org/v1\n-> X25519 abc\n",
        ] {
            assert!(is_sealed(text), "{text}");
        }
        for text in [
            "",
            "{}",
            "{\"a\": 1}",
            "# run:r p\n-----BEGIN PGP MESSAGE-----\n",
            "-----BEGIN CERTIFICATE-----\n",
        ] {
            assert!(!is_sealed(text), "{text}");
        }
    }

    #[test]
    fn what_follows_an_armored_envelope_is_found() {
        let text = "-----BEGIN PGP MESSAGE-----\nx\n-----END PGP MESSAGE-----\n3→ a ✓\n";
        assert_eq!(armor_end(text).map(|at| &text[at..]), Some("\n3→ a ✓\n"));
        assert_eq!(armor_end("-----BEGIN PGP MESSAGE-----\ncut"), Some(31));
        assert_eq!(armor_end("{}"), None);
    }
}
