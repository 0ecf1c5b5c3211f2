import * as glue from './glue.js';
import { DefectError, OpenError, ProsescopeError, UsageError } from './errors.js';
import { filesOf } from './files.js';
import { fileWishes, runWishes, textWishes } from './wishes.js';

export * from './errors.js';

let ready = false;
let loading;

/** Loads the WebAssembly: from beside this file, or from what is given. */
export function init(source) {
  if (ready) return Promise.resolve();
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
  const hint = 'give init() the URL or the bytes of prosescope.wasm';
  const message = `the WebAssembly could not be loaded: ${cause?.message ?? cause}`;
  return new OpenError('init-failed', message, hint, { cause });
}

export function openRun(input, options) {
  return withFiles(input, options, (files, { run, runId, now }) => {
    const opened = raw.openRun(files.label, files.paths, files.bytes, files.modified, run, runId, now);
    instanceOf.set(opened, instance);
    return opened;
  });
}

export function listRuns(input, options) {
  return withFiles(input, options, (files, { now }) =>
    raw.listRuns(files.label, files.paths, files.bytes, files.modified, now));
}

/** Bytes are opened at once; a browser's files are read first. */
function withFiles(input, options, open) {
  const checked = checkedOptions(options);
  const files = filesOf(input, checked);
  return files instanceof Promise
    ? Promise.all([files, init()]).then(([files]) => open(files, checked))
    : open(files, checked);
}

function checkedOptions(options) {
  const { run, runId, label } = options ?? {};
  for (const [name, value] of Object.entries({ run, runId, label })) {
    if (value != null && typeof value !== 'string') {
      throw new UsageError('bad-argument', `the option ${name} is no text`, 'leave it out, or give a text');
    }
  }
  const now = options?.now == null ? undefined : Number(options.now);
  if (now !== undefined && !Number.isFinite(now)) {
    throw new UsageError('bad-argument', 'the option now is no time', 'give a Date, or milliseconds since 1970 UTC');
  }
  return { ...options, now };
}

export function resolve(run, name, from) {
  return raw.resolve(opened(run), name, from);
}

export function check(run) {
  return raw.check(opened(run));
}

export function renderState(run, whole) {
  return raw.renderState(opened(run), whole);
}

export function parseTimeout(text) {
  return raw.parseTimeout(text);
}

export function redactText(text, wishes) {
  return raw.redactText(text, textWishes(wishes));
}

function opened(run) {
  if (!(run instanceof Run)) throw new UsageError('bad-argument', 'this is no Run', 'give what openRun() returned');
  return alive(run);
}

/** Which WebAssembly instance runs: a new one after each trap. */
let instance = 0;
const instanceOf = new WeakMap();

/** Whether the instance was left in the middle of something: what it holds is not sound any more. */
let broken = false;

/** Calls the WebAssembly; what goes wrong below becomes an error of this package. */
function guarded(call) {
  return function (...args) {
    if (!ready) {
      throw new UsageError('not-initialised', 'the WebAssembly is not loaded', 'await init() first');
    }
    if (broken) {
      glue.__wbg_reset_state();
      broken = false;
    }
    try {
      return call.apply(this, args);
    } catch (cause) {
      if (cause instanceof ProsescopeError) throw cause;
      if (cause instanceof TypeError) throw notTaken(cause);
      // A trap, or the end of the stack. Noted first and mended by the next call, for there may be no room to do it here.
      broken = true;
      instance += 1;
      throw stopped(cause);
    }
  };
}

function notTaken(cause) {
  return new UsageError('bad-argument', cause.message, 'see the types of this package', { cause });
}

function stopped(cause) {
  const hint = 'open a smaller run, or from a shallower stack; if that does not explain it, please report it';
  return new DefectError('defect', `the WebAssembly stopped: ${cause?.message ?? cause}`, hint, { cause });
}

const raw = {};
for (const name of ['openRun', 'listRuns', 'resolve', 'check', 'renderState', 'parseTimeout', 'redactText']) {
  raw[name] = guarded(glue[name]);
}

export const { Run } = glue;
const free = guarded(Run.prototype.free);

function isOpen(run) {
  return run.__wbg_ptr && instanceOf.get(run) === instance;
}

/** The run, unless it was freed. */
function alive(run) {
  if (isOpen(run)) return run;
  throw new UsageError('freed', 'this run is not open any more', 'open it again');
}

for (const name of Object.getOwnPropertyNames(Run.prototype)) {
  if (name === 'constructor' || name === 'free' || name.startsWith('__')) continue;
  const call = guarded(Run.prototype[name]);
  Run.prototype[name] = function (...args) { return call.apply(alive(this), args); };
}

const { lookToShare, share } = Run.prototype;
Run.prototype.lookToShare = function (wishes) { return lookToShare.call(this, runWishes(wishes)); };
Run.prototype.share = function (options) { return share.call(this, ...fileWishes(options)); };

Run.prototype.free = function () {
  if (isOpen(this)) free.call(this);
};
if (Symbol.dispose) Run.prototype[Symbol.dispose] = Run.prototype.free;
