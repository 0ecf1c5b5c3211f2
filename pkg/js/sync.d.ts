import type { Files, ListOptions, OpenOptions, Run, Runs, WasmBytes } from './common.js';

export * from './common.js';

/** Loads the WebAssembly at once, from bytes or a compiled module. Node has done it on import. */
export function initSync(source: WasmBytes): void;

/** Opens a run at once. Whatever is odd in it becomes an issue of the run; it throws an `OpenError` only when nothing is usable. */
export function openRun(input: Files, options?: OpenOptions): Run;

/** Lists the runs of a `.prose` folder at once, newest first. */
export function listRuns(input: Files, options?: ListOptions): Runs;
