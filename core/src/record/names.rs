//! Checks the names that commands give to new bindings, agents, gates and files (errata B11). Readers accept any name.

use super::{Style, WriteError};

/// Limit for a name, in bytes.
pub const LONGEST: usize = 200;

/// Checks the name of a binding: letters, digits, `_`, `-`, and `.` after an import's alias. A name must not end in
/// `__` and digits (`x__43`), because in a folder such an ending marks a frame.
///
/// # Errors
/// [`WriteError::Wrong`] with the fault and a valid form.
pub fn binding(name: &str) -> Result<(), WriteError> {
    plain("binding", name)?;
    if frame_like(name) {
        return Err(wrong(
            "binding",
            name,
            "the name ends in `__` and digits, which name a frame in the file names of a run's folder",
        ));
    }
    Ok(())
}

/// Checks the name of an agent, a gate, a branch or an alias: letters, digits, `_`, `-`, and `.` between two parts.
///
/// # Errors
/// [`WriteError::Wrong`] with the fault and a valid form.
pub fn plain(what: &'static str, name: &str) -> Result<(), WriteError> {
    if name.is_empty() {
        return Err(wrong(what, name, "the name is empty"));
    }
    if name.len() > LONGEST {
        let why = format!("the name has {} bytes, more than {LONGEST}", name.len());
        return Err(wrong(what, name, &why));
    }
    if let Some(odd) = name
        .chars()
        .find(|c| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))
    {
        return Err(wrong(
            what,
            name,
            &format!("the character {odd:?} is not allowed"),
        ));
    }
    if name.starts_with('.') || name.ends_with('.') || name.contains("..") {
        return Err(wrong(what, name, "a dot is allowed only between two parts"));
    }
    Ok(())
}

/// Checks a name that becomes the name of a file or folder: Windows reserves some names for its devices, with any
/// extension. A database row may have such a name, and existing records are read as they are.
///
/// # Errors
/// [`WriteError::Wrong`] with the fault and a valid form.
pub fn file(what: &'static str, name: &str) -> Result<(), WriteError> {
    if !is_device(name) {
        return Ok(());
    }
    let shown: String = name.chars().take(60).collect();
    Err(WriteError::wrong(
        format!("{shown:?} cannot be the name of this {what}: Windows reserves it for a device"),
        "take another name, such as `console` for `con`",
    ))
}

/// Applies [`file`] if the store is a folder, where the name becomes the name of a file.
pub(super) fn file_in(style: Style, what: &'static str, name: &str) -> Result<(), WriteError> {
    match style {
        Style::Files => file(what, name),
        Style::AppendOnly | Style::InPlace => Ok(()),
    }
}

/// Returns whether Windows treats a file of this name as a device: `con`, `NUL.md`, `Com1`.
pub(super) fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    let stem = stem.trim_end_matches(' ').to_ascii_uppercase();
    // Windows treats `COM¹` as the same port as `COM1`.
    let port = |kind: &str| {
        stem.strip_prefix(kind).is_some_and(|number| {
            let mut digits = number.chars();
            matches!(digits.next(), Some('0'..='9' | '¹' | '²' | '³')) && digits.next().is_none()
        })
    };
    matches!(
        stem.as_str(),
        "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" | "CLOCK$"
    ) || port("COM")
        || port("LPT")
}

/// Returns whether a name ends in `__` and digits (`x__43`), which marks a frame in a folder.
pub fn frame_like(name: &str) -> bool {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    stem.len() < name.len() && stem.ends_with("__")
}

fn wrong(what: &str, name: &str, why: &str) -> WriteError {
    let shown: String = name.chars().take(60).collect();
    WriteError::wrong(
        format!("{shown:?} cannot be the name of this {what}: {why}"),
        "use letters, digits, `_`, `-` and `.`, as in `risk_report` or `research.sources`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_inside_its_folder_and_is_no_frame() {
        for good in [
            "research",
            "risk-2",
            "research.sources",
            "größe",
            "anon_001",
            "a__b",
            "x_43",
        ] {
            assert!(binding(good).is_ok(), "{good}");
        }
        for bad in [
            "", "../x", "a/b", "a b", "x__43", ".hidden", "a..b", "a.", "a\\b", "a\u{0}",
        ] {
            assert!(binding(bad).is_err(), "{bad:?}");
        }
        assert!(binding(&"x".repeat(201)).is_err());
        assert!(plain("agent", "captain__7").is_ok());
    }

    #[test]
    fn devices_of_windows_name_no_file() {
        for device in [
            "con",
            "NUL",
            "Aux.md",
            "com1",
            "LPT9.findings",
            "com\u{b9}",
            "prn",
        ] {
            assert!(file("run", device).is_err(), "{device}");
            assert!(file_in(Style::Files, "run", device).is_err(), "{device}");
            assert!(
                file_in(Style::AppendOnly, "run", device).is_ok(),
                "{device}"
            );
        }
        for plain in [
            "console",
            "com",
            "com10",
            "lpt",
            "research.con",
            "nul__1",
            "x",
            "",
        ] {
            assert!(file("run", plain).is_ok(), "{plain}");
        }
    }
}
