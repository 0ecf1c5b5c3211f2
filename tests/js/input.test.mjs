// Whatever may be opened, and whatever may not: an error of ours, with a code and a hint.
import assert from 'node:assert/strict';
import test from 'node:test';
import { list, open } from 'prosescope';
import * as prosescope from 'prosescope/sync';
import { listRuns, openRun, parseTimeout } from 'prosescope/sync';
import { example, examples, FAILED, FOLDER, NOW, RUNS, thrown, WAITING } from './support.mjs';

const bytes = new Uint8Array(example(`runs/${FAILED}/state.db`));
const status = opened => opened.overview().status;

test('bytes of any kind are opened', async () => {
  const shifted = new Uint8Array(bytes.length + 7);
  shifted.set(bytes, 7);
  const shared = new SharedArrayBuffer(bytes.length);
  new Uint8Array(shared).set(bytes);
  for (const input of [
    bytes,
    Buffer.from(bytes),
    bytes.buffer,
    shared,
    new DataView(shifted.buffer, 7),
    { 'state.db': bytes },
    { './any\\folder/state.db': bytes.buffer },
    [{ path: 'state.db', bytes }],
    new Set([{ path: '/a/b/state.db', bytes, modified: new Date() }]),
  ]) {
    using(openRun(input), run => assert.equal(status(run), 'failed'));
  }
  using(await open(new Blob([bytes])), run => assert.equal(status(run), 'failed'));
  assert.equal((await list(new Blob([bytes]))).length, 1);
});

test('a folder may hold texts', () => {
  const files = Object.fromEntries(examples
    .filter(file => file.path.startsWith(`runs/${FOLDER}/`))
    .map(file => [file.path, file.path.endsWith('.md') ? file.bytes.toString() : file.bytes]));
  using(openRun(files), run => {
    assert.equal(run.overview().run, FOLDER);
    assert.equal(run.overview().label, 'runs');
    const { text } = run.valueView({ file: 'program.prose' });
    assert.equal(run.value({ file: 'program.prose' }), text);
  });
});

test('a run is chosen by id, by the beginning of it, by place, or is the latest', () => {
  const nested = using(openRun(examples, { run: FOLDER }), run => run.imports().imports.find(i => i.place).place);
  for (const [run, id] of [
    [undefined, WAITING],
    [null, WAITING],
    ['latest', WAITING],
    ['20260112', RUNS[0]],
    [`runs/${FAILED}`, FAILED],
  ]) {
    using(openRun(examples, { run }), opened => assert.equal(opened.overview().run, id, run));
  }
  // A lone database, or the files of one folder, know their own id.
  const { length } = bytes;
  for (const lone of [bytes, { 'any.db': bytes }]) {
    using(openRun(lone, { run: FAILED.slice(0, 12) }), opened => assert.equal(opened.overview().run, FAILED, `${length} bytes`));
  }
  using(openRun(examples, { run: nested }), run => assert.notEqual(run.overview().run, FOLDER));
});

test('a run is read in stretches, and written as its overview', async () => {
  const run = openRun(examples, { run: FAILED, now: NOW });
  const { rows } = run.trace();
  assert.deepEqual([...run.rows()], rows);
  assert.deepEqual([...run.rows({ from: 3, len: 4 })], rows.slice(3, 7));
  const failed = [];
  for await (const row of run.rows({ status: 'failed' })) failed.push(row.status);
  assert.ok(failed.length > 3 && failed.every(status => status === 'failed'));
  assert.deepEqual(JSON.parse(JSON.stringify(run)), run.overview());
  run.free();
  assert.equal(JSON.stringify(run), 'null');
});

test('agents without a run are opened', () => {
  using(openRun({ 'agents.db': example('agents.db') }), run => {
    const [agent] = run.agents().agents;
    assert.equal(run.value({ memory: agent.agent }).length > 0, true);
  });
});

test('the time is the one that is given', () => {
  const remaining = now => using(openRun(examples, { run: WAITING, now }), run => run.overview().pending_gates[0].remaining);
  assert.match(remaining(NOW), /^expires in /);
  assert.match(remaining(new Date('2027-01-01')), /^expired /);
  assert.equal(remaining(new Date(NOW)), remaining(NOW));
  assert.equal(remaining(undefined), remaining(Date.now()));
});

test('timeouts are read, or say what is wrong', () => {
  assert.deepEqual(parseTimeout(' 2h30m'), { text: ' 2h30m', seconds: 9000 });
  const error = thrown(() => parseTimeout('30m2h'));
  assert.ok(error instanceof prosescope.DurationError);
  assert.equal(error.code, 'bad-timeout');
  assert.equal(error.message, '`30m2h` is not of the form `30m`, `24h`, `7d` or `2h30m`: a whole number before each unit, the units in the order d, h, m, s');
});

test('what cannot be done is an error of ours', () => {
  const run = openRun(examples, { run: FAILED });
  const freed = openRun(bytes);
  freed.free();
  for (const [name, code, call] of [
    ['UsageError', 'bad-argument', () => openRun()],
    ['UsageError', 'bad-argument', () => openRun(null)],
    ['UsageError', 'bad-argument', () => openRun('state.db')],
    ['UsageError', 'bad-argument', () => openRun(7)],
    ['UsageError', 'bad-argument', () => openRun(Symbol('x'))],
    ['UsageError', 'bad-argument', () => openRun([bytes.buffer])],
    ['UsageError', 'bad-argument', () => openRun([{ path: 'state.db' }])],
    ['UsageError', 'bad-argument', () => openRun({ 'state.db': 5 })],
    ['UsageError', 'bad-argument', () => openRun(bytes, { run: 5 })],
    ['UsageError', 'bad-argument', () => openRun(bytes, { now: 'yesterday' })],
    ['UsageError', 'bad-argument', () => openRun(examples, { wal: bytes })],
    ['UsageError', 'bad-path', () => openRun({ '../state.db': bytes })],
    ['UsageError', 'bad-path', () => openRun({ '': bytes })],
    ['UsageError', 'bad-path', () => openRun([{ path: 'a', bytes }, { path: './a', bytes }])],
    ['UsageError', 'ambiguous', () => openRun(examples, { run: '2026' })],
    ['NotFoundError', 'not-found', () => openRun(examples, { run: 'nope' })],
    ['NotFoundError', 'not-found', () => openRun(bytes, { run: '../../etc' })],
    ['OpenError', 'no-run', () => openRun([])],
    ['OpenError', 'no-run', () => openRun({})],
    ['OpenError', 'no-run', () => openRun({ 'a.txt': 'x', 'b.txt': 'y' })],
    ['OpenError', 'unreadable-database', () => openRun(new Uint8Array())],
    ['OpenError', 'unreadable-database', () => openRun(bytes.slice(0, 90))],
    ['OpenError', 'unreadable-database', () => openRun({ 'report.pdf': '%PDF-1.7' })],
    ['NotFoundError', 'not-found', () => run.value('nope')],
    ['NotFoundError', 'not-found', () => run.value('draft', { frame: 1e15 })],
    ['NotFoundError', 'not-found', () => run.value({ binding: 99999 })],
    ['NotFoundError', 'not-found', () => run.value({ memory: 99999 })],
    ['NotFoundError', 'not-found', () => run.value({ file: 'nope.md' })],
    ['NotFoundError', 'not-found', () => run.value({ file: '../agents.db' })],
    ['NotFoundError', 'not-found', () => run.table('nope')],
    ['UsageError', 'bad-argument', () => run.value()],
    ['UsageError', 'bad-argument', () => run.value({})],
    ['UsageError', 'bad-argument', () => run.value({ get binding() { throw new Error('no') } })],
    ['UsageError', 'bad-argument', () => run.value({ binding: -1 })],
    ['UsageError', 'bad-argument', () => run.value('draft', { frame: 1.5 })],
    ['UsageError', 'bad-argument', () => run.value('draft', { frame: NaN })],
    ['NotFoundError', 'not-found', () => run.value('draft', { frame: 999n })],
    // What is not there has no way to the root.
    ['NotFoundError', 'not-found', () => run.value('style', { frame: 999 })],
    ['NotFoundError', 'not-found', () => run.resolve('style', { frame: 999 })],
    ['UsageError', 'bad-argument', () => run.value('draft', { fram: 19 })],
    ['UsageError', 'bad-argument', () => run.value('draft', 19)],
    ['UsageError', 'bad-argument', () => run.trace({ from: Symbol('x') })],
    ['UsageError', 'bad-argument', () => run.trace({ order: 'shortest' })],
    ['UsageError', 'bad-argument', () => run.trace({ status: 'failedd' })],
    ['UsageError', 'bad-argument', () => run.trace({ kind: 'bogus' })],
    ['UsageError', 'bad-argument', () => run.trace({ statuss: 'failed' })],
    ['UsageError', 'bad-argument', () => run.trace({ status: 'failed', folded: [1] })],
    ['UsageError', 'bad-argument', () => run.trace({ from: -1 })],
    ['UsageError', 'bad-argument', () => run.trace({ from: 2 ** 32 })],
    ['UsageError', 'bad-argument', () => run.trace(5)],
    ['UsageError', 'bad-argument', () => run.node()],
    ['UsageError', 'bad-argument', () => run.node(2 ** 32)],
    ['UsageError', 'bad-argument', () => openRun(bytes, { runn: 'x' })],
    ['UsageError', 'bad-argument', () => openRun(new Blob([bytes]))],
    ['UsageError', 'bad-argument', () => new prosescope.Run()],
    ['UsageError', 'bad-argument', () => run.table(5)],
    ['UsageError', 'bad-argument', () => run.resolve()],
    ['UsageError', 'bad-argument', () => parseTimeout(150)],
    ['DurationError', 'bad-timeout', () => parseTimeout('')],
    ['UsageError', 'freed', () => freed.overview()],
    ['UsageError', 'freed', () => freed.check()],
  ]) {
    isOurs(thrown(call), call);
    const error = thrown(call);
    assert.deepEqual([error.name, error.code], [name, code], `${call}: ${error.message}`);
  }
  // Nothing of that hurt the run.
  assert.equal(status(run), 'failed');
  assert.equal(run.node(1e9), null);
  run.free();
  run.free();
});

test('a promise is rejected with an error of ours', async () => {
  await assert.rejects(open(new Blob(['x'])), error => {
    isOurs(error);
    return error.code === 'unreadable-database';
  });
  const lost = Object.assign(new Blob(['x']), { arrayBuffer: () => Promise.reject(new Error('gone')) });
  await assert.rejects(open(lost), { name: 'OpenError', code: 'unreadable' });
});

test('a damaged database is a run with issues, or an error of ours', () => {
  let seed = 20260118;
  const random = below => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed % below;
  };
  let opened = 0;
  for (let round = 0; round < 200; round++) {
    const damaged = bytes.slice(0, round % 4 === 0 ? random(bytes.length) : bytes.length);
    for (let n = round % 9; n >= 0 && damaged.length > 100; n--) {
      damaged[random(round % 2 ? damaged.length : 4096) % damaged.length] = random(256);
    }
    try {
      const run = openRun(damaged, { now: NOW });
      opened += 1;
      for (const page of ['overview', 'program', 'trace', 'bindings', 'gates', 'agents', 'imports', 'state', 'files', 'issues']) {
        run[page]();
      }
      for (const { binding } of run.bindings().rows) reading(() => run.valueBytes({ binding }));
      for (const { name } of run.files().tables) reading(() => run.table(name));
      run.check();
      run.free();
    } catch (error) {
      isOurs(error);
      assert.notEqual(error.code, 'defect', `round ${round}: ${error.message}`);
    }
  }
  assert.ok(opened > 20, `${opened} of 200 were opened`);
});

function reading(call) {
  try {
    call();
  } catch (error) {
    isOurs(error, call);
    if (error.code === 'defect') throw error;
  }
}

function isOurs(error, call = '') {
  assert.ok(error instanceof prosescope.ProsescopeError, `${call} threw ${error?.stack}`);
  assert.ok(error instanceof prosescope[error.name]);
  assert.ok(error.code && error.message && error.hint, `${call}: ${error.code}, ${error.message}, ${error.hint}`);
}

function using(run, use) {
  try {
    return use(run);
  } finally {
    run.free();
  }
}
