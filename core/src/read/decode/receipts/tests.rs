use super::*;

const THREE: &str = concat!(
    r#"{"content_hash":"sha256:1","prev":null,"kind":"control","detail":{"event":"run_start"},"n":1}"#,
    "\n",
    r#"{"content_hash":"sha256:2","prev":"sha256:1","kind":"session","statement_id":"s001","usage":{"input_tokens":5}}"#,
    "\n",
    r#"{"content_hash":"sha256:3","prev":"sha256:2","kind":"control","detail":{"event":"run_end","outcome":"failed"}}"#,
    "\n"
);

fn messages(issues: &[Issue]) -> Vec<(&str, &str, Option<u32>)> {
    issues
        .iter()
        .map(|i| (i.rule.as_str(), i.message.as_str(), i.location.line))
        .collect()
}

/// Returns a page, after checking that it does not depend on the size of the log's pieces.
fn rows(columns: &[ColumnInfo], from: u64, len: u32) -> Vec<Vec<ShownCell>> {
    let of_pieces = |size: usize| {
        let mut window = ReceiptsPage::new(columns, from, len, 8);
        for piece in THREE.trim_end().as_bytes().chunks(size) {
            if !window.take(piece) {
                break;
            }
        }
        window.rows()
    };
    let whole = of_pieces(THREE.len());
    for size in [1, 2, 7, 100, 101, 102] {
        assert_eq!(of_pieces(size), whole, "pieces of {size}");
    }
    whole
}

#[test]
fn a_window_asks_for_no_more_than_it_shows() {
    let (receipts, _) = read(THREE);
    let first = THREE.find('\n').unwrap() + 1;
    let mut window = ReceiptsPage::new(&receipts.columns, 0, 1, 8);
    assert!(window.take(&THREE.as_bytes()[..first - 1]));
    assert!(!window.take(b"\n"));
    assert_eq!(window.rows().len(), 1);
}

#[test]
fn receipts_have_a_hundred_columns_at_most() {
    let keys: String = (0..300).map(|n| format!("\"k{n}\":{n},")).collect();
    let (receipts, _) = read(&format!("{{{keys}\"v\":1}}\n"));
    assert_eq!(receipts.columns.len(), MOST_COLUMNS);
}

#[test]
fn receipts_are_a_table_and_end_a_run() {
    let (receipts, issues) = read(THREE);
    assert!(issues.is_empty(), "{issues:?}");
    assert_eq!(
        (
            receipts.count,
            receipts.status.clone(),
            receipts.head.as_deref()
        ),
        (3, Some(RunStatus::Failed), Some("sha256:3"))
    );
    let names: Vec<_> = receipts
        .columns
        .iter()
        .map(|c| (c.name.as_str(), c.known))
        .collect();
    assert_eq!(
        names,
        [
            ("statement_id", true),
            ("kind", true),
            ("detail", true),
            ("usage", true),
            ("content_hash", true),
            ("prev", true),
            ("n", false)
        ]
    );
    let page = rows(&receipts.columns, 1, 1);
    assert_eq!(page.len(), 1);
    let cells: Vec<_> = page[0]
        .iter()
        .map(|c| (c.stored.as_str(), c.text.as_str(), c.cut))
        .collect();
    assert_eq!(cells[0], ("text", "s001", false));
    assert_eq!(cells[2], ("null", "", false));
    assert_eq!((cells[3].1, cells[3].2), ("{\"input_", true));
    assert_eq!(rows(&receipts.columns, 3, 5).len(), 0);
}

#[test]
fn only_what_can_be_verified_is_said() {
    let cut: String = THREE
        .lines()
        .filter(|l| !l.contains("s001"))
        .map(|l| format!("{l}\n"))
        .collect();
    let (receipts, issues) = read(&cut);
    assert_eq!(
        messages(&issues),
        [(
            "receipt-chain",
            "a receipt names sha256:2 as the previous receipt, but the previous receipt is sha256:1",
            Some(2)
        )]
    );
    let issue = anchored(&receipts, Some(3), Some("sha256:3")).unwrap();
    assert_eq!(
        issue.message,
        "run.json counts 3 receipts, but receipts.jsonl contains 2"
    );
    assert_eq!(anchored(&receipts, Some(2), Some("sha256:3")), None);
    assert_eq!(anchored(&receipts, None, None), None);
    let issue = anchored(&receipts, None, Some("sha256:0123456789abcdef")).unwrap();
    assert_eq!(
        issue.message,
        "run.json names sha256:0123456789ab… as the last receipt, but receipts.jsonl ends with sha256:3"
    );
}

/// The hashes come from another program: SHA-256 of Python's `json.dumps` with `sort_keys=True` and `separators=(",",
/// ":")`. The hashes of s003 were made with `ensure_ascii=False`.
#[test]
fn a_receipt_whose_content_was_altered_is_named_by_its_statement() {
    let sealed = concat!(
        r#"{"content_hash":"sha256:f871a5de2181152ede0e13fd54866b56c0f17588f93fdd03b1a150490543c94b","prev":null,"statement_id":"s001","usage":{"in":900,"out":40}}"#,
        "\n",
        r#"{"content_hash": "sha256:10becb9ac2d11fde1f0bec05c04415e1514e628b4d26e5f92aeade4e559cf765", "prev": "sha256:f871a5de2181152ede0e13fd54866b56c0f17588f93fdd03b1a150490543c94b", "statement_id": "s002", "who": "caf\u00e9 \u2615 \ud83d\ude00", "list": [1, {"b": 2, "a": []}]}"#,
        "\n",
        r#"{"content_hash":"sha256:21bb7d555585e02749eee98af215c6b12ec900280a01d92f0fa9c3f265fa6c87","prev":"sha256:10becb9ac2d11fde1f0bec05c04415e1514e628b4d26e5f92aeade4e559cf765","statement_id":"s003","cost":1.50,"who":"café ","empty":{}}"#,
        "\n",
    );
    let found = |log: &str| {
        let (_, issues) = read(log);
        let found = issues
            .iter()
            .filter(|issue| issue.rule == "receipt-altered");
        found
            .map(|issue| (issue.message.clone(), issue.location.line))
            .collect::<Vec<_>>()
    };
    assert_eq!(found(sealed), []);
    for (from, to, statement, line) in [
        ("\"in\":900", "\"in\":901", "s001", 1),
        ("caf\\u00e9", "cafe", "s002", 2),
        ("café", "cafe", "s003", 3),
        ("1.50", "1.5", "s003", 3),
    ] {
        assert!(sealed.contains(from), "{from}");
        let changed = sealed.replacen(from, to, 1);
        let said = found(&changed);
        assert_eq!(said.len(), 1, "{from}: {said:?}");
        assert!(said[0].0.contains(statement), "{said:?}");
        assert_eq!(said[0].1, Some(line));
    }
}

#[test]
fn a_torn_last_receipt_is_no_sign_of_a_change() {
    let cut = THREE.len() - 30;
    let (receipts, issues) = read(&THREE[..cut]);
    assert!(receipts.torn);
    let rules: Vec<&str> = issues.iter().map(|issue| issue.rule.as_str()).collect();
    assert_eq!(rules, ["malformed-json"]);
    assert_eq!(anchored(&receipts, Some(3), Some("sha256:3")), None);
    assert!(anchored(&receipts, Some(4), Some("sha256:4")).is_some());
}

#[test]
fn a_torn_end_and_nested_bombs_hide_nothing_else() {
    let text = format!(
        "{THREE}[1]\n{}\n{{\"content_hash\":\"sha2",
        "[".repeat(100_000)
    );
    let (receipts, issues) = read(&text);
    assert_eq!(receipts.count, 3);
    let found = messages(&issues);
    assert_eq!(found.len(), 3);
    assert_eq!((found[0].0, found[0].2), ("malformed-json", Some(4)));
    assert!(
        found[2].1.starts_with("the last line is cut off"),
        "{}",
        found[2].1
    );
    assert_eq!(read("").0, Receipts::default());
}
