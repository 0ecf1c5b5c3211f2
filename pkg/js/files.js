import { OpenError, UsageError } from './errors.js';

/** Bytes that one `Uint8Array` may have here: lengths cross as 32 bits. */
const MOST = 0xffff_ffff;

/**
 * Whatever may be opened, as paths and bytes that belong together. A promise of it where bytes must be read first.
 */
export function filesOf(input, { label, wal }) {
  const entries = entriesOf(input);
  if (wal != null) {
    if (entries.length !== 1) {
      throw new UsageError('bad-argument', 'the option wal goes with one database', 'give the -wal its path among the files');
    }
    entries.push({ path: `${entries[0].path}-wal`, content: wal });
  }
  const bytes = entries.map(bytesOf);
  const files = {
    label: label ?? labelOf(entries),
    paths: entries.map(entry => entry.path),
    bytes,
    modified: entries.map(entry => entry.modified == null ? NaN : Number(entry.modified)),
  };
  return bytes.some(one => one instanceof Promise)
    ? Promise.all(bytes).then(bytes => ({ ...files, bytes: bytes.map(checked) }))
    : { ...files, bytes: bytes.map(checked) };
}

function entriesOf(input) {
  if (isContent(input)) return [{ path: 'state.db', ...browserFile(input), content: input }];
  if (typeof input === 'object' && input !== null) {
    return typeof input[Symbol.iterator] === 'function'
      ? Array.from(input, entryOf)
      : Object.entries(input).map(([path, content]) => ({ path, content }));
  }
  const what = typeof input === 'string' ? 'a text' : String(input);
  throw notFiles(`${what} is nothing that can be opened`);
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

function bytesOf({ path, content }) {
  if (typeof content === 'string') return new TextEncoder().encode(content);
  if (content instanceof Uint8Array) return content;
  if (ArrayBuffer.isView(content)) return new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
  if (isBuffer(content)) return new Uint8Array(content);
  if (isBlob(content)) return read(content, path);
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

function checked(bytes) {
  if (bytes.length <= MOST) return bytes;
  throw new UsageError('bad-argument', 'a file of more than 4 GB cannot be opened here', 'use `prosescope` for it');
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
