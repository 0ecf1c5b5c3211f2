import * as glue from './glue.js';
import { DefectError, OpenError, ProsescopeError, UsageError } from './errors.js';

let ready = false;
let loading;

/** Why it is not beside this file, where Node looked for it on import. */
let missed;

/** Notes that: whoever calls without giving it is told. */
export function notBeside(cause) {
  missed = cause;
}

/** Loads the WebAssembly: from beside this file, or from what is given. */
export function init(source) {
  if (ready) return Promise.resolve();
  if (source === undefined && missed) return Promise.reject(notLoaded(missed));
  loading ??= load(source).finally(() => { loading = undefined; });
  return loading;
}

/** The same at once, from bytes or a compiled module. */
export function initSync(source) {
  if (ready) return;
  try {
    glue.initSync({ module: source });
  } catch (cause) {
    throw notLoaded(cause);
  }
  ready = true;
}

async function load(source) {
  try {
    await glue.default({ module_or_path: source ?? new URL('./prosescope.wasm', import.meta.url) });
  } catch (cause) {
    throw notLoaded(cause);
  }
  ready = true;
}

function notLoaded(cause) {
  const hint = missed ? 'copy prosescope.wasm beside the bundle, or give init() its bytes'
    : 'give init() the URL or the bytes of prosescope.wasm; the README says how for each bundler '
      + '(Vite before 8 wants optimizeDeps.exclude)';
  const message = `the WebAssembly could not be loaded: ${cause?.message ?? cause}`;
  return new OpenError('init-failed', message, hint, { cause });
}

/** Which WebAssembly instance runs: a new one after each trap. */
let instance = 0;

/** Whether the instance was left in the middle of something: what it holds is not sound any more. */
let broken = false;

/** Calls the WebAssembly; what goes wrong below becomes an error of this package. */
export function call(function_, self, args) {
  if (!ready) {
    if (missed) throw notLoaded(missed);
    throw new UsageError('not-initialised', 'the WebAssembly is not loaded', 'await init() first');
  }
  if (broken) {
    glue.__wbg_reset_state();
    broken = false;
  }
  try {
    return function_.apply(self, args);
  } catch (cause) {
    if (cause instanceof ProsescopeError) throw cause;
    if (cause instanceof TypeError) {
      throw new UsageError('bad-argument', cause.message, 'see the types of this package', { cause });
    }
    // A trap, or the end of the stack. Noted first and mended by the next call, for there may be no room to do it here.
    broken = true;
    instance += 1;
    const hint = 'open a smaller run, or from a shallower stack; if that does not explain it, please report it';
    throw new DefectError('defect', `the WebAssembly stopped: ${cause?.message ?? cause}`, hint, { cause });
  }
}

/** The instance that an object of the WebAssembly belongs to. */
export const now = () => instance;

/** Calls a function of the WebAssembly. */
export const raw = (name, ...args) => call(glue[name], undefined, args);
