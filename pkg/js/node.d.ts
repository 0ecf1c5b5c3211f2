import type { ListOptions, OpenOptions, Run, Runs } from './common.js';

export * from './index.js';
export * from './record.js';

/**
 * Opens the run at a path: a database, a shared file, a run's folder, a `.prose` folder, or a project that has one. Files are read in
 * parts, as they are needed; links below a folder are not followed.
 */
export function openPath(path: string | { readonly href: string }, options?: Omit<OpenOptions, 'wal'>): Promise<Run>;

/** Lists the runs at a path, newest first. */
export function listPath(path: string | { readonly href: string }, options?: ListOptions): Promise<Runs>;
