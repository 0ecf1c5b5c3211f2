// Databases of npm's sql.js open here, and ours open there, with the same rows.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { openRun } from 'prosescope/sync';
import initSqlJs from 'sql.js';
import { example, examples, FAILED, NOW } from './support.mjs';

const SQL = await initSqlJs();
const databases = examples.filter(file => file.path.endsWith('.db'));

/** A table's rows as sql.js reads them: how each cell is stored, and its text. */
function rowsOf(db, table) {
  const [{ columns }] = db.exec(`SELECT * FROM "${table}" LIMIT 1`);
  const cells = columns.map(name => `typeof("${name}"), CASE typeof("${name}") WHEN 'blob' THEN hex("${name}") ELSE CAST("${name}" AS TEXT) END`);
  const [{ values }] = db.exec(`SELECT ${cells.join()} FROM "${table}" ORDER BY rowid`);
  const pairs = row => columns.map((_, n) => ({ type: row[2 * n], text: row[2 * n + 1] ?? '' }));
  return { columns, rows: values.map(pairs) };
}

for (const { path, bytes } of databases) {
  test(`${path} has the same rows in sql.js, and is the same run when sql.js hands it back`, () => {
    const [run, db] = [openRun(bytes, { now: NOW }), new SQL.Database(bytes)];
    const tables = run.files().tables.filter(table => table.kind === 'table' && table.rows > 0);
    assert.ok(tables.length > 0);
    for (const { name } of tables) {
      const { columns, rows } = run.table(name);
      const uncut = rows.map(row => row.map(({ type, text, cut }) => (cut ? null : { type, text })));
      const theirs = rowsOf(db, name);
      assert.deepEqual(columns, theirs.columns);
      const compared = theirs.rows.map((row, n) => row.map((cell, m) => uncut[n]?.[m] && cell));
      assert.deepEqual(uncut, compared, name);
    }
    const back = openRun(db.export(), { now: NOW });
    for (const page of ['overview', 'trace', 'bindings', 'agents', 'gates', 'files']) {
      assert.deepEqual(back[page](), run[page](), page);
    }
    for (const one of [run, back, db]) (one.free ?? one.close).call(one);
  });
}

test('a run that was recorded in sql.js opens', () => {
  const db = new SQL.Database();
  db.run(readFileSync(process.env.SCHEMA, 'utf8'));
  db.run(`INSERT INTO run (id, program_path, program_source, started_at, updated_at, status)
    VALUES ('20260201-101500-sqljs1', 'hello.prose', 'let hello = session "Say hello"', '2026-02-01 10:15:00', '2026-02-01 10:16:00', 'completed')`);
  db.run(`INSERT INTO execution (statement_index, statement_text, status, started_at, completed_at)
    VALUES (0, 'let hello = session "Say hello"', 'completed', '2026-02-01 10:15:00', '2026-02-01 10:16:00')`);
  db.run(`INSERT INTO bindings (name, kind, value, source_statement, created_at, updated_at)
    VALUES ('hello', 'let', ?, 'let hello = session "Say hello"', '2026-02-01 10:16:00', '2026-02-01 10:16:00')`, ['Grüße 👋']);
  const run = openRun(db.export(), { now: NOW });
  const { run: id, status, statements_done } = run.overview();
  assert.deepEqual({ id, status, statements_done }, { id: '20260201-101500-sqljs1', status: 'completed', statements_done: 1 });
  assert.equal(run.value('hello'), 'Grüße 👋');
  run.free();
  db.close();
});

test('what sql.js changed is what is read', () => {
  const db = new SQL.Database(example(`runs/${FAILED}/state.db`));
  db.run(`UPDATE bindings SET value = 'changed' WHERE name = 'draft'`);
  const run = openRun(db.export());
  const { binding } = run.bindings().rows.find(row => row.name === 'draft');
  assert.equal(run.value({ binding }), 'changed');
  run.free();
  db.close();
});
