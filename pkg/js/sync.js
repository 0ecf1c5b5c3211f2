import { UsageError } from './errors.js';
import { filesOf } from './files.js';
import { checked, LIST, OPEN } from './options.js';
import { listFiles, openFiles } from './run.js';

export * from './common.js';
export { initSync } from './load.js';

export function openRun(input, options) {
  const asked = checked(options, OPEN);
  return openFiles(atOnce(filesOf(input, asked)), asked);
}

export function listRuns(input, options) {
  const asked = checked(options, LIST);
  return listFiles(atOnce(filesOf(input, asked)), asked);
}

function atOnce(files) {
  if (!(files instanceof Promise)) return files;
  // Nobody waits for them.
  files.catch(() => {});
  throw new UsageError('bad-argument', "a browser's files cannot be read at once", "await open(input) of 'prosescope'");
}
