//! One HTTP range, as browsers and our page send it.

/// Reads `bytes=from-to`, `bytes=from-`, `bytes=-last` against a length: first byte and how many. `None`: the whole
/// file is meant. `Some(None)`: it lies outside of the file.
pub(super) fn parse(header: Option<&str>, len: u64) -> Option<Option<(u64, u64)>> {
    let spec = header?.trim().strip_prefix("bytes=")?;
    let (from, to) = spec.split_once('-')?;
    let (from, to) = (from.trim(), to.trim());
    let (first, last) = match (from.parse::<u64>(), to.parse::<u64>()) {
        (Ok(first), Ok(last)) => (first, last),
        (Ok(first), Err(_)) if to.is_empty() => (first, u64::MAX),
        (Err(_), Ok(tail)) if from.is_empty() => (len.saturating_sub(tail), u64::MAX),
        _ => return None,
    };
    let last = last.min(len.saturating_sub(1));
    Some((first < len && first <= last).then(|| (first, last - first + 1)))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn reads_what_browsers_send() {
        for (header, expected) in [
            (None, None),
            (Some("bytes=0-99"), Some(Some((0, 100)))),
            (Some("bytes=990-2000"), Some(Some((990, 10)))),
            (Some("bytes=5-"), Some(Some((5, 995)))),
            (Some("bytes=-10"), Some(Some((990, 10)))),
            (Some("bytes=1000-"), Some(None)),
            (Some("bytes=9-3"), Some(None)),
            (Some("bytes=0-1,5-6"), None),
            (Some("lines=1-2"), None),
            (Some("bytes=a-b"), None),
        ] {
            assert_eq!(parse(header, 1000), expected, "{header:?}");
        }
        assert_eq!(parse(Some("bytes=0-0"), 0), Some(None));
    }
}
