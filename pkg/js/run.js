import { Run as Opened } from './glue.js';
import { UsageError } from './errors.js';
import { call, now, raw } from './load.js';
import * as kind from './options.js';
import { fileWishes, runWishes } from './wishes.js';

const { checked, given } = kind;
const WINDOW = { from: kind.number, len: kind.number };
const CHOICE = {
  text: kind.text,
  status: kind.text,
  kind: kind.oneOf('statement', 'parallel', 'branch', 'loop', 'round', 'frame', 'gate'),
  atLeastMs: kind.number,
  order: kind.oneOf('ran', 'longest', 'problems'),
};
const ROWS = { ...WINDOW, folded: kind.numbers, ...CHOICE };
const SEEN_FROM = { frame: kind.frame };
const VIEW = { ...SEEN_FROM, most: kind.number };
const WHOLE = { whole: kind.flag };

/** How many rows rows() asks for at a time. */
const STRETCH = 500;

/** Only this package makes runs. */
const KEY = Symbol('opened');

/** An opened run. Its pages are plain objects: what `prosescope … --json` prints. */
export class Run {
  #opened;
  #instance;

  constructor(key, opened) {
    if (key !== KEY) throw new UsageError('bad-argument', 'a run is opened, not made', 'await open(input)');
    this.#opened = opened;
    this.#instance = now();
  }

  #ask(name, ...args) {
    if (!this.#isOpen) throw new UsageError('freed', 'this run is not open any more', 'open it again');
    return call(Opened.prototype[name], this.#opened, args);
  }

  get #isOpen() {
    return this.#opened !== undefined && this.#instance === now();
  }

  /** A function of the WebAssembly that takes the run. */
  #of(name, ...args) {
    if (!this.#isOpen) throw new UsageError('freed', 'this run is not open any more', 'open it again');
    return raw(name, this.#opened, ...args);
  }

  overview() { return this.#ask('overview'); }
  timeline() { return this.#ask('timeline'); }
  gates() { return this.#ask('gates'); }
  agents() { return this.#ask('agents'); }
  imports() { return this.#ask('imports'); }
  files() { return this.#ask('files'); }
  issues() { return this.#ask('issues'); }
  check() { return this.#of('check'); }

  program(options) {
    const { from, len } = checked(options, WINDOW);
    return this.#ask('program', from, len);
  }

  bindings(options) {
    const { from, len } = checked(options, WINDOW);
    return this.#ask('bindings', from, len);
  }

  trace(options) {
    const { from, len, folded, ...choice } = checked(options, ROWS);
    if (Object.keys(choice).length === 0) {
      return this.#ask('trace', from, len, folded && Uint32Array.from(folded));
    }
    if (folded !== undefined) {
      throw new UsageError('bad-argument', 'rows that are chosen have nothing below them to fold', 'leave out folded');
    }
    const { atLeastMs, ...rest } = choice;
    return this.#ask('chosen', { ...rest, at_least_ms: atLeastMs }, from, len);
  }

  * rows(options) {
    const { from = 0, len = Infinity, ...choice } = checked(options, ROWS);
    for (let at = from; at < from + len;) {
      const { rows, total } = this.trace({ ...choice, from: at, len: Math.min(STRETCH, from + len - at) });
      yield * rows;
      at += rows.length;
      if (rows.length === 0 || at >= total) return;
    }
  }

  node(node) { return this.#ask('node', given(node, 'the number of the node', kind.number)); }

  value(of, options) { return this.#ask('value', of, checked(options, SEEN_FROM).frame); }

  valueBytes(of, options) { return this.#ask('valueBytes', of, checked(options, SEEN_FROM).frame); }

  valueView(of, options) {
    const { frame, most } = checked(options, VIEW);
    return this.#ask('valueView', of, frame, most);
  }

  resolve(name, options) { return this.#of('resolve', name, checked(options, SEEN_FROM).frame); }

  table(name, options) {
    const { from, len } = checked(options, WINDOW);
    return this.#ask('table', name, from, len);
  }

  state(options) { return this.#ask('state', checked(options, WHOLE).whole); }

  stateText(options) { return this.#of('renderState', checked(options, WHOLE).whole); }

  lookToShare(wishes) { return this.#ask('lookToShare', runWishes(wishes)); }

  share(options) { return this.#ask('share', ...fileWishes(options)); }

  free() {
    if (this.#isOpen) call(Opened.prototype.free, this.#opened, []);
    this.#opened = undefined;
  }

  /** What is written of it: its pages are what holds data. */
  toJSON() { return this.#isOpen ? this.overview() : null; }
}

if (Symbol.dispose) Run.prototype[Symbol.dispose] = Run.prototype.free;

/** Opens a run of these files. */
export function openFiles(files, { run, runId, now }) {
  const time = now === undefined ? undefined : Number(now);
  return new Run(KEY, raw('openRun', files, run, runId, time));
}

/** Lists the runs of these files. */
export function listFiles(files, { now }) {
  const time = now === undefined ? undefined : Number(now);
  return raw('listRuns', files, time);
}

export const LIST = { now: kind.time, label: kind.text };
export const OPEN = { ...LIST, run: kind.text, runId: kind.text, wal: kind.any };
