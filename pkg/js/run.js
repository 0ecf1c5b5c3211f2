import { Run as Opened } from './glue.js';
import { UsageError } from './errors.js';
import { call, now, raw } from './load.js';
import { checked, given, millis, number, ROWS, SEEN_FROM, STRETCH, VIEW, WHOLE, WINDOW } from './options.js';
import { fileWishes, runWishes } from './wishes.js';

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

  get #isOpen() {
    return this.#opened !== undefined && this.#instance === now();
  }

  get #alive() {
    if (this.#isOpen) return this.#opened;
    throw new UsageError('freed', 'this run is not open any more', 'open it again');
  }

  /** A method of the run as the WebAssembly has it. */
  #ask(name, ...args) { return call(Opened.prototype[name], this.#alive, args); }

  /** A function of the WebAssembly that takes the run. */
  #of(name, ...args) { return raw(name, this.#alive, ...args); }

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

  node(node) { return this.#ask('node', given(node, 'the number of the node', number)); }

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
export const openFiles = (files, { run, runId, now }) => new Run(KEY, raw('openRun', files, run, runId, millis(now)));

/** The runs of these files. What the search met is a property of the list, because a list without it may be incomplete. */
export function listFiles(files, { now }) {
  const { runs, issues } = raw('listRuns', files, millis(now));
  return Object.assign(runs, { issues });
}
