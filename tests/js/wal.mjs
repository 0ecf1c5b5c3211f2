// Opens the database beside it with its -wal, as one of several files and as an option, and without.
import { readFileSync } from 'node:fs';
import { openRun } from 'prosescope/sync';

const [bytes, wal] = [readFileSync('state.db'), readFileSync('state.db-wal')];
for (const run of [
  openRun(bytes, { wal }),
  openRun({ 'a/state.db': bytes, 'a/state.db-wal': wal }),
  openRun(bytes),
  openRun(bytes, { wal: new Uint8Array() }),
]) {
  const { issues } = run.issues();
  console.log(run.overview().status, run.trace().total, issues.some(issue => issue.rule === 'wal-missing'));
  run.free();
}
