use super::*;

fn head(file: &str, stem: &str) -> BindingHeader {
    parse(file.as_bytes(), true, stem).expect("a whole file is enough")
}

/// Checks a file's header, described in a few words such as `name result, kind let`, and the file's value.
fn check(file: &str, said: &str, value: &str) {
    let head = head(file, "result__43");
    let mut words: Vec<String> = Vec::new();
    words.extend(head.name.map(|n| format!("name {n}")));
    words.extend(head.kind.map(|n| format!("kind {n}")));
    words.extend(head.execution_id.map(|n| format!("frame {n}")));
    words.extend(head.says_root.then(|| "root".to_owned()));
    words.extend(head.parent_execution_id.map(|n| format!("parent {n}")));
    words.extend(head.source.map(|n| format!("source {n:?}")));
    words.extend(head.extra.iter().map(|(k, v)| format!("{k} {v:?}")));
    words.extend(head.issues.iter().map(|i| i.rule.clone()));
    assert_eq!(
        (words.join(", ").as_str(), &file[head.start as usize..]),
        (said, value),
        "{file}"
    );
}

#[test]
fn reads_headers() {
    for (file, said, value) in [
        // These are the examples of filesystem.md, and a header with the errata's `parent_execution_id`.
        (
            "# result\n\nkind: let\nexecution_id: 43\nparent_execution_id: 42\n\nsource:\n```prose\nlet x\n  prompt: \"---\"\n```\n\n---\n\nvalue\n---\nmore\n",
            "name result, kind let, frame 43, parent 42, source \"let x\\n  prompt: \\\"---\\\"\"",
            "value\n---\nmore\n",
        ),
        // These are examples of docs/reference/formats.md.
        (
            "# verify\n\nkind: let\n\nsource:\n```prose\nx\n```\n\nexit_code: 0\nstderr: (empty)\n\n---\n\nv",
            "name verify, kind let, source \"x\", exit_code \"0\", stderr \"(empty)\"",
            "v",
        ),
        (
            "# a\n\nkind: let (reassigned in if-branch)\nagent: x\nsource: caller\n\n---\n\n# heading\n",
            "name a, kind let (reassigned in if-branch), source \"caller\", agent \"x\"",
            "# heading\n",
        ),
        (
            "\u{feff}# result\\_\\_43\r\n\r\nkind: let\r\n\r\n---\r\n\r\nvalue\r\n",
            "name result__43, kind let",
            "value\r\n",
        ),
        (
            "# a\nkind: const\nexecution_id: (root)\n---\nvalue",
            "name a, kind const, root",
            "value",
        ),
        (
            "---\nkind: let\nname: a\n---\nvalue",
            "kind let, name \"a\"",
            "value",
        ),
        (
            "# a\n\n**kind:** let\nsource: let a = session\n  prompt: \"x\"\n\n---\n\nv",
            "name a, kind let, source \"let a = session\\n  prompt: \\\"x\\\"\"",
            "v",
        ),
        ("# result\n\n---\n\nvalue", "name result", "value"),
        (
            "# topic\n\nbinding: input\nsource: caller\n\n---\n\nv",
            "name topic, kind input, source \"caller\"",
            "v",
        ),
        (
            "# a\nkind: let\nbinding: loose\n---\nv",
            "name a, kind let, binding \"loose\"",
            "v",
        ),
        (
            "# a\nkind: let\nexecution_id: forty\n---\nv",
            "name a, kind let, execution_id \"forty\", unreadable-frame",
            "v",
        ),
        (
            "# a\nkind: let\n---\n\n\nvalue",
            "name a, kind let",
            "\nvalue",
        ),
        ("# a\nkind: let\n", "name a, kind let", ""),
        // Headers without an end.
        (
            "# a\nkind: let\n\nThe value.\n---\nmore",
            "name a, kind let, binding-header-unended",
            "The value.\n---\nmore",
        ),
        (
            "# a\nkind: let\nsource:\n```prose\nlet a\n---\nv",
            "name a, kind let, source \"let a\", unclosed-fence",
            "v",
        ),
    ] {
        check(file, said, value);
    }
}

#[test]
fn files_without_a_header_are_values() {
    for file in [
        "# Stage Complete\n\n## Summary\n\nText\n\n---\n\nmore\n",
        "# Report\n\n---\n\nText",
        "# Report\n\nAuthor: me\n\n---\n\nText",
        "plain",
        "```\ncode\n```\n",
        "---\ntitle: x\n---\ntext",
        "- kind: let\n---\nx",
        "",
        "\u{feff}",
    ] {
        let head = head(file, "anon_001");
        assert_eq!((head.start, head.has_header), (0, false), "{file}");
    }
    let envelope = head(
        "{\n\t\"data\": \"ENC[AES256_GCM,data:x]\",\n\t\"sops\": {}\n}\n",
        "a",
    );
    assert!(envelope.encrypted && !envelope.has_header);
    assert!(!head("{\"a\": 1}", "a").encrypted);
}

#[test]
fn reads_no_more_than_it_needs() {
    let file = format!(
        "# a\nkind: let\nsource:\n```prose\n{}```\n---\nvalue",
        "line\n".repeat(10_000)
    );
    assert_eq!(parse(&file.as_bytes()[..100], false, "a"), None);
    let Some(head) = parse(file.as_bytes(), false, "a") else {
        panic!()
    };
    assert_eq!(&file[head.start as usize..], "value");
    // A file without a header is recognised from its first part alone.
    let long = format!("no header {}", "x".repeat(100_000));
    parse(&long.as_bytes()[..FIRST_PART], false, "a");
    // If the header never ends, the value is empty.
    let Some(head) = parse(b"# a\nkind: let\nsource:\n```\nx", true, "a") else {
        panic!()
    };
    assert_eq!((head.has_header, head.issues.len()), (true, 1));
    assert_eq!(head.source.as_deref(), Some("x"));
}

#[test]
fn no_bytes_are_too_odd() {
    for bytes in [
        &b"# \xff\nkind: \xfe\n---\n\xff"[..],
        b"\0\0\0",
        b"# a\nkind: let\n---",
        b"---",
        b"---\n---\n",
        b"```",
        b"#",
    ] {
        for whole in [true, false] {
            if let Some(head) = parse(bytes, whole, "a") {
                assert!(head.start as usize <= bytes.len());
            }
        }
    }
}
