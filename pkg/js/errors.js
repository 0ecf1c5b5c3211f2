/** Every error of this package. */
export class ProsescopeError extends Error {
  constructor(code, message, hint, { file, runs, rule, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
    if (file !== undefined) this.file = file;
    if (runs !== undefined) this.runs = runs;
    if (rule !== undefined) this.rule = rule;
  }

  // Written out: minifiers rename classes.
  get name() { return 'ProsescopeError'; }
}

export class OpenError extends ProsescopeError {
  get name() { return 'OpenError'; }
}

export class NotFoundError extends ProsescopeError {
  get name() { return 'NotFoundError'; }
}

export class UsageError extends ProsescopeError {
  get name() { return 'UsageError'; }
}

export class DurationError extends ProsescopeError {
  get name() { return 'DurationError'; }
}

export class DefectError extends ProsescopeError {
  get name() { return 'DefectError'; }
}

export class ShareError extends ProsescopeError {
  get name() { return 'ShareError'; }
}

export class RecordError extends ProsescopeError {
  get name() { return 'RecordError'; }
}
