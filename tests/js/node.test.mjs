// 'prosescope/node': runs by their paths, and ids that numbers of JavaScript do not tell apart.
import assert from 'node:assert/strict';
import { appendFileSync, chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'node:test';
import { listPath, openPath } from 'prosescope/node';
import { openRun, Run } from 'prosescope/sync';
import * as worker from 'prosescope/worker';
import initSqlJs from 'sql.js';
import { example, examples, FAILED, FOLDER, NOW, RUNS, WAITING } from './support.mjs';

const { EXAMPLES } = process.env;
const SQL = await initSqlJs();
const folder = mkdtempSync(join(tmpdir(), 'prosescope-'));
test.after(() => rmSync(folder, { recursive: true }));

test('a project, a folder of runs, a run and a database are opened by their paths', async () => {
  const runs = join(EXAMPLES, '.prose', 'runs');
  for (const [path, run, id] of [
    [EXAMPLES, undefined, WAITING],
    [join(EXAMPLES, '.prose'), FAILED, FAILED],
    [join(runs, FOLDER), undefined, FOLDER],
    [join(runs, FAILED, 'state.db'), '20260118', FAILED],
    [pathToFileURL(join(runs, FAILED, 'state.db')), undefined, FAILED],
  ]) {
    const opened = await openPath(path, { run, now: NOW });
    assert.equal(opened.overview().run, id, `${path}`);
    opened.free();
  }
  assert.deepEqual((await listPath(EXAMPLES)).map(({ run }) => run).sort(), RUNS);
});

test('what is read in parts is what is read whole', async () => {
  const whole = openRun(examples, { run: FAILED, now: NOW });
  const parts = await openPath(join(EXAMPLES, '.prose'), { run: FAILED, now: NOW });
  for (const page of ['trace', 'bindings', 'agents', 'program', 'imports']) assert.deepEqual(parts[page](), whole[page]());
  assert.equal(parts.value('style', { frame: 19 }), whole.value('style', { frame: 19 }));
});

test('folders that no list looks into are left out, and said to be', async () => {
  const project = join(folder, 'project');
  const runs = join(project, 'runs');
  cpSync(join(EXAMPLES, '.prose', 'runs', FAILED), join(runs, FAILED), { recursive: true });
  // A run that is being removed is none, and nobody looks for runs among packages.
  cpSync(join(EXAMPLES, '.prose', 'runs', FOLDER), join(runs, `.trash-${FOLDER}`), { recursive: true });
  mkdirSync(join(project, 'node_modules'));
  const list = await listPath(project);
  assert.deepEqual(list.map(({ run }) => run), [FAILED]);
  const issues = list.issues.filter(issue => issue.rule === 'folder-left-out');
  assert.deepEqual(issues.map(issue => issue.message), ['the folder node_modules was skipped']);
});

test('a run in a worker has the methods of a run', async () => {
  const asked = [];
  // A worker that answers with what it was asked.
  const own = {
    postMessage({ number, what, args }) {
      asked.push(what);
      queueMicrotask(() => own.onmessage({ data: { number, value: what === 'call' ? args : 7 } }));
    },
  };
  await worker.init({ worker: own });
  const run = await worker.open(example(`runs/${FAILED}/state.db`), { run: FAILED });
  for (const name of Object.getOwnPropertyNames(Run.prototype)) {
    if (['constructor', 'rows', 'toJSON'].includes(name)) continue;
    assert.deepEqual(await run[name]('given'), [7, name, ['given']]);
  }
  await assert.rejects(async () => { for await (const row of run.rows({ statuss: 'failed' })) row; }, { code: 'bad-argument' });
  assert.deepEqual(asked.slice(0, 3), ['init', 'open', 'call']);
});

test('what is not there, or changed, is said', async () => {
  for (const [path, code] of [['nothing', 'no-such-path'], ['letter.md/state.db', 'no-such-path'], ['circle', 'unreadable']]) {
    writeFileSync(join(folder, 'letter.md'), 'x');
    if (path === 'circle') symlinkSync(path, join(folder, path));
    const file = join(folder, path);
    await assert.rejects(openPath(file), { name: 'OpenError', code, file });
    await assert.rejects(listPath(file), { name: 'OpenError', code, file });
  }
  await assert.rejects(openPath(5), { name: 'UsageError', code: 'bad-argument' });
  await assert.rejects(openPath(EXAMPLES, { wal: new Uint8Array() }), { code: 'bad-argument', message: 'there is no option wal' });
  const file = join(folder, 'letter.md');
  const run = join(folder, 'run');
  writeFileSync(file, 'x');
  await assert.rejects(openPath(file), { name: 'OpenError' });
  writeFileSync(`${run}.db`, example(`runs/${FAILED}/state.db`));
  const opened = await openPath(`${run}.db`);
  appendFileSync(`${run}.db`, 'more');
  assert.throws(() => { for (let at = 0; at < 99; at++) opened.value({ binding: at }); }, error => error.name !== 'DefectError');
  const files = join(folder, 'changed');
  cpSync(join(EXAMPLES, '.prose', 'runs', FOLDER), files, { recursive: true });
  // A long file is not read as a whole when its run is opened.
  mkdirSync(join(files, 'attachments'), { recursive: true });
  writeFileSync(join(files, 'attachments', 'long.bin'), new Uint8Array(1 << 20));
  const before = await openPath(files);
  appendFileSync(join(files, 'attachments', 'long.bin'), 'more');
  const path = 'attachments/long.bin';
  assert.throws(() => before.valueBytes({ file: path }), { name: 'OpenError', code: 'changed', file: path });
});

test('what the system does not permit to read is said', async t => {
  const project = join(folder, 'closed');
  mkdirSync(join(project, '.prose', 'runs', 'inside'), { recursive: true });
  chmodSync(join(project, '.prose', 'runs', 'inside'), 0o000);
  if (process.getuid === undefined) return t.skip('needs permissions of Unix');
  // Nothing is closed to root.
  const root = process.getuid() === 0;
  for (const path of [project, join(project, '.prose', 'runs', 'inside', 'state.db')]) {
    chmodSync(folder, 0o755);
    if (root) process.seteuid(65534);
    const error = await openPath(path).catch(error => error);
    if (root) process.seteuid(0);
    assert.deepEqual([error.name, error.code], ['OpenError', 'no-permission'], `${error}`);
    assert.match(error.hint, /permissions/);
  }
  chmodSync(join(project, '.prose', 'runs', 'inside'), 0o700);
});

test('one of several runs of a database is chosen by its id, by the beginning of it, or is the latest', () => {
  const db = new SQL.Database(example(`runs/${FAILED}/state.db`));
  for (const [id, started] of [['20260301-101010-aaaaaa', '2026-03-01'], ['20260302-101010-bbbbbb', '2026-03-02']]) {
    db.run(`INSERT INTO run (id, program_path, status, started_at) VALUES ('${id}', 'a.prose', 'completed', '${started} 10:10:10')`);
  }
  const bytes = db.export();
  for (const [runId, id] of [
    [FAILED, FAILED],
    ['20260301', '20260301-101010-aaaaaa'],
    ['latest', '20260302-101010-bbbbbb'],
    [undefined, '20260302-101010-bbbbbb'],
  ]) {
    const run = openRun(bytes, { runId });
    assert.equal(run.overview().run, id, `${runId}`);
    run.free();
  }
  // In the folder of a run, that run is meant; the others are asked for.
  const files = { [`runs/${FAILED}/state.db`]: bytes };
  assert.equal(openRun(files).overview().run, FAILED);
  assert.equal(openRun(files, { runId: 'latest' }).overview().run, '20260302-101010-bbbbbb');
  const hint = `give one of 20260302-101010-bbbbbb, 20260301-101010-aaaaaa, ${FAILED}`;
  assert.throws(() => openRun(bytes, { runId: 'nosuch' }), { name: 'NotFoundError', code: 'not-found', hint });
  assert.throws(() => openRun(bytes, { runId: '202603' }), { name: 'UsageError', code: 'ambiguous' });
  // Files are those of one run.
  const folder = { 'runs/a/state.md': '# Execution State' };
  assert.equal(openRun(folder, { runId: 'a' }).overview().run, 'a');
  assert.throws(() => openRun(folder, { runId: 'b' }), { code: 'not-found', hint: 'give one of a' });
});

test('ids beyond 2^53 are told apart', () => {
  const db = new SQL.Database(example(`runs/${FAILED}/state.db`));
  const ids = ['9007199254740992', '9007199254740993'];
  for (const id of ids) {
    db.run(`INSERT INTO execution (id, statement_index, statement_text, status) VALUES (${id}, 99, 'do large', 'completed')`);
    db.run(`INSERT INTO bindings (name, execution_id, kind, value) VALUES ('zz', ${id}, 'let', 'of ${id}')`);
  }
  const run = openRun(db.export());
  const rows = run.bindings().rows.filter(row => row.name === 'zz');
  assert.deepEqual(rows.map(row => row.execution_id).sort(), ids);
  for (const id of ids) {
    assert.equal(run.value('zz', { frame: id }), `of ${id}`);
    assert.equal(run.value('zz', { frame: BigInt(id) }), `of ${id}`);
  }
  // The other ids stay numbers.
  assert.equal(typeof run.bindings().rows.find(row => row.execution_id === 12)?.execution_id, 'number');
  run.free();
});
