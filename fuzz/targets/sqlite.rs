//! Fuzzes a database in memory with its `-wal`: decodes it and reads its tables, values and rows.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prosescope_core::model::database::DecodeError;
use prosescope_core::read::decode::rows;
use prosescope_core::read::sqlite::{self, Guard, Sqlite};

fuzz_target!(|bytes: &[u8]| {
    let _ = read(bytes);
});

fn read(bytes: &[u8]) -> Result<(), DecodeError> {
    // The input is a database followed by a -wal. The magic number of the -wal separates them, so that mutations can
    // affect both.
    let magic = bytes.windows(4).rposition(|w| w == [0x37, 0x7f, 6, 0x83] || w == [0x37, 0x7f, 6, 0x82]);
    let (database, wal) = bytes.split_at(magic.unwrap_or(bytes.len()));
    let conn = sqlite::from_bytes_with_wal(database, wal)?;
    // The limit on steps is lower than in a shell, so that reading a hostile file ends sooner.
    let guard = Guard {
        steps: 500_000,
        ..Guard::default()
    };
    let conn = Sqlite::new(conn, guard)?;
    let run = rows::decode(&conn, "state.db", None)?.run;
    for table in run.tables.iter().take(16) {
        let _ = rows::table_rows(&conn, &table.name, 0, 20, 100);
        let _ = rows::row(&conn, &table.name, 1, 100);
    }
    for binding in run.bindings.iter().take(16) {
        let _ = rows::value_bytes(&conn, "bindings", "value", &binding.value, 0, 1 << 16);
        let _ = rows::binding_tail(&conn, binding);
    }
    for execution in run.executions.iter().take(16) {
        let _ = rows::execution_row(&conn, execution.id, 1 << 10);
    }
    let _ = rows::version_counts(&conn);
    Ok(())
}
