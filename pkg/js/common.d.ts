/// <reference lib="esnext.disposable" />
import type {
  AgentsView, BindingsPage, CandidateView, CheckedRun, FilesView, GatesView, ImportsView, Issue, IssuesView, NodeDetail, NodeKind,
  Overview, ProgramView, ResolutionView, RuleView, RunShared, RunSummary, SecretFound, StatementStatus, StateMdView, TableRows, Timeline,
  TimeoutView, TracePage, TreeRow, ValueView,
} from './views.js';

export type * from './views.js';
export * from './errors.js';

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

/** A browser's `File` or `Blob`. */
export interface BrowserFile {
  readonly size: number;
  readonly type: string;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** A browser's file or files: of an `<input type=file webkitdirectory>`, a drop. */
export type BrowserFiles = BrowserFile | Iterable<BrowserFile> | { readonly length: number; item(index: number): BrowserFile | null };

/** The runs of what was given, the newest first. */
export interface Runs extends Array<RunSummary> {
  /** What the search itself met: a folder that was skipped, a database that cannot be opened … Runs may then be missing. */
  issues: Issue[];
}

export interface ListOptions {
  /** The time that it is, for deadlines: milliseconds since 1970 UTC, or a date. The clock's, whenever it is asked. */
  now?: number | Date;
  /** What to call what was opened. */
  label?: string;
}

export interface OpenOptions extends ListOptions {
  /**
   * Which run: its id, a unique beginning of it, its `place` as lists and `imports()` give it, or `latest`, which it is without.
   */
  run?: string;
  /**
   * Which run of a database that holds several: its id, a unique beginning of it, or `latest`. Without it the run that the
   * database's folder is named after, else the latest.
   */
  runId?: string;
  /** The `-wal` beside a database that is given as bytes. */
  wal?: Bytes;
}

/** The WebAssembly's bytes, or a compiled module. */
export type WasmBytes = ArrayBufferView | ArrayBufferLike | object;

/** The WebAssembly's address, a response, bytes or a compiled module. */
export type WasmSource = string | { readonly href: string } | WasmBytes | Promise<object>;

/**
 * Loads the WebAssembly: from beside this package's files, or from what is given. Node has done it on import, and `open` does it where
 * nobody did.
 */
export function init(source?: WasmSource): Promise<void>;

/** An execution's id. Beyond 2^53 it is a text in the pages; a BigInt does as well. */
export type ExecutionId = number | bigint | string;

/** A part of a list. */
export interface Window {
  /** The first row; 0 without it. */
  from?: number;
  /** How many rows; all without it. */
  len?: number;
}

/** Which rows of the trace are meant, and in which order. What is left out chooses all. */
export interface TraceChoice {
  /** A text of the statement or of its error, in any case. */
  text?: string;
  /** A status, in the words of the rows. */
  status?: StatementStatus;
  kind?: NodeKind;
  /** Rows that took at least so many milliseconds. Rows whose times are not recorded are left out. */
  atLeastMs?: number;
  /** As they ran; the longest first; what failed by itself first, then what failed with it, then what is open. */
  order?: 'ran' | 'longest' | 'problems';
}

/** Rows of the trace. Where some are chosen, they have no levels, and nothing is folded. */
export interface Rows extends Window, TraceChoice {
  /** Nodes whose children are left out. */
  folded?: ArrayLike<number>;
}

/** Where a name is looked up from. */
export interface SeenFrom {
  /** The execution whose frame it is; without it the root. */
  frame?: ExecutionId;
}

/**
 * Whose value: a binding by its name, a binding by its index, its row's own summary where the value is an attachment, an agent's memory
 * by the agent's index, a file of the run by its path.
 */
export type ValueOf = string | { binding: number } | { summary: number } | { memory: number } | { file: string };

/** What a name means in a frame: every candidate and why, and the one it means. */
export type Resolution = ResolutionView & {
  /** The candidate that the name means; null: it means nothing there. */
  winner: CandidateView | null;
};

/** What a check of a run found, and what the rules that were found mean. */
export type Checked = CheckedRun & { rules: Array<RuleView> };

/** What is replaced, beside all that looks like a secret or tells of a person. */
export interface TextWishes {
  /** Whether home directories, e-mail addresses, names of people, users and machines stay. */
  personal?: boolean;
  /** What stays: names as a report gives them (`github-token #1`), or rules, of which all stays (`github-token`). */
  keep?: string[];
  /** Texts that are replaced as well; between slashes, regular expressions. */
  redact?: string[];
  /** Values that you know to be secret, by name. They are replaced wherever they stand, in every form. */
  secrets?: Record<string, string>;
}

/** What leaves when runs are shared. Without any, secrets, personal data and what was replaced in the run do not. */
export interface ShareWishes extends TextWishes {
  /** What is left out as a whole. */
  without?: Array<'values' | 'prompts' | 'memories' | 'program' | 'attachments'>;
  /** Whether values and memories that were replaced by newer ones leave, too. */
  history?: boolean;
  /** Bytes of the longest value or file that leaves. */
  maxValue?: number;
  /** Replaces nothing and leaves nothing out; the report says what the file holds. Goes with `secrets` and `also` alone. */
  raw?: boolean;
  /** Shares more secrets than can be searched for after they were replaced. */
  anyway?: boolean;
  /** More runs of what was opened, for the same file: ids, unique beginnings of them, or places. */
  also?: string[];
}

export interface ShareOptions extends ShareWishes {
  /** A page that holds the viewer and the runs, a zip of the runs' files, or the database of the one run. */
  format: 'html' | 'zip' | 'db';
  /** The text of viewer.html, which a page needs. */
  viewer?: string;
}

/** A file that was made, and what was replaced and left out in it. */
export interface SharedFile {
  report: RunShared;
  bytes: Uint8Array<ArrayBuffer>;
}

/** A text without secrets, and what was replaced in it. */
export interface RedactedText {
  text: string;
  found: Array<SecretFound>;
}

/**
 * An opened run. Its pages are plain objects: what `prosescope … --json` prints. Call `free()` when done with it, or hold it with `using`
 * (Node 24 and later).
 */
export class Run {
  private constructor();
  /** What happened, where it stopped and why. */
  overview(): Overview;
  /** The program with what is known of each line. */
  program(options?: Window): ProgramView;
  /** The trace as a list of visible rows, or the rows that are chosen. */
  trace(options?: Rows): TracePage;
  /** Every row of the trace, one after the other. Also for `for await`. */
  rows(options?: Rows): IterableIterator<TreeRow>;
  /** When the rows of the trace were worked on: their bars on one axis, on which idle time is drawn shorter than it was. */
  timeline(): Timeline;
  /** Everything that is known of one node of the trace; null: there is none. */
  node(node: number): NodeDetail | null;
  /** The bindings, root first, then frame by frame. */
  bindings(options?: Window): BindingsPage;
  /** A whole value as text; bytes that are no UTF-8 are replaced. */
  value(of: ValueOf, options?: SeenFrom): string;
  /** A whole value, byte for byte. */
  valueBytes(of: ValueOf, options?: SeenFrom): Uint8Array<ArrayBuffer>;
  /** The beginning of a value, up to `most` bytes (all), and what is known of it. */
  valueView(of: ValueOf, options?: SeenFrom & { most?: number }): ValueView;
  /** What a name means in a frame, and why: every candidate, the winner first. */
  resolve(name: string, options?: SeenFrom): Resolution;
  /** The gates, deadlines and all, and the audit log with what its verification says. */
  gates(): GatesView;
  /** The agents, their invocations, and what changed between them. */
  agents(): AgentsView;
  /** The imports. `open` opens a nested run by its `place`. */
  imports(): ImportsView;
  /** state.md, rendered from the data and as it lies in the folder, with their differences. */
  state(options?: { whole?: boolean }): StateMdView;
  /** state.md as text; `whole` writes the whole program, not only what ran and what is next. */
  stateText(options?: { whole?: boolean }): string;
  /** Every file and every table. */
  files(): FilesView;
  /** Rows of a table, large cells cut. */
  table(name: string, options?: Window): TableRows;
  /** Everything odd that reading met, with its place: errors first. */
  issues(): IssuesView;
  /** Everything that is odd, also what reading does not look for, and what to do about it. Reads the whole database. */
  check(): Checked;
  /** What would be replaced and left out if the run were shared. Makes nothing. */
  lookToShare(wishes?: ShareWishes): RunShared;
  /**
   * Makes one file of the run for somebody else. It throws a `ShareError` when something that was replaced would still be in the file.
   * A database that holds several runs is shared as a whole.
   */
  share(options: ShareOptions): SharedFile;
  /** Gives back what the run holds. Again does nothing. */
  free(): void;
  /** Its overview; null once it is freed. */
  toJSON(): Overview | null;
  [Symbol.dispose](): void;
}

/** Reads a duration as programs write it: `30s`, `4h`, `2h30m`. Throws a `DurationError` that says what is wrong, and where. */
export function parseTimeout(text: string): TimeoutView;

/**
 * Replaces what looks like a secret or tells of a person in a text, by the rules that runs are shared by. A name such as
 * `[github-token #1]` stands for it, the same wherever the same secret stands in this text.
 */
export function redactText(text: string, wishes?: TextWishes): RedactedText;
