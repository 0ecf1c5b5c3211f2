import type { RunList } from './views.js';
import type { RedactedText, Run, TextWishes } from './glue.js';

export type * from './views.js';
export * from './errors.js';
export { Run, check, parseTimeout, renderState, resolve } from './glue.js';
export type {
  Checked, RedactedText, Resolution, SharedFile, ShareOptions, ShareWishes, TextWishes, TraceChoice, ValueOf,
} from './glue.js';

/** The bytes of a file; a text stands for its UTF-8. Read in place: leave them as they are until `free()`. */
export type Bytes = ArrayBufferView | ArrayBufferLike | string;

/** A file with its path inside of what is opened. */
export interface FileBytes {
  path: string;
  bytes: Bytes;
  /** When it was last changed: milliseconds since 1970 UTC, or a date. */
  modified?: number | Date;
}

/**
 * A `state.db`, all files of a run folder or a `.prose` folder, or one shared file: the page or zip that `prosescope share` wrote, or a
 * zip of a run's folder. What a file is, its content says.
 */
export type Files = ArrayBufferView | ArrayBufferLike | Iterable<FileBytes> | Record<string, Bytes>;

/** A browser's file or files: of an `<input type=file webkitdirectory>`, a drop. */
export type BrowserFiles = Blob | Iterable<Blob> | FileList;

export interface ListOptions {
  /** The time that it is, for deadlines: milliseconds since 1970 UTC, or a date. The clock's, whenever it is asked. */
  now?: number | Date;
  /** What to call what was opened. */
  label?: string;
}

export interface OpenOptions extends ListOptions {
  /**
   * Which run, where there are several: its id, a unique beginning of it, its `place` as `listRuns` and `imports()`
   * give it, or `latest`, which it is without.
   */
  run?: string;
  /** Which run of a database that holds several; the latest without it. */
  runId?: string;
  /** The `-wal` beside a database that is given as bytes. */
  wal?: Bytes;
}

/**
 * Loads the WebAssembly: from beside this file, or from a URL, a response, or bytes. Node has done it on import;
 * browsers await it once before anything else.
 */
export function init(
  source?: string | URL | Request | Response | Promise<Response> | BufferSource | WebAssembly.Module,
): Promise<void>;

/** The same at once, from bytes or a compiled module. */
export function initSync(source: BufferSource | WebAssembly.Module): void;

/**
 * Opens a run. Whatever is odd in it becomes an issue of the run; it throws an `OpenError` only when nothing is usable.
 * A browser's files are read first, and the WebAssembly loaded: a promise.
 */
export function openRun(input: Files, options?: OpenOptions): Run;
export function openRun(input: BrowserFiles, options?: OpenOptions): Promise<Run>;

/** Lists the runs of a `.prose` folder, newest first. */
export function listRuns(input: Files, options?: ListOptions): RunList;
export function listRuns(input: BrowserFiles, options?: ListOptions): Promise<RunList>;

/**
 * Replaces what looks like a secret or tells of a person in a text, by the rules that runs are shared by. A name such as
 * `[github-token #1]` stands for it, the same wherever the same secret stands in this text.
 */
export function redactText(text: string, wishes?: TextWishes): RedactedText;
