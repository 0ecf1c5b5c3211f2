// Recording: runs that the program records, for calls in JavaScript; and the program that is found, or is not there.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import test from 'node:test';
import { continueRun, openPath, ProsescopeError, Recording, RecordError, startRun } from 'prosescope/node';

const executable = process.env.PROSE_BIN;
const folder = mkdtempSync(join(tmpdir(), 'prosescope-'));
test.after(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'letter.prose'), `agent editor:
  persist: true

let draft = session "Write the letter"

parallel:
  facts = session "Check the facts"
  tone = session "Check the tone"

loop until **it reads well** (max: 3):
  session "Polish the letter"

resume: editor
  prompt: "Review"

approve send:
  prompt: "Send the letter?"

output receipt = session "Send"
  retry: 3
`);

// Another run in the environment must not be recorded in.
process.env.PROSE_RUN = 'other';

for (const state of ['sqlite', 'filesystem']) {
  test(`a run is recorded from its start to its end: ${state}`, async () => {
    const recording = await startRun('letter.prose', { state, folder, executable });
    assert.ok(recording instanceof Recording);
    assert.match((await recording.next()).choices[0].command, /^prosescope begin 4/);
    const { id, task } = await recording.begin(4, { force: false, item: undefined, parent: null });
    assert.equal(task.prompt, 'Write the letter');
    assert.equal((await recording.brief(id)).binding, 'draft');
    // Bytes and letters of every kind arrive as they are; so does a value beyond what a pipe holds.
    const value = `--force "é" 日本 $(x)\n${'long '.repeat(100_000)}`;
    assert.equal((await recording.put('draft', value, { into: id, summary: '-s' })).completed, id);

    // Branches that end at the same time are recorded one after the other.
    const parallel = await recording.begin(6);
    const writes = parallel.branches.map(({ id, task }) => recording.put(task.binding, new TextEncoder().encode(`of ${id}`), { into: id }));
    assert.deepEqual((await Promise.all(writes)).map(written => written.completed), parallel.branches.map(branch => branch.id));
    await recording.end(parallel.id);

    const loop = await recording.begin(10);
    await recording.begin(11);
    assert.equal((await recording.put(null, 'polished')).name.startsWith('anon_'), true);
    await recording.round(loop.id);
    const { id: again } = await recording.begin(11);
    assert.equal((await recording.end([again], { force: true })).length, 1);
    await recording.end(loop.id, { because: 'condition_satisfied' });

    const review = await recording.begin(13);
    await recording.setMemory('editor', 'Short sentences.');
    await recording.addSegment('editor', 'Reviewed.', { prompt: '--review' });
    await recording.put(null, 'good', { into: review.id });

    await recording.begin(16);
    const waits = { name: 'RecordError', code: 'refused', rule: 'gate-waits' };
    await assert.rejects(recording.waitAtGate('send', { for: '1s' }), waits);
    const own = continueRun(recording.run, { folder, executable });
    assert.equal((await own.approve('send', { as: 'mira', comment: '-- go' })).status, 'approved');
    assert.equal((await recording.waitAtGate('send')).status, 'approved');

    const last = await recording.begin(19);
    await recording.fail('-1 letters left', { execution: last.id });
    await recording.retry(last.id);
    await recording.put('receipt', '', { into: last.id, notDone: true });
    await recording.end();
    assert.equal((await recording.finish()).status, 'completed');

    const run = await openPath(folder, { run: recording.run });
    assert.equal(run.value('draft'), value);
    assert.equal(run.overview().status, 'completed');
    assert.deepEqual({ ...run.check().counts, note: 0 }, { error: 0, warning: 0, note: 0 });
    assert.equal(run.gates().audit.rows.some(row => row.comment === '-- go'), true);
    run.free();
  });
}

test('what the program refuses is an error of ours, with its rule and what to do', async () => {
  const recording = await startRun('letter.prose', { folder, executable, id: '20260301-100000-demo01' });
  assert.equal(recording.run, '20260301-100000-demo01');
  await recording.begin(6);
  for (const [call, code, rule] of [
    [() => recording.begin(1), 'bad-argument'],
    [() => recording.begin(19), 'refused', /./],
    [() => recording.end(1), 'refused', /./],
    [() => recording.put('draft', '', { into: 1 }), 'refused', /./],
    [() => recording.finish(), 'refused', /./],
    [() => recording.begin(999), 'not-found'],
    [() => recording.begin(), 'bad-argument'],
    [() => recording.begin(4, { forse: true }), 'bad-argument'],
    [() => recording.put(undefined, 'x'), 'bad-argument'],
    [() => recording.brief(999), 'not-found'],
    [() => startRun('nothing.prose', { folder, executable }), 'not-found'],
    [() => continueRun('nope', { folder, executable }).next(), 'not-found'],
  ]) {
    const error = await call().then(() => undefined, error => error);
    assert.ok(error instanceof RecordError && error instanceof ProsescopeError, `${error?.stack}`);
    assert.equal(error.code, code, error.message);
    assert.match(`${error.rule ?? ''}`, rule ?? /^$/);
    assert.ok(error.message && error.hint !== undefined);
  }
  // A value that is missing is not an empty one.
  for (const wrong of [undefined, null, 5, {}]) {
    await assert.rejects(recording.put('draft', wrong), { name: 'UsageError', code: 'bad-argument' });
  }
  await assert.rejects(recording.end([]), { name: 'UsageError', code: 'bad-argument' });
  for (const run of ['', undefined, 5]) assert.throws(() => continueRun(run), { name: 'UsageError' });
  assert.throws(() => continueRun('x', { cwd: folder }), { message: 'there is no option cwd' });
});

/** What a script prints that starts a run, without the program but for what the environment and node_modules have. */
function started(env, options = '') {
  const script = `import { startRun } from 'prosescope/node';
    const found = await startRun('letter.prose', { folder: ${JSON.stringify(folder)}, ${options} }).catch(error => error);
    console.log(JSON.stringify({ run: found.run, code: found.code, message: found.message, hint: found.hint }));`;
  const all = { ...process.env, PROSE_BIN: undefined, ...env };
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '--eval', script], { env: all }));
}

test('the program is the one beside the package, else the one on the PATH; without one nothing is recorded', t => {
  if (process.platform === 'win32') return t.skip('the programs here are scripts');
  const none = started({ PATH: '/nowhere' });
  assert.equal(none.code, 'no-program');
  assert.match(none.message, /^recording needs the program prosescope: the program for this system is not installed/);
  assert.match(none.hint, /npm install @prosescope\/cli-.*; or put prosescope on the PATH/);

  const bin = resolve('bin');
  mkdirSync(bin);
  symlinkSync(executable, join(bin, 'prosescope'));
  assert.match(started({ PATH: bin }).run, /^\d{8}-/);
  // A relative folder would start what a project has.
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval',
    "import { startRun } from 'prosescope/node'; await startRun('x.prose').catch(error => console.log(error.code));"],
  { env: { ...process.env, PATH: 'bin' } });
  assert.deepEqual([status, `${stdout}`], [0, 'no-program\n']);

  const { version } = JSON.parse(execFileSync(process.execPath, ['-p', "JSON.stringify(require('prosescope/package.json'))"]));
  const beside = join('node_modules', `@prosescope/cli-${process.platform}-${process.arch}`);
  const own = join(beside, 'bin', 'prosescope');
  mkdirSync(join(beside, 'bin'), { recursive: true });
  writeFileSync(join(beside, 'package.json'), JSON.stringify({ version }));
  writeFileSync(own, '#!/bin/sh\necho \'{"run": "from the package"}\'\n');
  chmodSync(own, 0o755);
  assert.equal(started({ PATH: bin }).run, 'from the package');
  // What is no prosescope, does not start, or was ended, says so.
  for (const [text, saying] of [
    ['#!/bin/sh\necho hello\n', /gave no answer \(it ended with 0\)/],
    ['#!/bin/sh\necho no such option >&2; exit 2\n', /ended with 2\): no such option$/],
    ['#!/bin/sh\nkill -KILL $$\n', /ended with SIGKILL/],
    ['#!/nowhere\n', /^cannot start /],
  ]) {
    writeFileSync(own, text);
    const { code, message } = started({ PATH: bin });
    assert.equal(code, 'program-failed');
    assert.match(message, saying);
  }
  assert.match(started({ PATH: '/nowhere' }, `executable: ${JSON.stringify(executable)}`).run, /^\d{8}-/);
  for (const made of [bin, join('node_modules', '@prosescope')]) rmSync(made, { recursive: true });
});
