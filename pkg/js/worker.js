import * as errors from './errors.js';
import { filesOf } from './files.js';
import { checked, LIST, millis, OPEN, ROWS, STRETCH } from './options.js';

export * from './errors.js';

/** The worker that all runs of this page share, once it was asked for, and what waits for its answers. */
let worker;
let made = () => new Worker(new URL('./worker-side.js', import.meta.url), { type: 'module', name: 'prosescope' });
const waiting = new Map();
let asked = 0;

/** Takes another worker, or the WebAssembly's address or bytes, where a bundler moves them. Called before anything else. */
export async function init({ worker: own, wasm } = {}) {
  if (own !== undefined) made = () => own;
  await ask('init', [wasm === undefined ? undefined : wasm instanceof URL ? wasm.href : wasm]);
}

/** Opens a run in the worker. A browser's files are read there in parts, as they are needed. */
export async function open(input, options) {
  const { files, rest } = await sent(input, checked(options, OPEN));
  return new RemoteRun(await ask('open', [files, rest]));
}

/** Lists the runs of a `.prose` folder, newest first. */
export async function list(input, options) {
  const { files, rest } = await sent(input, checked(options, LIST));
  return ask('list', [files, rest]);
}

async function sent(input, { now, ...options }) {
  const files = await filesOf(input, options, blob => blob);
  return { files, rest: { ...options, now: millis(now) } };
}

function ask(what, args) {
  if (worker === undefined) {
    worker = made();
    worker.onmessage = ({ data }) => answered(data);
    worker.onerror = event => gone(event.message);
  }
  asked += 1;
  const number = asked;
  return new Promise((resolve, reject) => {
    waiting.set(number, { resolve, reject });
    worker.postMessage({ number, what, args });
  });
}

function answered({ number, value, error }) {
  const { resolve, reject } = waiting.get(number) ?? {};
  waiting.delete(number);
  if (error) reject?.(new errors[error.name](error.code, error.message, error.hint, error));
  else resolve?.(value);
}

/** The worker did not start, or ended: what was asked gets no answer, and the next question starts another. */
function gone(why) {
  const hint = 'the README says how each bundler finds the worker; init({ worker }) takes one of your own';
  for (const { reject } of waiting.values()) {
    reject(new errors.OpenError('init-failed', `the worker stopped: ${why ?? 'it could not be loaded'}`, hint));
  }
  waiting.clear();
  worker = undefined;
}

const METHODS = [
  'overview', 'program', 'trace', 'timeline', 'node', 'bindings', 'value', 'valueBytes', 'valueView', 'resolve', 'gates',
  'agents', 'imports', 'state', 'stateText', 'files', 'table', 'issues', 'check', 'lookToShare', 'share', 'free',
];

/** A run that a worker holds: each method of a run, as a promise. */
class RemoteRun {
  #run;

  constructor(run) { this.#run = run; }

  static {
    for (const name of METHODS) {
      RemoteRun.prototype[name] = function (...args) { return ask('call', [this.#run, name, args]); };
    }
  }

  async * rows(options) {
    const { from = 0, len = Infinity, ...choice } = checked(options, ROWS);
    for (let at = from; at < from + len;) {
      const { rows, total } = await this.trace({ ...choice, from: at, len: Math.min(STRETCH, from + len - at) });
      yield * rows;
      at += rows.length;
      if (rows.length === 0 || at >= total) return;
    }
  }
}

if (Symbol.asyncDispose) RemoteRun.prototype[Symbol.asyncDispose] = RemoteRun.prototype.free;
