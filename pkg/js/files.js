import { OpenError, UsageError } from './errors.js';

/** Bytes that one `Uint8Array` may have here: lengths cross as 32 bits. */
const MOST = 0xffff_ffff;

/**
 * Whatever may be opened, as paths and bytes that belong together. A promise of it where bytes must be read first; `take` says what
 * becomes of a browser's file.
 */
export function filesOf(input, { label, wal }, take = read) {
  const entries = entriesOf(input);
  if (wal != null) {
    if (entries.length !== 1) {
      throw new UsageError('bad-argument', 'the option wal goes with one database', 'give the -wal its path among the files');
    }
    entries.push({ path: `${entries[0].path}-wal`, content: wal });
  }
  const bytes = entries.map(entry => bytesOf(entry, take));
  const files = {
    label: label ?? labelOf(entries),
    paths: entries.map(entry => entry.path),
    modified: entries.map(entry => entry.modified == null ? NaN : Number(entry.modified)),
  };
  return bytes.some(one => one instanceof Promise)
    ? Promise.all(bytes).then(bytes => ({ ...files, ...held(bytes) }))
    : { ...files, ...held(bytes) };
}

function entriesOf(input) {
  if (isContent(input)) return [{ path: 'state.db', ...browserFile(input), content: input }];
  if (typeof input === 'object' && input !== null) {
    return typeof input[Symbol.iterator] === 'function'
      ? Array.from(input, entryOf)
      : Object.entries(input).map(([path, content]) => ({ path, content }));
  }
  if (typeof input === 'string') {
    const hint = "in Node, openPath(path) of 'prosescope/node' takes a path; else give the bytes";
    throw new UsageError('bad-argument', 'a text is nothing that can be opened', hint);
  }
  throw notFiles(`${String(input)} is nothing that can be opened`);
}

function entryOf(item) {
  if (isBlob(item)) return { ...browserFile(item), content: item };
  const path = item?.path;
  if (typeof path !== 'string') throw notFiles('a file without a path cannot be opened');
  return { path, content: item.bytes, modified: item.modified };
}

/** Path and time of a browser's file; nothing of other bytes. */
function browserFile(file) {
  if (typeof file?.name !== 'string') return {};
  return { path: file.webkitRelativePath || file.name, modified: file.lastModified };
}

function bytesOf({ path, content }, take) {
  if (typeof content === 'string') return new TextEncoder().encode(content);
  if (content instanceof Uint8Array) return content;
  if (ArrayBuffer.isView(content)) return new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
  if (isBuffer(content)) return new Uint8Array(content);
  if (isBlob(content)) return take(content, path);
  throw notFiles(`${path} has no bytes`);
}

async function read(blob, path) {
  try {
    return new Uint8Array(await blob.arrayBuffer());
  } catch (cause) {
    const message = `${path} cannot be read: ${cause?.message ?? cause}`;
    throw new OpenError('unreadable', message, 'choose it again; it may have changed on disk', { file: path, cause });
  }
}

/** Bytes, and how many they are. */
function held(bytes) {
  const length = one => one.length ?? one.size;
  if (bytes.some(one => one.length > MOST)) {
    throw new UsageError('bad-argument', 'a file of more than 4 GB cannot be opened here', "use 'prosescope/worker', or `prosescope`");
  }
  return { bytes, lengths: bytes.map(length) };
}

/** Bytes of a block, and how many blocks of a file are kept. */
const BLOCK = 1 << 18;
const KEPT = 32;

/** Gives parts of a file that is read block by block: pages of a database lie close together. */
export function inBlocks(size, read) {
  const blocks = new Map();
  const block = number => {
    let bytes = blocks.get(number);
    blocks.delete(number);
    bytes ??= read(number * BLOCK, Math.min((number + 1) * BLOCK, size));
    blocks.set(number, bytes);
    if (blocks.size > KEPT) blocks.delete(blocks.keys().next().value);
    return bytes;
  };
  return (from, len) => {
    const part = new Uint8Array(len);
    for (let at = from; at < from + len;) {
      const number = Math.floor(at / BLOCK);
      const found = block(number).subarray(at - number * BLOCK, from + len - number * BLOCK);
      if (found.length === 0) return part.subarray(0, at - from);
      part.set(found, at - from);
      at += found.length;
    }
    return part;
  };
}

function labelOf([first, ...more]) {
  if (first === undefined) return 'no files';
  const [folder, ...below] = first.path.split('/');
  if (more.length === 0) return first.path;
  return below.length > 0 && more.every(entry => entry.path.startsWith(`${folder}/`)) ? folder : 'the given files';
}

const isContent = value => ArrayBuffer.isView(value) || isBuffer(value) || isBlob(value);
const kind = value => Object.prototype.toString.call(value).slice(8, -1);
const isBuffer = value => ['ArrayBuffer', 'SharedArrayBuffer'].includes(kind(value));
const isBlob = value => ['Blob', 'File'].includes(kind(value));

function notFiles(message) {
  return new UsageError('bad-argument', message, 'give bytes, { path: bytes }, [{ path, bytes }], or files of a browser');
}
