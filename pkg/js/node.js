import './auto.node.js';
import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OpenError, UsageError } from './errors.js';
import { inBlocks } from './files.js';
import { raw } from './load.js';
import { checked, LIST, OPEN } from './options.js';
import { listFiles, openFiles } from './run.js';

export * from './index.js';
export * from './record.js';

/** Opens the run at a path: a database, a shared file, a run's folder, a `.prose` folder, or a project that has one. */
export async function openPath(path, options) {
  const { wal, ...kinds } = OPEN;
  const asked = checked(options, kinds);
  return openFiles(filesAt(path, asked), asked);
}

/** Lists the runs at a path, newest first. */
export async function listPath(path, options) {
  const asked = checked(options, LIST);
  return listFiles(filesAt(path, asked), asked);
}

function filesAt(path, { label }) {
  if (typeof path !== 'string' && !(path instanceof URL)) {
    throw new UsageError('bad-argument', 'this is no path', 'give a text; bytes are what open() takes');
  }
  const at = path instanceof URL ? fileURLToPath(path) : resolve(path);
  const about = ask(statSync, at);
  const name = basename(at);
  const leftOut = [];
  let files;
  if (about.isDirectory()) {
    const inside = join(at, '.prose');
    files = existsSync(inside) ? below(inside, '.prose/', leftOut) : below(at, '', leftOut);
  } else {
    const beside = ['', '-wal', '-journal'].map(end => [`${at}${end}`, `${name}${end}`]);
    files = beside.filter(([file]) => existsSync(file));
  }
  const entries = files.map(([file, path]) => ({ path, ...reader(file) }));
  return {
    label: label ?? name,
    paths: entries.map(entry => entry.path),
    bytes: entries.map(entry => entry.part),
    lengths: entries.map(entry => entry.size),
    modified: entries.map(entry => entry.modified),
    leftOut,
  };
}

/** Why a path cannot be read, by the code of Node's error: the code of ours, and what to do. */
const ABSENT = ['no-such-path', 'check the path'];
const CLOSED = ['no-permission', 'check the permissions of the file and of the folders above it'];
const WHY = { ENOENT: ABSENT, ENOTDIR: ABSENT, EACCES: CLOSED, EPERM: CLOSED };

/** What a function of Node's file system returns for a path, or an error of ours. */
function ask(read, path, options) {
  try {
    return read(path, options);
  } catch (cause) {
    const [code, hint] = WHY[cause.code] ?? ['unreadable', 'check the path'];
    throw new OpenError(code, `${path} cannot be read: ${cause.message}`, hint, { file: path, cause });
  }
}

/** The files below a folder, but for those of folders that no list of runs looks into; links are not followed. */
function below(folder, prefix, leftOut) {
  return ask(readdirSync, folder, { withFileTypes: true }).flatMap(entry => {
    const [file, path] = [join(folder, entry.name), prefix + entry.name];
    if (!entry.isDirectory()) return entry.isFile() ? [[file, path]] : [];
    if (raw('isListed', path)) return below(file, `${path}/`, leftOut);
    leftOut.push(path);
    return [];
  });
}

/** A file that is read in parts. It is open only while a part is read: a `.prose` folder may hold thousands. */
function reader(file) {
  const { size, mtimeMs } = ask(statSync, file);
  const part = inBlocks(size, (from, to) => {
    const bytes = new Uint8Array(to - from);
    const fd = openSync(file, 'r');
    try {
      const now = fstatSync(fd);
      // Fewer bytes than were asked for mean that the file changed.
      if (now.size !== size || now.mtimeMs !== mtimeMs) return bytes.subarray(0, 0);
      for (let read = 0; read < bytes.length;) {
        const more = readSync(fd, bytes, read, bytes.length - read, from + read);
        if (more === 0) return bytes.subarray(0, 0);
        read += more;
      }
    } finally {
      closeSync(fd);
    }
    return bytes;
  });
  return { size, modified: mtimeMs, part };
}
