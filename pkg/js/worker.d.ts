import type { BrowserFiles, Files, ListOptions, OpenOptions, Rows, Run, Runs, WasmSource } from './common.js';
import type { TreeRow } from './views.js';

export * from './errors.js';
export type * from './views.js';
export type * from './common.js';

/** A run that a worker holds: each method of a run, as a promise. `free()` it when done with it. */
export type RemoteRun = {
  [Name in Exclude<keyof Run, 'rows' | 'toJSON' | typeof Symbol.dispose>]:
    (...args: Parameters<Run[Name]>) => Promise<ReturnType<Run[Name]>>;
} & { rows(options?: Rows): AsyncIterable<TreeRow> };

/** What moves where a bundler does not find it: a worker that runs 'prosescope/worker-side', and the WebAssembly. */
export interface WorkerOptions {
  worker?: object;
  wasm?: WasmSource;
}

/** Takes a worker or the WebAssembly of one's own; called before anything else. */
export function init(options?: WorkerOptions): Promise<void>;

/**
 * Opens a run in a worker: the page goes on meanwhile. A browser's files are read there in parts, as they are needed, whatever their size.
 */
export function open(input: Files | BrowserFiles, options?: OpenOptions): Promise<RemoteRun>;

/** Lists the runs of a `.prose` folder, newest first. */
export function list(input: Files | BrowserFiles, options?: ListOptions): Promise<Runs>;
