// What is held where, and for how long.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import test from 'node:test';
import { openRun, parseTimeout } from 'prosescope/sync';
import { initSync } from './node_modules/prosescope/glue.js';
import { example, examples, FAILED, FOLDER, thrown } from './support.mjs';

const bytes = new Uint8Array(example(`runs/${FAILED}/state.db`));
const memory = () => initSync().memory.buffer.byteLength;

test('what is freed is used again', () => {
  const open = () => {
    const run = openRun(bytes);
    run.trace();
    run.bindings();
    run.free();
  };
  for (let n = 0; n < 20; n++) open();
  const before = memory();
  for (let n = 0; n < 200; n++) open();
  assert.equal(memory(), before);
});

test('a run ends with its scope', { skip: !Symbol.dispose }, () => {
  const run = openRun(bytes);
  run[Symbol.dispose]();
  assert.equal(thrown(() => run.overview()).code, 'freed');
});

test('a database is read in place', () => {
  const large = new Uint8Array(200 << 20);
  large.set(bytes);
  const before = memory();
  const run = openRun(large);
  assert.equal(run.overview().status, 'failed');
  assert.ok(memory() - before < 8 << 20, `${memory() - before} bytes more`);
  run.free();
});

test('bytes that went away are said to have changed', () => {
  const files = examples
    .filter(({ path }) => path.startsWith(`runs/${FOLDER}/`))
    .map(({ path, bytes }) => ({ path, bytes: new Uint8Array(bytes) }));
  const run = openRun(files);
  const { buffer } = files.find(({ path }) => path === `runs/${FOLDER}/program.prose`).bytes;
  structuredClone(buffer, { transfer: [buffer] });
  const error = thrown(() => run.value({ file: 'program.prose' }));
  assert.deepEqual([error.name, error.code], ['OpenError', 'changed'], error.stack);
  assert.equal(run.overview().run, FOLDER);
  run.free();
});

test('after the end of the stack new runs are opened', () => {
  const run = openRun(bytes);
  let opened = false;
  let stopped = 0;
  (function deeper() {
    try {
      deeper();
    } catch {
      // On the way back there is a little more room each time: somewhere in between the WebAssembly runs out of it.
    }
    if (opened) return;
    try {
      openRun(bytes).free();
      opened = true;
    } catch {
      stopped += 1;
    }
  })();
  assert.ok(stopped > 20, `only ${stopped} times`);
  // Its memory was left in the middle of something, and is gone.
  assert.equal(thrown(() => run.overview()).code, 'freed');
  run.free();
  const again = openRun(bytes);
  assert.equal(again.overview().status, 'failed');
  again.free();
});

test('without its WebAssembly it says so, and takes it later', () => {
  const script = `
    import { readFileSync } from 'node:fs';
    import { init, openRun, parseTimeout } from './node_modules/prosescope/sync.js';
    const codes = [];
    const code = error => { codes.push(error.code) };
    try { parseTimeout('1s') } catch (error) { code(error) }
    try { openRun(new Uint8Array(9)) } catch (error) { code(error) }
    await init(new Uint8Array([1, 2, 3])).catch(code);
    await init('https://127.0.0.1:9/prosescope.wasm').catch(code);
    await Promise.all([1, 2].map(() => init(readFileSync('node_modules/prosescope/prosescope.wasm'))));
    await init();
    console.log([...codes, parseTimeout('1s').seconds].join());`;
  const args = ['--input-type=module', '--eval', script];
  const said = execFileSync(process.execPath, args, { cwd: fileURLToPath(new URL('.', import.meta.url)) });
  assert.equal(`${said}`.trim(), 'not-initialised,not-initialised,init-failed,init-failed,1');
});

test('it can be required', { skip: !process.features.require_module }, () => {
  const required = createRequire(import.meta.url)('prosescope/sync');
  assert.equal(required.parseTimeout, parseTimeout);
});
