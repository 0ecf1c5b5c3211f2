//! SQLite's authorizer: asks a callback before each action of a statement whether the action is allowed.
//!
//! rusqlite has an authorizer too, but its callback panics at a name that is not UTF-8, and such names can come from
//! the database file. Natively rusqlite catches the panic and refuses the statement; WebAssembly cannot catch a
//! panic, so the viewer would end. This authorizer replaces invalid bytes with U+FFFD instead, and a name with U+FFFD
//! matches none of the names that Prosescope allows.

use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_int, c_void};

use rusqlite::{Connection, Result, ffi};

/// An action that a statement is about to take.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action<'a> {
    /// A `SELECT`.
    Select,
    /// Reads a column.
    Read {
        /// `main`, `temp` or the name of an attached database. `None` if the statement reads no column and writes the
        /// table's name alone, as in `SELECT count(*) FROM t`.
        database: Option<Cow<'a, str>>,
        /// The table, or the name of a subquery if the statement reads no column of it.
        table: Cow<'a, str>,
        /// The column that the statement reads; empty if it reads none, as in `count(*)`.
        column: Cow<'a, str>,
    },
    /// A `WITH RECURSIVE`.
    Recursive,
    /// One of `BEGIN`, `COMMIT` and `ROLLBACK`.
    Transaction(Cow<'a, str>),
    /// Calls the SQL function of this name.
    Function(Cow<'a, str>),
    /// A pragma and its value.
    Pragma(Cow<'a, str>, Option<Cow<'a, str>>),
    /// Any other action. Every action that writes is of this kind.
    Other,
}

/// Decides about an action. The second argument is the name of the innermost trigger or view that causes the action,
/// if any.
type Allow = Box<dyn Fn(&Action<'_>, Option<&str>) -> bool + Send>;

/// Calls `allow` for each action of every later statement, with the name of the innermost trigger or view that causes
/// the action. `false` refuses the statement. Replaces an earlier `allow`.
///
/// # Errors
/// If SQLite cannot allocate memory for the callback.
pub fn authorize<F>(conn: &Connection, allow: F) -> Result<()>
where
    F: Fn(&Action<'_>, Option<&str>) -> bool + Send + 'static,
{
    install(conn, LASTING, Some(Box::new(allow)))
}

/// Calls `allow` instead of the callback set by [`authorize`] while `body` runs, and restores that callback
/// afterwards.
///
/// # Errors
/// If SQLite cannot allocate memory for the callback. The connection may then allow everything, so the caller must
/// close it. `body` may have run.
pub fn authorize_during<F, R>(conn: &Connection, allow: F, body: impl FnOnce() -> R) -> Result<R>
where
    F: Fn(&Action<'_>, Option<&str>) -> bool + Send + 'static,
{
    install(conn, PASSING, Some(Box::new(allow)))?;
    let answer = body();
    install(conn, LASTING, None)?;
    Ok(answer)
}

const LASTING: &CStr = c"prosescope_authorizer";
const PASSING: &CStr = c"prosescope_authorizer_passing";

/// Installs `new` and stores it under `name`. Without `new`, installs the callback that is already stored under
/// `name`.
#[expect(
    unsafe_code,
    reason = "SQLite's C interface takes a callback with a pointer"
)]
fn install(conn: &Connection, name: &CStr, new: Option<Allow>) -> Result<()> {
    // SAFETY: SQLite frees a stored callback when another is stored under its name or when the connection closes. The
    // authorizer is removed before the callback it points to is replaced, and a closed connection calls none. Both
    // names store an `Allow`, the type that `ask` expects.
    let code = unsafe {
        ffi::sqlite3_set_authorizer(conn.handle(), None, std::ptr::null_mut());
        let data: *const Allow = match new {
            Some(new) => conn.set_clientdata(name, Some(new))?.cast(),
            None => conn
                .get_clientdata::<Allow, _>(name)?
                .map_or(std::ptr::null(), std::ptr::from_ref),
        };
        let ask = (!data.is_null()).then_some(ask as _);
        ffi::sqlite3_set_authorizer(conn.handle(), ask, data.cast_mut().cast())
    };
    match code {
        ffi::SQLITE_OK => Ok(()),
        code => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)),
    }
}

#[expect(unsafe_code, reason = "what SQLite calls")]
unsafe extern "C" fn ask(
    data: *mut c_void,
    code: c_int,
    first: *const c_char,
    second: *const c_char,
    database: *const c_char,
    inside: *const c_char,
) -> c_int {
    // SAFETY: SQLite passes null or zero-terminated strings that live as long as the call, and the data set above.
    let (first, second, database, inside, allow) = unsafe {
        let allow = data.cast::<Allow>().as_ref();
        (
            text(first),
            text(second),
            text(database),
            text(inside),
            allow,
        )
    };
    let action = match (code, first, second) {
        (ffi::SQLITE_SELECT, ..) => Action::Select,
        (ffi::SQLITE_READ, table, column) => Action::Read {
            database,
            table: table.unwrap_or_default(),
            column: column.unwrap_or_default(),
        },
        (ffi::SQLITE_RECURSIVE, ..) => Action::Recursive,
        (ffi::SQLITE_TRANSACTION, Some(operation), _) => Action::Transaction(operation),
        (ffi::SQLITE_FUNCTION, _, Some(name)) => Action::Function(name),
        (ffi::SQLITE_PRAGMA, Some(name), value) => Action::Pragma(name, value),
        _ => Action::Other,
    };
    match allow {
        Some(allow) if allow(&action, inside.as_deref()) => ffi::SQLITE_OK,
        _ => ffi::SQLITE_DENY,
    }
}

#[expect(unsafe_code, reason = "reads a string of C")]
unsafe fn text<'a>(start: *const c_char) -> Option<Cow<'a, str>> {
    // SAFETY: the caller passes null or the start of a zero-terminated string.
    (!start.is_null()).then(|| unsafe { CStr::from_ptr(start) }.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    fn asked(conn: &Connection) -> Arc<Mutex<Vec<String>>> {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&asked);
        let note = move |action: &Action<'_>, inside: Option<&str>| {
            let inside = inside.unwrap_or("statement");
            list.lock().unwrap().push(format!("{action:?} {inside}"));
            *action != Action::Other
        };
        authorize(conn, note).unwrap();
        asked
    }

    #[test]
    fn every_action_is_asked_for_and_what_is_not_allowed_is_refused() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t")
            .unwrap();
        let asked = asked(&conn);
        for (sql, ok, expected) in [
            (
                "SELECT hex(a) FROM t",
                true,
                vec![
                    "Select statement",
                    r#"Function("hex") statement"#,
                    r#"Read { database: Some("main"), table: "t", column: "a" } statement"#,
                ],
            ),
            ("BEGIN", true, vec![r#"Transaction("BEGIN") statement"#]),
            (
                "PRAGMA page_count",
                true,
                vec![r#"Pragma("page_count", None) statement"#],
            ),
            (
                "PRAGMA query_only = 0",
                true,
                vec![r#"Pragma("query_only", Some("0")) statement"#],
            ),
            ("DELETE FROM t", false, vec!["Other statement"]),
            ("ATTACH ':memory:' AS b", false, vec!["Other statement"]),
        ] {
            asked.lock().unwrap().clear();
            assert_eq!(conn.prepare(sql).is_ok(), ok, "{sql}");
            assert_eq!(*asked.lock().unwrap(), expected, "{sql}");
        }
        asked.lock().unwrap().clear();
        conn.prepare("SELECT a FROM v").unwrap();
        assert!(
            asked
                .lock()
                .unwrap()
                .iter()
                .any(|asked| asked.ends_with(" v"))
        );
    }

    #[test]
    fn names_that_are_no_text_are_asked_for_too() {
        // The test writes these bytes into the file's schema, because a statement passed as `&str` cannot contain
        // them.
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch(
            "CREATE TABLE t(QQ INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (1, 2)",
        )
        .unwrap();
        drop(conn);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = bytes.windows(2).position(|two| two == b"QQ").unwrap();
        bytes[at..at + 2].copy_from_slice(&[0xf1, 0xff]);
        std::fs::write(&path, bytes).unwrap();
        let conn = Connection::open(&path).unwrap();
        let asked = asked(&conn);
        let row = conn.query_row("SELECT rowid, b FROM t", [], |row| row.get::<_, i64>(1));
        assert_eq!(row, Ok(2));
        assert_eq!(asked.lock().unwrap().len(), 3);
    }

    #[test]
    fn another_is_asked_for_a_while() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE t(a)").unwrap();
        authorize(&conn, |action, _| *action != Action::Other).unwrap();
        let writes = || conn.prepare("DELETE FROM t").is_ok();
        assert!(!writes());
        for _ in 0..2 {
            assert!(authorize_during(&conn, |_, _| true, writes).unwrap());
            assert!(!writes());
        }
        // A connection without a callback from `authorize` allows everything again after `authorize_during`.
        let conn = Connection::open_in_memory().unwrap();
        let selects = || conn.prepare("SELECT 1").is_ok();
        assert!(!authorize_during(&conn, |_, _| false, selects).unwrap());
        assert!(selects());
    }

    #[test]
    fn it_can_be_replaced_and_ends_with_the_connection() {
        let kept = Arc::new(());
        let conn = Connection::open_in_memory().unwrap();
        for allowed in [false, true, false, true] {
            let kept = Arc::clone(&kept);
            let allow = move |_: &Action<'_>, _: Option<&str>| {
                let _ = &kept;
                allowed
            };
            authorize(&conn, allow).unwrap();
            assert_eq!(conn.prepare("SELECT 1").is_ok(), allowed);
        }
        assert_eq!(Arc::strong_count(&kept), 2);
        drop(conn);
        assert_eq!(Arc::strong_count(&kept), 1);
    }
}
