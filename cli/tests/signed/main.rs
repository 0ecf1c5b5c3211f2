//! Tests of signed shared files: `ssh-keygen` verifies Prosescope's signatures, `check` verifies those of
//! `ssh-keygen`, and invalid signatures are rejected.

mod project;

use std::fs;
use std::path::Path;

use project::{Project, part, said_of};
use prosescope_share::manifest::MANIFEST;
use prosescope_share::page;
use prosescope_share::signed::{NAMESPACE, SIGNATURE};
use prosescope_test_support::needs;
use prosescope_test_support::run::{fed, said};

/// A page with only the placeholders of the viewer.
const VIEWER: &str = "<!doctype html>\n<meta charset=\"latin1\"><meta name=\"prosescope-served\"><title>Prosescope</title>\
    <div id=\"prosescope-summary\"></div><script type=\"text/plain\" id=\"prosescope-run\" data-bytes=\"0\"></script>";

const KINDS: [&str; 3] = ["ed25519", "ecdsa -b 256", "rsa -b 3072"];

#[test]
fn openssh_verifies_what_we_sign_and_we_verify_what_it_signs() {
    let Some(project) = Project::new() else {
        return;
    };
    for (n, kind) in KINDS.into_iter().enumerate() {
        let (name, ours) = (format!("key{n}"), format!("ours{n}.zip"));
        let public = project.key(&name, kind);
        let fingerprint = project.fingerprint(&name);
        project.signers(&format!("alice@example.com {public}"));
        let said_of = project.done(&format!("share r -o {ours} --sign {name}"));
        assert!(said_of.contains(&fingerprint), "{kind}: {said_of}");
        // OpenSSH accepts a signature that `share --sign` made.
        let mut parts = project.parts(&ours);
        let manifest = part(&parts, MANIFEST);
        fs::write(project.at("m"), &manifest).expect("written");
        fs::write(project.at("m.sig"), part(&parts, SIGNATURE)).expect("written");
        let verify = format!("-Y verify -f signers -I alice@example.com -n {NAMESPACE} -s m.sig");
        let out = fed(&mut project.command("ssh-keygen", &verify), &manifest);
        assert!(out.status.success(), "{kind}: {out:?}");
        // `check` accepts a signature that OpenSSH made.
        fs::remove_file(project.at("m.sig")).expect("removed");
        said(
            0,
            &mut project.command(
                "ssh-keygen",
                &format!("-q -Y sign -n {NAMESPACE} -f {name} m"),
            ),
        );
        let theirs = fs::read(project.at("m.sig")).expect("a signature");
        parts.retain(|part| part.0 != SIGNATURE);
        parts.push((SIGNATURE.to_owned(), theirs));
        project.write("theirs.zip", &parts);
        let page = page::write(VIEWER, "r", "", &fs::read(project.at(&ours)).expect("read"));
        fs::write(project.at("ours.html"), page.expect("a page")).expect("written");
        for zip in [ours.as_str(), "theirs.zip", "ours.html"] {
            let said = project.checked(0, &format!("{zip} --allowed-signers signers"));
            let whose = format!("by alice@example.com (key {fingerprint}).");
            assert_eq!(
                said,
                [format!("note share-signed: Signed {whose}")],
                "{kind}"
            );
            project.says(
                0,
                zip,
                "note share-signed",
                "the owner of the key was not checked",
            );
            project.says(0, zip, "note share-signed", &fingerprint);
        }
    }
}

#[test]
fn a_signature_is_no_part_of_the_run() {
    let Some(project) = Project::new() else {
        return;
    };
    project.key("key", "ed25519");
    project.done("share r -o r.zip --sign key");
    project.done("convert r.zip --to filesystem --out again");
    let mut below = vec![project.at("again")];
    while let Some(path) = below.pop() {
        assert!(!path.ends_with(SIGNATURE), "{path:?}");
        let entries = fs::read_dir(&path).into_iter().flatten().flatten();
        below.extend(entries.map(|entry| entry.path()));
    }
    let printed = project.done("check r.zip");
    assert!(
        printed.contains("shared-copy") && !printed.contains("added"),
        "{printed}"
    );
    // The signature covers all runs in the file.
    project.done("init p.prose --id s --state sqlite");
    project.done("share r s -o both.zip --sign key");
    project.says(0, "both.zip/s", "note share-signed", "Signed");
    // The signature covers this copy only. A copy of the copy is not signed.
    project.done("share r.zip -o again.zip");
    assert!(project.checked(0, "again.zip").is_empty());
    let report = project.done("share r --report --sign no-such-key --json -o x.html");
    assert!(!report.contains("signed"), "{report}");
}

#[test]
fn what_does_not_fit_or_is_not_allowed_is_an_error() {
    let Some(project) = Project::new() else {
        return;
    };
    let public = project.key("key", "ed25519");
    let other = project.key("other", "ecdsa -b 256");
    project.signers(&format!("alice@example.com {public}"));
    project.done("share r -o r.zip --sign key");
    project.done("share r -o plain.zip");
    let flag = "--allowed-signers signers";
    let error = "error share-signature";

    assert!(project.checked(0, "plain.zip").is_empty());
    project.says(1, &format!("plain.zip {flag}"), error, "is not signed");
    project.says(1, &format!("r {flag}"), error, "is not signed");

    // The test changes a part, then the manifest, then the signature.
    let of_run = project.parts("r.zip");
    let program = of_run
        .iter()
        .find(|part| part.0.ends_with("p.prose") || part.0.ends_with("program.prose"));
    let program = program.expect("the program").0.clone();
    project.altered("r.zip", "part.zip", &program, |text| text.push(b'\n'));
    let said = project.checked(1, &format!("part.zip {flag}"));
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[0].starts_with("error share-changed") && said[0].contains("was changed"),
        "{said:?}"
    );
    assert!(said[1].contains("not the changed content"), "{said:?}");
    project.altered("r.zip", "manifest.zip", MANIFEST, |text| text.push(b'\n'));
    for args in ["manifest.zip".to_owned(), format!("manifest.zip {flag}")] {
        project.says(1, &args, error, "does not match the manifest");
    }
    for (n, garbage) in [&b""[..], b"garbage", &[0xff; 100], &vec![b'A'; 10 << 20]]
        .iter()
        .enumerate()
    {
        project.altered("r.zip", "garbage.zip", SIGNATURE, |sig| {
            *sig = garbage.to_vec();
        });
        let why = if n == 3 {
            "longer than any signature"
        } else {
            "not a readable SSH signature"
        };
        for args in ["garbage.zip".to_owned(), format!("garbage.zip {flag}")] {
            project.says(1, &args, error, why);
        }
    }

    // None of the next three files of signers allows this signature. They contain another key, another purpose, and
    // another time.
    project.signers(&format!("bob@example.com {other}"));
    project.says(
        1,
        &format!("r.zip {flag}"),
        error,
        "no allowed signer has this key",
    );
    project.signers(&format!("alice@example.com namespaces=\"git\" {public}"));
    project.says(
        1,
        &format!("r.zip {flag}"),
        error,
        "may not sign shared runs",
    );
    project.signers(&format!(
        "alice@example.com valid-before=\"20200101\" {public}"
    ));
    project.says(1, &format!("r.zip {flag}"), error, "any more");
    project.signers(&format!(
        "alice@example.com valid-after=\"20990101\" {public}"
    ));
    project.says(1, &format!("r.zip {flag}"), error, "not sign yet");
    project.signers(&format!("* cert-authority {public}\nnonsense\n"));
    let said = project.checked(1, &format!("r.zip {flag}"));
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[1].starts_with("warning share-signers") && said[1].contains("2 lines do not count"),
        "{said:?}"
    );

    // The signature covers the manifest, but was made for another purpose (`git`).
    fs::write(project.at("m"), part(&of_run, MANIFEST)).expect("written");
    said_of(&project, "-q -Y sign -n git -f key m");
    let git = fs::read(project.at("m.sig")).expect("a signature");
    project.altered("r.zip", "git.zip", SIGNATURE, |sig| *sig = git);
    project.signers(&format!("alice@example.com {public}"));
    project.says(1, &format!("git.zip {flag}"), error, "another purpose");

    // The file still contains the signature, but lacks the manifest that the signature covers.
    let mut parts = of_run;
    parts.retain(|part| part.0 != MANIFEST);
    project.write("bare.zip", &parts);
    project.says(1, "bare.zip", error, "there is no prosescope-share.json");

    let missing = project.ended(3, "check r.zip --allowed-signers nobody");
    assert!(
        missing.contains("cannot read the allowed signers nobody"),
        "{missing}"
    );
}

#[test]
fn no_altered_byte_of_a_signature_passes() {
    let Some(project) = Project::new() else {
        return;
    };
    let public = project.key("key", "ed25519");
    project.signers(&format!("alice@example.com {public}"));
    project.done("share r -o r.zip --sign key");
    let signature = part(&project.parts("r.zip"), SIGNATURE);
    let lines: Vec<&[u8]> = signature.split(|byte| *byte == b'\n').collect();
    // Each turn of the loop changes one letter in one line of the armored signature.
    for line in 1..lines.len() - 2 {
        let mut altered: Vec<Vec<u8>> = lines.iter().map(|line| line.to_vec()).collect();
        let byte = &mut altered[line][3];
        *byte = if *byte == b'B' { b'C' } else { b'B' };
        project.altered("r.zip", "altered.zip", SIGNATURE, |sig| {
            *sig = altered.join(&b'\n');
        });
        project.says(
            1,
            "altered.zip --allowed-signers signers",
            "error share-signature",
            "",
        );
    }
}

#[test]
fn a_file_that_is_no_key_that_signs_is_told_so() {
    let Some(project) = Project::new() else {
        return;
    };
    project.key("key", "ed25519");
    project.key("large", "ecdsa -b 521");
    // The secret number of this key begins with a zero byte, as in every second key of this length.
    project.key_that_is(false, "short", "ecdsa -b 521");
    said_of(&project, "-q -t rsa -b 2048 -m PEM -N not-short -f old");
    fs::write(project.at("text"), "no key").expect("written");
    fs::write(project.at("bytes"), [0xff, 0xfe]).expect("written");
    let cases = [
        (2, "key.pub", "public key", "--sign key"),
        (2, "old", "not in OpenSSH's format", "ssh-keygen -p -f old"),
        (
            2,
            "large",
            "unsupported type of key",
            "ssh-keygen -t ed25519",
        ),
        (
            2,
            "short",
            "cannot be read as an SSH key",
            "cannot read one in 256 ECDSA keys",
        ),
        (
            2,
            "text",
            "cannot be read as an SSH key",
            "ssh-keygen -t ed25519",
        ),
        (2, "bytes", "not an SSH key", ""),
        (3, "none", "cannot read the key", "id_ed25519"),
    ];
    for (code, key, why, next) in cases {
        let said = project.ended(code, &format!("share r -o x.zip --sign {key}"));
        assert!(said.contains(why) && said.contains(next), "{key}: {said}");
        assert!(!project.at("x.zip").exists());
    }
    for form in ["-o x.db", "-o x.txt", "--plain -o x"] {
        let said = project.ended(2, &format!("share r {form} --sign key"));
        assert!(said.contains("can contain a signature"), "{form}: {said}");
    }
}

#[test]
fn the_passphrase_of_a_key_is_asked_for_on_a_terminal() {
    let Some(project) = Project::new() else {
        return;
    };
    said_of(&project, "-q -t ed25519 -a 1 -N open-sesame -f locked");
    let said = project.ended(4, "share r -o r.zip --sign locked");
    assert!(said.contains("can be entered only in a terminal"), "{said}");
    if needs::script().is_none() {
        return;
    }
    let prose = Path::new(env!("CARGO_BIN_EXE_prosescope")).display();
    for (typed, code) in [("shut", 4), ("open-sesame", 0)] {
        let share = format!("{prose} share r -o r.zip --sign locked --yes");
        let mut script = project.command("script", "-q -e -E never -c");
        let out = fed(
            script.arg(share).arg("/dev/null"),
            format!("{typed}\n").as_bytes(),
        );
        let shown = String::from_utf8_lossy(&out.stdout);
        assert_eq!(out.status.code(), Some(code), "{shown}");
        assert!(
            shown.contains("Passphrase of locked") && !shown.contains(typed),
            "{shown}"
        );
        assert_eq!(project.at("r.zip").exists(), code == 0);
    }
    let fingerprint = project.fingerprint("locked");
    project.says(0, "r.zip", "note share-signed", &fingerprint);
}
