//! Normalises the paths that JavaScript passes: `./runs\a\state.md` becomes `runs/a/state.md`.

/// Returns a path of the source: parts separated by `/`, without `.` and without a leading `/`; `None` if the path
/// leaves its folder or is empty.
pub(crate) fn clean(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => return None,
            part => parts.push(part),
        }
    }
    (!parts.is_empty() && !path.contains('\0')).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn paths_of_any_host_become_paths_of_the_source() {
        for (path, expected) in [
            ("state.db", Some("state.db")),
            ("./runs/a/state.md", Some("runs/a/state.md")),
            ("runs\\a\\state.md", Some("runs/a/state.md")),
            ("/tmp//run/state.db", Some("tmp/run/state.db")),
            ("a/./b", Some("a/b")),
            ("a b/ü.md", Some("a b/ü.md")),
            ("..hidden/state.md", Some("..hidden/state.md")),
            ("../state.db", None),
            ("a/../../b", None),
            ("", None),
            ("./", None),
            ("a\0b", None),
        ] {
            assert_eq!(clean(path).as_deref(), expected, "{path:?}");
        }
    }
}
