#!/usr/bin/env node
// Starts the program `prosescope`.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { installed } from './program.js';

/** What a shell ends with when it does not find a command. */
const NOT_FOUND = 127;

function fail(message, ...hints) {
  console.error([`error: ${message}`, ...hints.map(hint => `  → ${hint}`)].join('\n'));
  process.exitCode = NOT_FOUND;
}

/** Runs the program to its end, and ends as it did. */
function become(path) {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  let child;
  const pass = signal => child.kill(signal);
  // Before the program starts: a signal that comes at once would end Node alone.
  for (const signal of signals) process.on(signal, pass);
  child = spawn(path, process.argv.slice(2), { stdio: 'inherit' });
  child.on('error', error => fail(`cannot start ${path}: ${error.message}`, 'install the package again'));
  child.on('close', (code, signal) => {
    for (const signal of signals) process.off(signal, pass);
    if (signal == null) return void (process.exitCode ??= code);
    // Whoever started this sees the same end. Where the signal does not end Node, the number that shells use stands for it.
    process.exitCode = 128 + constants.signals[signal];
    process.kill(process.pid, signal);
  });
}

const { path, message, hints } = installed();
if (path === undefined) fail(message, ...hints);
else become(path);
