import { filesOf } from './files.js';
import { init } from './load.js';
import { checked, LIST, OPEN } from './options.js';
import { listFiles, openFiles } from './run.js';

export * from './common.js';

/** Opens a run; loads the WebAssembly where that was not done. */
export async function open(input, options) {
  const asked = checked(options, OPEN);
  const [files] = await Promise.all([filesOf(input, asked), init()]);
  return openFiles(files, asked);
}

/** Lists the runs of a `.prose` folder, newest first. */
export async function list(input, options) {
  const asked = checked(options, LIST);
  const [files] = await Promise.all([filesOf(input, asked), init()]);
  return listFiles(files, asked);
}
