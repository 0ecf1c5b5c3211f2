import { DefectError, DurationError, NotFoundError, OpenError, ShareError, UsageError } from './errors.js';

const classes = { OpenError, NotFoundError, UsageError, ShareError, DurationError, DefectError };

/** Makes an error for the WebAssembly. */
export function problem(name, code, message, hint, file, runs) {
  return new classes[name](code, message, hint, { file, runs });
}
