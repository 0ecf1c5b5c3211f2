/** What went wrong, for programs. */
export type ErrorCode =
  /** A database is damaged, encrypted, cut off, or no database at all. */
  | 'unreadable-database'
  /** There is no file or folder at a path. */
  | 'no-such-path'
  /** The operating system does not permit to read a file or folder. */
  | 'no-permission'
  /** A file cannot be read for another reason: its message has the operating system's. Of a recording: the run is damaged. */
  | 'unreadable'
  /** A shared file is damaged, cut off or empty, or has an entry that is refused. */
  | 'damaged-copy'
  /** A shared file unpacks to more than 1 GB. */
  | 'copy-too-large'
  /** There is no run in what was given. */
  | 'no-run'
  /** Bytes or a file changed while they were being read in place. */
  | 'changed'
  /** There is no such run, value, table or file of a run. */
  | 'not-found'
  /** A name begins several runs; `runs` of the error has the first five. */
  | 'ambiguous'
  /** A shared file has several runs, and the option `run` names none; `runs` of the error has all of them. */
  | 'several-runs'
  /** A path leaves its folder, or is given twice. */
  | 'bad-path'
  /** An argument is not what it should be. */
  | 'bad-argument'
  /** The run was freed. */
  | 'freed'
  /** The WebAssembly is not there yet: `await init()` first. */
  | 'not-initialised'
  /** The WebAssembly could not be loaded. */
  | 'init-failed'
  /** A text is no duration. */
  | 'bad-timeout'
  /** A run is too much for one page. */
  | 'page-too-large'
  /** A database was asked for, and what is shared is none, or more than one. */
  | 'no-one-database'
  /** The viewer is not the one that belongs to this package. */
  | 'bad-viewer'
  /** The run is in a shared file that was changed, or of which that cannot be checked. */
  | 'share-changed'
  /** More secrets were replaced than can be searched for afterwards. */
  | 'too-many-secrets'
  /** Something that was replaced would still be in what is shared. */
  | 'secret-remains'
  /** The file that is shared could not be made. */
  | 'not-written'
  /** The program `prosescope`, which records, is neither installed beside this package nor on the PATH. */
  | 'no-program'
  /** The program could not be started, or ended without an answer. Whether it recorded is not known: `next()` says. */
  | 'program-failed'
  /** A rule refused to record, and nothing was recorded; `rule` of the error names the rule. */
  | 'refused'
  /** Recording failed: a lock, a permission, a full disk, a server. Nothing was recorded. */
  | 'io'
  /** Recorded, but a later step failed: do not repeat the call. */
  | 'recorded'
  /** Memory or stack ran out, or the package has a defect. Runs that were open are gone; new ones can be opened. */
  | 'defect';

/** Every error of this package. */
export class ProsescopeError extends Error {
  /** What went wrong, for programs. */
  readonly code: ErrorCode;
  /** What to do next, for people. */
  readonly hint: string;
  /** The file that it is about. */
  readonly file?: string;
  /** The runs to choose from, as the option `run` takes them. */
  readonly runs?: string[];
}

/** Nothing usable in what was to be opened. Whatever can be read around becomes an issue of the run instead. */
export class OpenError extends ProsescopeError {}
/** What was asked for is not there. */
export class NotFoundError extends ProsescopeError {}
/** The call is wrong. */
export class UsageError extends ProsescopeError {}
/** A text is no duration. */
export class DurationError extends ProsescopeError {}
/** Nothing was shared: a part cannot be read, the file cannot be made, or it would still hold a secret. */
export class ShareError extends ProsescopeError {}
/** Memory or stack ran out, or the package has a defect. */
export class DefectError extends ProsescopeError {}
/** A run was not recorded: the program refused the command, failed, or is missing. With the code `recorded` it was. */
export class RecordError extends ProsescopeError {
  /** The rule that refused, where `code` is `refused`, such as `gate-waits`. */
  readonly rule?: string;
}
