//! Builds DevTools keyboard events for a key that is given by its name, such as `Shift+Tab`.

use serde_json::{Value, json};

/// Returns the two events (down, up) of a key such as `Enter`, `j`, `?`, `Shift+Tab`, `Ctrl+O`.
pub(super) fn events(name: &str) -> [Value; 2] {
    let mut modifiers = 0;
    let mut key = name;
    // A lone "+" is a key, not a separator.
    while let Some((modifier, rest)) = key
        .split_once('+')
        .filter(|(m, r)| !m.is_empty() && !r.is_empty())
    {
        modifiers |= match modifier {
            "Alt" => 1,
            "Ctrl" => 2,
            "Meta" => 4,
            "Shift" => 8,
            other => panic!("no modifier {other} in {name}"),
        };
        key = rest;
    }
    let (code, number, text) = describe(key, name);
    let text = if modifiers & 0b0111 == 0 {
        text
    } else {
        String::new()
    };
    let kind = if text.is_empty() {
        "rawKeyDown"
    } else {
        "keyDown"
    };
    let event = |kind: &str, text: &str| {
        json!({
            "type": kind, "modifiers": modifiers, "key": key_value(key), "code": code,
            "windowsVirtualKeyCode": number, "text": text, "unmodifiedText": text,
        })
    };
    [event(kind, &text), event("keyUp", "")]
}

fn key_value(key: &str) -> &str {
    if key == "Space" { " " } else { key }
}

/// Returns a key's `code`, its virtual key number, and the text that it types.
fn describe(key: &str, name: &str) -> (String, u32, String) {
    let named = [
        ("Enter", 13, "\r"),
        ("Tab", 9, ""),
        ("Escape", 27, ""),
        ("Backspace", 8, ""),
        ("Space", 32, " "),
        ("PageUp", 33, ""),
        ("PageDown", 34, ""),
        ("End", 35, ""),
        ("Home", 36, ""),
        ("ArrowLeft", 37, ""),
        ("ArrowUp", 38, ""),
        ("ArrowRight", 39, ""),
        ("ArrowDown", 40, ""),
        ("Delete", 46, ""),
    ];
    if let Some((code, number, text)) = named.iter().find(|(n, ..)| *n == key) {
        return ((*code).to_owned(), *number, (*text).to_owned());
    }
    let mut chars = key.chars();
    let (Some(c), None) = (chars.next(), chars.next()) else {
        panic!("no key {name}")
    };
    let upper = c.to_ascii_uppercase();
    let code = match upper {
        'A'..='Z' => format!("Key{upper}"),
        '0'..='9' => format!("Digit{upper}"),
        _ => String::new(),
    };
    (
        code,
        if upper.is_ascii_alphanumeric() {
            u32::from(upper)
        } else {
            0
        },
        c.to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_what_a_keyboard_sends() {
        for (name, key, code, modifiers, text) in [
            ("j", "j", "KeyJ", 0, "j"),
            ("?", "?", "", 0, "?"),
            ("+", "+", "", 0, "+"),
            ("Enter", "Enter", "Enter", 0, "\r"),
            ("Shift+Tab", "Tab", "Tab", 8, ""),
            ("Ctrl+o", "o", "KeyO", 2, ""),
            ("Space", " ", "Space", 0, " "),
        ] {
            let [down, up] = events(name);
            assert_eq!(
                (
                    &down["key"],
                    &down["code"],
                    &down["modifiers"],
                    &down["text"]
                ),
                (&json!(key), &json!(code), &json!(modifiers), &json!(text)),
                "{name}"
            );
            assert_eq!(up["type"], "keyUp");
        }
    }
}
