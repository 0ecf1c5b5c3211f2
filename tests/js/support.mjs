// What the tests of the package share. They run in a folder whose node_modules holds it; see tests/tests/e2e/pkg.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const { EXAMPLES, PROSE_BIN } = process.env;

/** The time that the examples are looked at. */
export const NOW = Date.parse('2026-01-25T16:00:00Z');

export const FINISHED = '20260112-091407-k3v8qd';
export const FOLDER = '20260115-083214-h5n2ye';
export const FAILED = '20260118-201530-z4t9wa';
export const WAITING = '20260125-125506-p7r2mx';
export const RUNS = [FINISHED, FOLDER, FAILED, WAITING];

/** The files below a folder, as the package takes them. */
export function filesOf(folder, prefix = '') {
  return readdirSync(join(folder, prefix), { withFileTypes: true }).flatMap(entry => {
    const path = prefix + entry.name;
    if (entry.isDirectory()) return filesOf(folder, `${path}/`);
    const file = join(folder, path);
    return [{ path, bytes: readFileSync(file), modified: statSync(file).mtimeMs }];
  });
}

/** The `.prose` folder of the examples. */
export const examples = filesOf(join(EXAMPLES, '.prose'));

/** The bytes of an example's file. */
export const example = path => readFileSync(join(EXAMPLES, '.prose', path));

/** What `prosescope` prints in the examples' folder. */
export function prose(...args) {
  const env = { ...process.env, HOME: join(EXAMPLES, 'record'), PROSE_NOW: new Date(NOW).toISOString() };
  return execFileSync(PROSE_BIN, args, { cwd: EXAMPLES, env, stdio: ['ignore', 'pipe', 'ignore'] });
}

/** The JSON that `prosescope` prints. */
export const proseJson = (...args) => JSON.parse(prose(...args, '--json'));

/** What a call throws. */
export function thrown(call) {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error(`${call} threw nothing`);
}
