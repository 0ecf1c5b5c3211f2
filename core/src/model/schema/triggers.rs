use super::{STATE_SQL, WORKFLOWS_SQL};

/// Returns the triggers of [`STATE_SQL`] that keep the audit log append-only (errata G7): the name, and the rest of the
/// statement with single blanks.
pub fn audit_triggers() -> impl Iterator<Item = (&'static str, String)> {
    triggers(STATE_SQL)
}

fn triggers(sql: &'static str) -> impl Iterator<Item = (&'static str, String)> {
    let made = sql.split("CREATE TRIGGER IF NOT EXISTS ").skip(1);
    made.filter_map(|text| {
        let (name, rest) = text.split_once(char::is_whitespace)?;
        let (body, _) = rest.split_once("END;")?;
        Some((name, plain(&format!("{body} END"))))
    })
}

/// Returns whether a stored trigger, `CREATE TRIGGER name …`, equals the trigger of that name in our schema.
pub fn is_own_trigger(name: &str, sql: &str) -> bool {
    audit_triggers()
        .chain(triggers(WORKFLOWS_SQL))
        .any(|(known, body)| {
            known.eq_ignore_ascii_case(name)
                && plain(sql) == format!("CREATE TRIGGER {known} {body}")
        })
}

fn plain(sql: &str) -> String {
    let words: Vec<&str> = sql.split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn the_triggers_of_a_new_database_are_known_again() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(STATE_SQL).unwrap();
        conn.execute_batch(WORKFLOWS_SQL).unwrap();
        let mut all = conn
            .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
            .unwrap();
        let found: Vec<(String, String)> = all
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert_eq!((found.len(), audit_triggers().count()), (5, 3));
        for (name, sql) in found {
            assert!(is_own_trigger(&name, &sql), "{sql}");
            let tame = sql.replace("BEGIN", "WHEN 0 BEGIN");
            assert!(!is_own_trigger(&name, &tame), "{tame}");
        }
    }
}
