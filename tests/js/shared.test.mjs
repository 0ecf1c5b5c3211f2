// A run in one file: the page and the zip that `prosescope share` writes, and zips of others, as the bytes of one file.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { listRuns, openRun, OpenError } from 'prosescope/sync';
import { list, open } from 'prosescope';
import { openPath } from 'prosescope/node';
import { example, FAILED, NOW, prose, thrown, WAITING } from './support.mjs';

const folder = mkdtempSync(join(tmpdir(), 'prosescope-'));
test.after(() => rmSync(folder, { recursive: true }));

/** The bytes of a file that runs are shared as. */
function share(name, ...runs) {
  const file = join(folder, name);
  prose('share', ...runs, '--raw', '-o', file);
  return readFileSync(file);
}

const rules = run => run.check().issues.map(issue => issue.rule).filter(rule => rule.startsWith('share'));

test('a shared page and a shared zip are the run again', () => {
  const original = using(openRun(example(`runs/${FAILED}/state.db`), { now: NOW }), run => run.trace().rows.map(row => row.text));
  for (const name of ['run.html', 'run.zip']) {
    const bytes = share(name, FAILED);
    // What it is, its content says.
    for (const input of [bytes, new Uint8Array(bytes).buffer, { 'letter.txt': bytes }, [{ path: 'a/b.db', bytes }]]) {
      using(openRun(input, { now: NOW }), run => {
        assert.equal(run.overview().run, FAILED);
        assert.deepEqual(run.trace().rows.map(row => row.text), original);
        assert.deepEqual(rules(run), ['shared-copy']);
      });
    }
  }
});

for (const name of ['two.zip', 'two.html']) test(`several runs are a list, and one of them is chosen: ${name}`, async () => {
  const bytes = share(name, FAILED, WAITING);
  const asked = { name: 'UsageError', code: 'several-runs', runs: [FAILED, WAITING] };
  assert.throws(() => openRun(bytes), asked);
  await assert.rejects(open(new Blob([bytes])), asked);
  await assert.rejects(openPath(join(folder, name)), { ...asked, message: `${name} holds 2 runs: ${FAILED}, ${WAITING}` });
  assert.throws(() => openRun(bytes, { run: '2026' }), { code: 'ambiguous', runs: [FAILED, WAITING] });
  for (const run of [...asked.runs, 'latest']) {
    using(openRun(bytes, { run }), opened => assert.equal(opened.overview().run, run === 'latest' ? WAITING : run));
  }
  assert.deepEqual(listRuns(bytes).map(({ run }) => run).sort(), [FAILED, WAITING]);
  assert.equal((await list(new Blob([bytes]))).length, 2);
});

test('what was damaged is refused with the reason', () => {
  const bytes = share('damaged.zip', FAILED);
  for (const at of [bytes.length >> 2, bytes.length >> 1]) {
    const altered = Uint8Array.from(bytes);
    altered[at] ^= 1;
    const error = thrown(() => openRun(altered));
    assert.ok(error instanceof OpenError, `${error}`);
    assert.equal(error.code, 'damaged-copy');
    assert.match(error.hint, /\.$/);
  }
  const cut = thrown(() => openRun(bytes.subarray(0, bytes.length - 9)));
  assert.equal(cut.code, 'damaged-copy');
  assert.match(cut.message, /not a readable zip/);
  const page = share('damaged.html', FAILED);
  const at = page.indexOf('id="prosescope-run"');
  assert.match(thrown(() => openRun(page.subarray(0, at + 2000))).message, /the run's end is missing/);
});

/** Calls with a run, and frees it. */
function using(run, call) {
  try {
    return call(run);
  } finally {
    run.free();
  }
}
