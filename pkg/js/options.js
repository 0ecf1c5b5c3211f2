import { UsageError } from './errors.js';

const whole = value => Number.isSafeInteger(value) && value >= 0 && value < 0xffff_ffff;
const isText = value => typeof value === 'string';

/** What an option may be: whether a value is one, and what to give. */
export const text = [isText, 'give a text'];
export const flag = [value => typeof value === 'boolean', 'give true or false'];
export const number = [whole, 'give a whole number from 0 to 4,294,967,294'];
const numbers = [value => isList(value) && Array.from(value).every(whole), 'give a list of whole numbers'];
const time = [
  value => (typeof value === 'number' || kind(value) === 'Date') && Number.isFinite(Number(value)),
  'give a Date, or milliseconds since 1970 UTC',
];
const any = [() => true, ''];
/** An execution's id: beyond 2^53 a BigInt, or the text that the pages have. */
const frame = [
  value => Number.isSafeInteger(value) || typeof value === 'bigint' || (isText(value) && /^-?\d+$/.test(value)),
  'give the id of an execution row',
];
const oneOf = (...words) => [value => words.includes(value), `give one of ${words.join(', ')}`];

const kind = value => Object.prototype.toString.call(value).slice(8, -1);
const isList = value => Array.isArray(value) || ArrayBuffer.isView(value);

export const LIST = { now: time, label: text };
export const OPEN = { ...LIST, run: text, runId: text, wal: any };
export const WINDOW = { from: number, len: number };
export const ROWS = {
  ...WINDOW,
  folded: numbers,
  text,
  status: text,
  kind: oneOf('statement', 'parallel', 'branch', 'loop', 'round', 'frame', 'gate'),
  atLeastMs: number,
  order: oneOf('ran', 'longest', 'problems'),
};
export const SEEN_FROM = { frame };
export const VIEW = { ...SEEN_FROM, most: number };
export const WHOLE = { whole: flag };

/** How many rows rows() asks for at a time. */
export const STRETCH = 500;

/** A time in milliseconds, where one is given. */
export const millis = time => time === undefined ? undefined : Number(time);

/** The options that are there, each of its kind. A misspelled one must not pass for none. */
export function checked(options, kinds) {
  if (options == null) return {};
  if (kind(options) !== 'Object') {
    throw new UsageError('bad-argument', 'these are no options', `give an object: { ${Object.keys(kinds)[0]}: … }`);
  }
  const there = Object.entries(options).filter(([, value]) => value != null);
  for (const [name, value] of there) {
    if (!Object.hasOwn(kinds, name)) {
      throw new UsageError('bad-argument', `there is no option ${name}`, `there are ${Object.keys(kinds).join(', ')}`);
    }
    const [is, hint] = kinds[name];
    if (!is(value)) throw new UsageError('bad-argument', `the option ${name} is not what it should be`, hint);
  }
  return Object.fromEntries(there);
}

/** An argument that must be there, and of its kind. */
export function given(value, what, [is, hint]) {
  if (!is(value)) throw new UsageError('bad-argument', `${what} is not what it should be`, hint);
  return value;
}
