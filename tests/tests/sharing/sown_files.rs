//! Plants secrets in a run's folder: in each kind of file, and in names.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::leaks::escaped;
use crate::sown::Sower;

/// Files that get several secrets: the path of each, and the prefix of the line of each secret.
const TEXTS: [(&str, &str); 13] = [
    ("state.md", "> "),
    ("state.md", ""),
    ("program.prose", "# "),
    ("agents/writer/memory.md", "- "),
    ("agents/writer/writer-001.md", ""),
    ("attachments/notes.txt", ""),
    ("attachments/table.csv", "1,"),
    ("attachments/noext", ""),
    ("imports/lib/state.md", "> "),
    ("x_history/draft/1.md", ""),
    ("strange.yaml", "said: "),
    ("deep/er/strange.log", "12:00:00 "),
    (".hidden", ""),
];

/// Files that get one secret each: the path, the text before and after the secret, and the name of the place. A number
/// replaces `{n}`.
const ONE_EACH: [(&str, &str, &str, &str); 6] = [
    (
        "bindings/value{n}.md",
        "# value{n}\n\nkind: let\n\nsource:\n```prose\nlet value{n} = session \"x\"\n```\n\n---\n\n",
        "\n",
        "a value",
    ),
    (
        "bindings/head{n}.md",
        "# head{n}\n\nkind: let\n\nsource:\n```prose\n",
        "\n```\n\n---\n\nx\n",
        "a head",
    ),
    (
        "bindings/draft{n}__3.md",
        "# draft{n}\n\nkind: let\nexecution_id: 3\n\n---\n\n",
        "\n",
        "a value in a frame",
    ),
    (
        "attachments/a{n}.html",
        "<!doctype html>\n<p>",
        "</p>\n",
        "an attachment of HTML",
    ),
    ("attachments/a{n}.bin", "", "\0", "an attachment with a NUL"),
    ("strange{n}", "", "", "a file of no kind"),
];

/// A function that encodes a text.
type Written = fn(&str) -> String;

/// Places in JSON, each with a function that builds the JSON around a text.
const JSONS: [(&str, Written); 4] = [
    ("value", |text| {
        json!({"note": ["x", {"y": text}]}).to_string()
    }),
    ("key", |text| json!({text: 1}).to_string()),
    ("escapes", |text| {
        format!("{{\"note\": \"{}\"}}", escaped(text))
    }),
    ("escaped key", |text| {
        format!("[{{\"{}\": null}}]", escaped(text))
    }),
];

/// Plants secrets in all files of a run's folder.
pub(crate) fn sow(run: &Path, sower: &mut Sower) {
    let add = |path: &str, text: &str| {
        let path = run.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, before + text).expect("written");
    };
    for (path, before) in TEXTS {
        for text in sower.texts(&format!("{path} behind {before:?}")) {
            add(path, &format!("\n{before}{text}\n"));
        }
    }
    for (path, before, behind, place) in ONE_EACH {
        for (n, text) in sower.texts(place).into_iter().enumerate() {
            let numbered = |text: &str| text.replace("{n}", &n.to_string());
            add(&numbered(path), &(numbered(before) + &text + behind));
        }
    }
    for (what, put) in JSONS {
        for file in [
            "gates/{n}.json",
            "attachments/{n}.json",
            "run.json",
            "receipts.jsonl",
            "attachments/lines.jsonl",
        ] {
            let place = format!("{file}, {what}");
            for (n, text) in sower.texts(&place).into_iter().enumerate() {
                let n = format!("{}{n}", what.replace(' ', ""));
                match file {
                    "run.json" => add(&format!("imports/{n}/run.json"), &put(&text)),
                    file if file.ends_with('l') => add(file, &(put(&text) + "\n")),
                    file => add(&file.replace("{n}", &n), &put(&text)),
                }
            }
        }
    }
    gates(&add, sower);
    log(&add, sower);
    // The text becomes the name of a file, so it must be one line and not a path.
    let named = |text: &str| text.len() < 200 && !text.contains(['/', '\n', '\0', '\\']);
    for text in sower.fitting("a file's name", named) {
        add(&format!("attachments/{text}.txt"), "x\n");
    }
    for text in sower.fitting("a folder's name", named) {
        add(&format!("deep/{text}/x.txt"), "x\n");
    }
    // A file that is not text is left out of the copy.
    for (n, text) in sower.texts("UTF-16 with a mark").into_iter().enumerate() {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        let wide: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
        fs::write(run.join(format!("attachments/wide{n}.txt")), wide).expect("written");
    }
    for (n, text) in sower.texts("UTF-16 without a mark").into_iter().enumerate() {
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        fs::write(run.join(format!("attachments/bare{n}.txt")), wide).expect("written");
    }
    for (n, text) in sower.texts("text behind bytes").into_iter().enumerate() {
        let bytes = [b"\x89PNG\r\n\x1a\n\0\xff", text.as_bytes()].concat();
        fs::write(run.join(format!("attachments/image{n}.png")), bytes).expect("written");
    }
}

/// Plants secrets in every field of a gate.
fn gates(add: &dyn Fn(&str, &str), sower: &mut Sower) {
    let fields = [
        "prompt",
        "on_reject",
        "timeout",
        "resolution_comment",
        "resolved_by",
        "status",
        "x_unknown",
    ];
    for field in fields {
        for (n, text) in sower
            .texts(&format!("a gate's {field}"))
            .into_iter()
            .enumerate()
        {
            let mut gate = json!({"id": format!("g{n}"), "run_id": "r", "status": "approved", "allow": ["user"]});
            gate[field] = Value::from(text);
            add(&format!("gates/{field}{n}.json"), &gate.to_string());
        }
    }
    for (n, text) in sower.texts("a gate's allow").into_iter().enumerate() {
        let gate =
            json!({"id": format!("a{n}"), "run_id": "r", "status": "approved", "allow": [text]});
        add(&format!("gates/allow{n}.json"), &gate.to_string());
    }
}

/// Plants secrets in every field of a row of the audit log.
fn log(add: &dyn Fn(&str, &str), sower: &mut Sower) {
    let fields = [
        "gate_id",
        "event_type",
        "principal",
        "comment",
        "timestamp",
        "x_unknown",
        "metadata",
        "metadata, key",
        "metadata, text",
        "a key",
        "no JSON",
    ];
    let mut id = 100;
    for field in fields {
        // A row that is not JSON must be one line.
        let fits = |text: &str| field != "no JSON" || !text.contains('\n');
        for text in sower.fitting(&format!("the log's {field}"), fits) {
            id += 1;
            let mut row = json!({
                "id": id, "gate_id": "publish", "run_id": "r", "event_type": "viewed", "principal": "user",
                "comment": null, "timestamp": "2026-03-01T10:00:00Z", "metadata": {},
            });
            match field {
                "metadata" => row["metadata"] = json!({"note": text}),
                "metadata, key" => row["metadata"] = json!({text: 1}),
                "metadata, text" => row["metadata"] = json!({"note": text}).to_string().into(),
                "a key" => row[text] = 1.into(),
                "no JSON" => {
                    add("gates/audit.jsonl", &format!("{{{text}\n"));
                    continue;
                }
                field => row[field] = text.into(),
            }
            add("gates/audit.jsonl", &format!("{row}\n"));
        }
    }
}
