use crate::model::time::Stamp;

use super::Style;

/// The time and the caller of a command. The calling program provides both, because this crate does no I/O.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct At {
    /// The time of the command, in milliseconds since 1970 UTC.
    pub now: i64,
    /// The user name in the operating system, for the metadata of audit rows. It is not verified.
    pub os_user: Option<String>,
    /// The part of Prosescope that records, such as `cli` or `view`, for the metadata of audit rows.
    pub client: String,
}

impl At {
    /// Returns the time in UTC, to the second, in the store's format. A database gets `YYYY-MM-DD HH:MM:SS`, as from
    /// SQLite's `datetime('now')` (errata G5). Files get RFC 3339.
    pub fn text(&self, style: Style) -> String {
        at_text(self.now, style)
    }
}

/// Returns any instant in the format of [`At::text`].
pub fn at_text(ms: i64, style: Style) -> String {
    let text = Stamp::At(ms.div_euclid(1000).saturating_mul(1000)).to_string();
    match style {
        Style::Files => text,
        Style::AppendOnly | Style::InPlace => text.trim_end_matches('Z').replace('T', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_as_its_store_does() {
        let at = 1_768_487_452_987;
        assert_eq!(at_text(at, Style::AppendOnly), "2026-01-15 14:30:52");
        assert_eq!(at_text(at, Style::Files), "2026-01-15T14:30:52Z");
    }
}
