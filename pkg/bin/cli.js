#!/usr/bin/env node
// Starts the program `prosescope`. It is not in this package but in one for each system, of which npm installs the one that fits
// (optionalDependencies in package.json).
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** What a shell ends with when it does not find a command. */
const NOT_FOUND = 127;

/** The program of this system, or `null` where its package is not installed in this version: a folder above may have another. */
function program(name) {
  try {
    const manifest = require.resolve(`${name}/package.json`);
    if (require(manifest).version !== version) return null;
    return join(dirname(manifest), 'bin', process.platform === 'win32' ? 'prosescope.exe' : 'prosescope');
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}

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

const { version, optionalDependencies } = require('./package.json');
const name = `@prosescope/cli-${process.platform}-${process.arch}`;
const path = program(name);
if (path != null) {
  become(path);
} else if (name in optionalDependencies) {
  fail(
    `the program for this system is not installed: the package ${name} is missing in version ${version}`,
    `install it: npm install ${name}@${version}`,
    'npm leaves it out with --omit=optional, and where node_modules or package-lock.json came from another system',
  );
} else {
  const systems = Object.keys(optionalDependencies).map(name => name.replace('@prosescope/cli-', ''));
  fail(
    `there is no program for ${process.platform}-${process.arch}: npm has it for ${systems.join(', ')}`,
    'build it with Rust and a C compiler: cargo install prosescope',
    'the JavaScript library in this package works on every system',
  );
}
