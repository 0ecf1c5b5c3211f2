// Records runs. Each call starts the program once, because only the program holds the lock that all writers of a run heed: Node has no
// file lock. The program has every rule; this file builds a command line, and reads the JSON that the program prints.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { RecordError, UsageError } from './errors.js';
import { checked, text } from './options.js';
import { installed, onPath } from './program.js';

const PLACE = { folder: text, executable: text };

/** Starts a run of the program in a `.prose` file. */
export async function startRun(file, { folder, executable, ...options } = {}) {
  const place = checked({ folder, executable }, PLACE);
  const { run } = await ask(place, ['init'], [file], options);
  return new Recording(run, place);
}

/** Goes on recording in a run. */
export const continueRun = (run, place) => new Recording(run, place);

export class Recording {
  #place;

  constructor(run, place) {
    // Without a name the program would record in the newest run.
    if (typeof run !== 'string' || run === '') throw new UsageError('bad-argument', 'the run has no name', 'give its id as a text');
    this.run = run;
    this.#place = checked(place, PLACE);
  }

  #ask(words, given, options, input) { return ask(this.#place, words.split(' '), given, { ...options, run: this.run }, input); }

  next() { return this.#ask('next', []); }

  brief(execution) { return this.#ask('brief', [execution]); }

  begin(statement, options) {
    if (typeof statement === 'string') return this.#ask('begin', [], { ...options, text: statement });
    return this.#ask('begin', [statement], options);
  }

  async put(name, value, options) {
    if (name === null) return this.#ask('put', [], { ...options, anon: true }, bytes(value));
    return this.#ask('put', [name], options, bytes(value));
  }

  async end(executions, options) {
    // Without a number the program ends the innermost execution, which is not what an empty list means.
    if (executions?.length === 0) throw new UsageError('bad-argument', 'the list of executions is empty', 'give at least one');
    const ended = await this.#ask('end', [executions].flat(), options);
    // Of one execution the program prints an object.
    return Array.isArray(executions) ? [ended].flat() : ended;
  }

  round(loop, options) { return this.#ask('round', [loop], options); }

  fail(error, { execution } = {}) { return this.#ask('fail', [execution, error]); }

  retry(execution, options) { return this.#ask('retry', [execution], options); }

  skip(line, options) { return this.#ask('skip', [line], options); }

  finish(status, { error, ...options } = {}) { return this.#ask('finish', [status, error], options); }

  createGate(gate, options) { return this.#ask('gate create', [gate], options); }

  waitAtGate(gate, options) { return this.#ask('gate wait', [gate], options); }

  approve(gate, options) { return this.#ask('approve', [gate], options); }

  reject(gate, options) { return this.#ask('reject', [gate], options); }

  async setMemory(agent, memory, options) { return this.#ask('agent memory set', [agent], options, bytes(memory)); }

  async addSegment(agent, summary, options) { return this.#ask('agent segment add', [agent], options, bytes(summary)); }
}

/** What the program reads. A value that is missing must not pass for an empty one. */
function bytes(value) {
  if (typeof value === 'string' || value instanceof Uint8Array) return value;
  throw new UsageError('bad-argument', 'the value is not what it should be', 'give a text or a Uint8Array');
}

/** Runs a command to its end, and gives what it prints. */
async function ask({ folder, executable }, words, given, options, input) {
  const own = executable === undefined ? installed() : { path: resolve(executable) };
  const path = own.path ?? onPath();
  if (path === undefined) {
    const hint = [...own.hints, 'or put prosescope on the PATH, or name it as the option executable'].join('; ');
    throw new RecordError('no-program', `recording needs the program prosescope: ${own.message}`, hint);
  }
  // After `--`, a text that begins with a dash is not an option.
  const args = [...words, ...Object.entries(options).flatMap(option), '--json', '--', ...given.filter(one => one != null).map(String)];
  const { code, out, errors } = await ran(path, args, folder, input);
  try {
    if (code === 0) return JSON.parse(out);
    const { message, hints, kind, rule } = JSON.parse(errors.trimEnd().split('\n').at(-1)).error;
    const known = kind === 'usage' ? 'bad-argument' : kind;
    throw new RecordError(known, message, hints.join('; '), { rule });
  } catch (cause) {
    if (cause instanceof RecordError) throw cause;
    const hint = 'next() prints whether the command was recorded; the program must be prosescope in the version of this package';
    throw new RecordError('program-failed', `${path} gave no answer (it ended with ${code}): ${errors.trim()}`, hint, { cause });
  }
}

/** An option as the command line has it: `notDone: true` is `--not-done`. What is false or missing is left out. */
function option([name, value]) {
  const flag = `--${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;
  if (value == null || value === false) return [];
  return [value === true ? flag : `${flag}=${value}`];
}

function ran(path, args, cwd, input) {
  return new Promise((done, reject) => {
    const failed = cause => {
      const message = `cannot start ${path}: ${cause.message}`;
      reject(new RecordError('program-failed', message, 'check the options executable and folder', { cause }));
    };
    let child;
    try {
      child = spawn(path, args, { cwd, stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'], windowsHide: true });
    } catch (cause) {
      return void failed(cause);
    }
    let [out, errors] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', text => { out += text; });
    child.stderr.setEncoding('utf8').on('data', text => { errors += text; });
    // A command that refuses ends before it has read the value; its own error says why.
    child.stdin?.on('error', () => {}).end(input);
    child.on('error', failed);
    child.on('close', (code, signal) => done({ code: code ?? signal, out, errors }));
  });
}
