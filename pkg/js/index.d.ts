import type { BrowserFile, ListOptions, OpenOptions, Files, BrowserFiles, Run, Runs } from './common.js';

export * from './common.js';
export type { BrowserFile };

/**
 * Opens a run, and loads the WebAssembly where that was not done. Whatever is odd in a run becomes an issue of it; an `OpenError`
 * comes only when nothing is usable.
 */
export function open(input: Files | BrowserFiles, options?: OpenOptions): Promise<Run>;

/** Lists the runs of a `.prose` folder, newest first. */
export function list(input: Files | BrowserFiles, options?: ListOptions): Promise<Runs>;
