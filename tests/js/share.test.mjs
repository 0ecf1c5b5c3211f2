// Sharing: a file of the run without its secrets, in each form, as the package and `prosescope` read it again.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { listRuns, openRun, redactText, ShareError, UsageError } from 'prosescope/sync';
import initSqlJs from 'sql.js';
import { initSync } from './node_modules/prosescope/glue.js';
import { example, examples, FAILED, filesOf, FINISHED, FOLDER, NOW, prose, proseJson, RUNS, thrown, WAITING } from './support.mjs';

const SQL = await initSqlJs();
const viewer = readFileSync(process.env.PROSE_VIEWER_HTML, 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'prosescope-'));
test.after(() => rmSync(folder, { recursive: true }));

// Put together, so that none of them stands here.
const TOKEN = ['ghp', '16C7e42F292c6912E7710c838347Ae178B4a'].join('_');
const NAMED = 'seven otters by the weir';
const MAIL = ['ann', 'customer.org'].join('@');
const base64 = text => Buffer.from(text).toString('base64');
const SECRETS = [TOKEN, NAMED, MAIL, base64(TOKEN), base64(NAMED)];
const secrets = { DOOR_PHRASE: NAMED };

/** The failed run with secrets in its values, errors and memories. */
const planted = (() => {
  const db = new SQL.Database(example(`runs/${FAILED}/state.db`));
  db.run("UPDATE bindings SET value = value || char(10) || $text WHERE name = 'style'", { $text: `${TOKEN} of ${MAIL}, ${NAMED}` });
  db.run("UPDATE bindings SET value = value || char(10) || $text WHERE name = 'draft'", { $text: `${base64(TOKEN)} ${base64(NAMED)}` });
  db.run('UPDATE execution SET error_message = error_message || $text', { $text: ` with ${TOKEN}` });
  db.run('UPDATE agents SET memory = memory || $text', { $text: ` ${NAMED}` });
  const bytes = db.export();
  db.close();
  return bytes;
})();

const shared = (input, options) => using(openRun(input, { now: NOW }), run => run.share({ secrets, ...options }));

/** Every byte of what a shared file unpacks to, as text. */
function unpacked(bytes) {
  return using(openRun(bytes, { now: NOW }), run => {
    const { files } = run.files();
    assert.ok(files.length > 0);
    return files.map(({ path }) => path + Buffer.from(run.valueBytes({ file: path })).toString('latin1')).join('\n');
  });
}

/** The names of a planted run's replacements. */
const names = report => [...new Set(report.found.map(found => found.name))].sort();

for (const format of ['zip', 'db', 'html']) {
  test(`a run is shared as ${format}, without its secrets, and is the run again`, () => {
    const { report, bytes } = shared(planted, { format, viewer });
    assert.ok(bytes instanceof Uint8Array);
    assert.deepEqual([report.format, report.bytes, report.raw, report.runs], [format, bytes.length, false, [FAILED]]);
    assert.deepEqual(names(report), ['DOOR_PHRASE #1', 'email #1', 'github-token #1']);
    assert.ok(report.replaced.some(one => one.rule === 'github-token' && one.place === 'execution.error_message'));
    for (const secret of SECRETS) {
      for (const text of [Buffer.from(bytes).toString('latin1'), unpacked(bytes), JSON.stringify(report)]) {
        assert.ok(!text.includes(secret), secret);
      }
    }
    assert.match(unpacked(bytes), /\[github-token #1\] of \[email #1\], \[DOOR_PHRASE #1\]/);
    // It is what it was, but for what was replaced.
    const rows = run => run.trace().rows.map(({ text, status, level }) => ({ text, status, level }));
    const before = using(openRun(planted, { now: NOW }), rows);
    using(openRun(bytes, { now: NOW }), run => {
      assert.deepEqual(rows(run), before);
      assert.equal(run.overview().run, FAILED);
      const copy = run.check().issues.filter(issue => issue.rule.startsWith('share'));
      assert.deepEqual(copy.map(issue => issue.rule), format === 'db' ? [] : ['shared-copy']);
    });
    // And `prosescope` says the same of it.
    const file = join(folder, `run.${format}`);
    writeFileSync(file, bytes);
    const [{ run, counts, issues }] = proseJson('check', file).runs;
    assert.deepEqual([run, counts.error], [FAILED, 0]);
    assert.equal(issues.some(issue => issue.rule === 'shared-copy'), format !== 'db');
    assert.match(prose('get', 'style', '--run', file, '--from', '19').toString(), /^\[github-token #1\] of/m);
  });
}

test('what would leave is what `prosescope share --report` lists', () => {
  for (const id of RUNS) {
    using(openRun(examples, { run: id, now: NOW }), run => {
      const looked = run.lookToShare();
      assert.deepEqual(looked, proseJson('share', id, '--report'));
      const { report } = run.share({ format: 'zip' });
      assert.deepEqual([report.found, report.replaced, report.left_out], [looked.found, looked.replaced, looked.left_out]);
    });
  }
  // The names of those who may decide the one that waits stay, and are told.
  assert.ok(using(openRun(examples, { run: WAITING }), run => run.lookToShare()).staying.length > 0);
  assert.deepEqual(names(using(openRun(planted), run => run.lookToShare({ secrets }))), ['DOOR_PHRASE #1', 'email #1', 'github-token #1']);
});

test('a folder is shared, with what it says in .env replaced, and without .env', () => {
  const files = filesOf(join(process.env.EXAMPLES, '.prose/runs', FOLDER));
  const value = files.find(file => file.path === 'bindings/budget.md');
  value.bytes = `${value.bytes}\n${NAMED} ${TOKEN}\n`;
  files.push({ path: '.env', bytes: `DOOR_PASSWORD='${NAMED}'\n` });
  const { report, bytes } = shared(files, { format: 'zip', secrets: {} });
  const text = unpacked(bytes);
  assert.match(text, /\[DOOR_PASSWORD #1\] \[github-token #1\]/);
  for (const secret of SECRETS) assert.ok(!text.includes(secret), secret);
  assert.ok(report.left_out.some(left => left.what === '.env'));
  assert.equal(using(openRun(bytes), run => run.overview().run), FOLDER);
  const file = join(folder, 'folder.zip');
  writeFileSync(file, bytes);
  assert.equal(proseJson('check', file).runs[0].counts.error, 0);
});

test('wishes say what leaves', () => {
  const text = options => unpacked(shared(planted, { format: 'zip', ...options }).bytes);
  const whole = text({});
  for (const [options, stands, stays] of [
    [{ without: ['values'] }, '[github-token #1] of', false],
    [{ without: ['values'] }, '[left out when this run was shared: ', true],
    [{ without: ['memories', 'program'] }, '[left out when this run was shared: ', true],
    [{ maxValue: 20 }, '[left out when this run was shared, because it is long: ', true],
    [{ personal: true }, MAIL, true],
    [{ keep: ['github-token'] }, TOKEN, true],
    [{ keep: ['github-token #1'] }, TOKEN, true],
    [{ keep: ['github-token #2'] }, TOKEN, false],
    [{ secrets: {} }, NAMED, true],
    [{ secrets: undefined, redact: [NAMED] }, NAMED, false],
    [{ secrets: { PHRASE: `${NAMED}\n` } }, NAMED, false],
    [{ secrets: { EMPTY: '' }, redact: ['/seven [a-z]+/'] }, 'seven otters', false],
    [{ redact: ['of'] }, '[github-token #1] [asked #1] ', true],
    [{ raw: true }, `${TOKEN} of ${MAIL}, ${NAMED}`, true],
    [{ raw: true, without: [], personal: false, maxValue: null }, TOKEN, true],
  ]) {
    assert.equal(text(options).includes(stands), stays, JSON.stringify(options));
    assert.equal(whole.includes(stands), !stays && stands.startsWith('['), `${stands} without wishes`);
  }
  const { report } = shared(planted, { format: 'db', raw: true });
  assert.deepEqual([report.raw, names(report)], [true, ['DOOR_PHRASE #1', 'email #1', 'github-token #1']]);
});

test('values that were replaced leave when that is wished', () => {
  const files = examples.filter(({ path }) => path.startsWith(`runs/${FOLDER}/`));
  files.push({ path: `runs/${FOLDER}/x_history/bindings/budget.1.md`, bytes: 'an earlier budget' });
  const holds = wishes => unpacked(shared(files, { format: 'zip', ...wishes }).bytes).includes('an earlier budget');
  assert.deepEqual([holds({}), holds({ history: true })], [false, true]);
});

test('a page is made with the viewer of the package', () => {
  const own = using(openRun(planted, { now: NOW }), run => run.share({ format: 'html' }).bytes);
  const given = using(openRun(planted, { now: NOW }), run => run.share({ format: 'html', viewer }).bytes);
  assert.deepEqual(own, given);
});

test('more runs of what was opened go into the same file', () => {
  const also = ['20260112', FAILED, `runs/${WAITING}`, 'latest'];
  const { report, bytes } = using(openRun(examples, { run: FAILED }), run => run.share({ format: 'html', viewer, also }));
  assert.deepEqual(report.runs, [FAILED, FINISHED, WAITING]);
  assert.deepEqual(listRuns(bytes).map(({ run }) => run).sort(), [FINISHED, FAILED, WAITING]);
  const file = join(folder, 'three.html');
  writeFileSync(file, bytes);
  assert.deepEqual(proseJson('runs', file).runs.map(({ run }) => run).sort(), [FINISHED, FAILED, WAITING]);
});

test('a shared file is shared again', () => {
  const first = shared(planted, { format: 'html', viewer, redact: ['/Short [a-z]+/'] }).bytes;
  const { report, bytes } = shared(first, { format: 'zip' });
  assert.deepEqual(report.found, []);
  assert.match(unpacked(bytes), /\[asked #1\]\. Warnings stay warnings/);
});

test('a text is redacted by the same rules', () => {
  const text = `push with ${TOKEN}\nas ${MAIL}: ${base64(NAMED)}, ${TOKEN}`;
  const redacted = redactText(text, { secrets, keep: ['email'] });
  assert.equal(redacted.text, `push with [github-token #1]\nas ${MAIL}: [DOOR_PHRASE #1], [github-token #1]`);
  assert.deepEqual(redacted.found.map(({ name, kind, at }) => [name, kind, at]), [
    ['github-token #1', 'secret', 'text'],
    ['DOOR_PHRASE #1', 'secret', 'text, line 2'],
    ['github-token #1', 'secret', 'text, line 2'],
  ]);
  assert.deepEqual(redactText(''), { text: '', found: [] });
  assert.equal(redactText(MAIL).text, '[email #1]');
  assert.equal(redactText(MAIL, { personal: true }).text, MAIL);
  assert.equal(redactText('order 66 and 67', { redact: ['/[0-9]+/'] }).text, 'order [asked #1] and [asked #2]');
});

test('wishes that nobody understands are refused, for something would leave', () => {
  const run = openRun(planted);
  const all = wishes => [() => run.lookToShare(wishes), () => run.share({ format: 'zip', ...wishes })];
  for (const [calls, message] of [
    [all({ witout: ['values'] }), 'there is no option witout'],
    [all({ toString: true }), 'there is no option toString'],
    [all({ max_value: 5 }), 'there is no option max_value'],
    [all({ without: 'values' }), 'the option without is not what it should be'],
    [all({ without: ['history'] }), 'the option without is not what it should be'],
    [all({ personal: 'no' }), 'the option personal is not what it should be'],
    [all({ history: 1 }), 'the option history is not what it should be'],
    [all({ keep: [5] }), 'the option keep is not what it should be'],
    [all({ redact: NAMED }), 'the option redact is not what it should be'],
    [all({ maxValue: '10k' }), 'the option maxValue is not what it should be'],
    [all({ maxValue: -1 }), 'the option maxValue is not what it should be'],
    [all({ maxValue: NaN }), 'the option maxValue is not what it should be'],
    [all({ maxValue: 5n }), 'the option maxValue is not what it should be'],
    [all({ secrets: [NAMED] }), 'the option secrets is not what it should be'],
    [all({ secrets: new Map([['A', NAMED]]) }), 'the option secrets is not what it should be'],
    [all({ secrets: { A: undefined } }), 'the option secrets is not what it should be'],
    [all({ secrets: NAMED }), 'the option secrets is not what it should be'],
    [all({ secrets: { PIN: '4711' } }), 'the secret PIN has fewer than 8 characters, and such short texts occur by chance'],
    [all({ redact: [''] }), 'redact: a text of fewer than 8 characters is too short to search for: it also occurs by chance'],
    [all({ redact: ['/a*/'] }), 'redact: the pattern matches the empty text, so it would match everywhere'],
    [all({ raw: true, redact: [NAMED] }), 'raw shares a run as it is, and something else is wished'],
    [all({ raw: true, maxValue: 0 }), 'raw shares a run as it is, and something else is wished'],
    [[() => run.lookToShare('zip')], 'these are no options'],
    [[() => run.lookToShare([])], 'these are no options'],
    [[() => run.lookToShare({ format: 'zip' })], 'there is no option format'],
    [[() => run.share()], 'the option format is missing'],
    [[() => run.share({ format: 'txt' })], 'there is no format "txt"'],
    [[() => run.share({ format: 5 })], 'the option format is not what it should be'],
    [[() => run.share({ format: 'html', viewer: new Uint8Array(5) })], 'the option viewer is not what it should be'],
    [[() => redactText('x', { without: ['values'] })], 'there is no option without'],
    [[() => redactText('x', { raw: true })], 'there is no option raw'],
    [[() => redactText(5), () => redactText()], 'the argument is not a text'],
  ]) {
    for (const call of calls) {
      const error = thrown(call);
      assert.ok(error instanceof UsageError, `${call}: ${error.stack}`);
      assert.deepEqual([error.code, error.message], ['bad-argument', message]);
      assert.ok(error.hint, message);
    }
  }
  assert.match(thrown(() => redactText('x', { redact: ['/(/'] })).message, /^redact: the pattern is not a regular expression/);
  assert.equal(thrown(() => run.share({ format: 'zip', also: ['nope'] })).code, 'not-found');
  // Nothing of that hurt the run.
  assert.equal(run.share({ format: 'db' }).report.format, 'db');
  run.free();
  assert.equal(thrown(() => run.lookToShare()).code, 'freed');
});

test('what cannot be shared is an error of ours', () => {
  const saying = text => ({ 'run/state.db': planted, 'run/notes.md': text });
  const named = folder => ({ [`${folder}/state.db`]: planted, [`${folder}/notes.md`]: TOKEN });
  const files = () => examples
    .filter(({ path }) => path.startsWith(`runs/${FOLDER}/`))
    .map(file => ({ ...file, bytes: new Uint8Array(file.bytes) }));
  const gone = files();
  const run = openRun(gone);
  const { buffer } = gone.find(file => file.path.endsWith('/budget.md')).bytes;
  structuredClone(buffer, { transfer: [buffer] });
  for (const [call, code, hint] of [
    [() => run.share({ format: 'zip' }), 'unreadable', /check\(\)/],
    [() => shared(files(), { format: 'db' }), 'no-one-database', /zip/],
    [() => shared(planted, { format: 'html', viewer: '<html></html>' }), 'bad-viewer', /viewer/],
    // The manifest has words of its own.
    [() => shared(saying('redactions'), { format: 'zip', redact: ['redactions'] }), 'secret-remains', /keep: \['asked #1'\]/],
  ]) {
    const error = thrown(call);
    assert.ok(error instanceof ShareError, error.stack);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, /^nothing was shared: /);
    assert.match(error.hint, hint);
    assert.ok(!`${error.message} ${error.hint}`.includes(TOKEN));
  }
  run.free();
  using(openRun({ ...named('a/run'), ...named('b/run') }, { run: 'a/run' }), run =>
    assert.equal(thrown(() => run.share({ format: 'zip', also: ['b/run'] })).message, 'two of the runs are called run'));
});

test('what sharing takes is used again', () => {
  const memory = () => initSync().memory.buffer.byteLength;
  const share = () => shared(planted, { format: 'html', viewer });
  for (let n = 0; n < 5; n++) share();
  const before = memory();
  for (let n = 0; n < 20; n++) share();
  assert.equal(memory(), before);
});

/** Calls with a run, and frees it. */
function using(run, call) {
  try {
    return call(run);
  } finally {
    run.free();
  }
}
