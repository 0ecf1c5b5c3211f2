// What runs in the worker of 'prosescope/worker'.
import { DefectError, ProsescopeError } from './errors.js';
import { inBlocks } from './files.js';
import { init } from './load.js';
import { listFiles, openFiles } from './run.js';

const runs = new Map();
let opened = 0;

/** A browser's file is read in parts, at once: which workers may. */
function readable(files) {
  const bytes = files.bytes.map((one, at) => {
    if (one instanceof Uint8Array) return one;
    const reader = new FileReaderSync();
    return inBlocks(files.lengths[at], (from, to) => new Uint8Array(reader.readAsArrayBuffer(one.slice(from, to))));
  });
  return { ...files, bytes };
}

const answers = {
  init,
  async open(files, options) {
    await init();
    opened += 1;
    runs.set(opened, openFiles(readable(files), options));
    return opened;
  },
  async list(files, options) {
    await init();
    return listFiles(readable(files), options);
  },
  call(number, name, args) {
    const value = runs.get(number)[name](...args);
    if (name === 'free') runs.delete(number);
    return value;
  },
};

onmessage = async ({ data: { number, what, args } }) => {
  try {
    postMessage({ number, value: await answers[what](...args) });
  } catch (thrown) {
    const error = thrown instanceof ProsescopeError ? thrown
      : new DefectError('defect', `the worker stopped: ${thrown?.message ?? thrown}`, 'please report it');
    const { name, code, message, hint, file, runs } = error;
    postMessage({ number, error: { name, code, message, hint, file, runs } });
  }
};
