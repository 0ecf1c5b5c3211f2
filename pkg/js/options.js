import { UsageError } from './errors.js';

const whole = value => Number.isSafeInteger(value) && value >= 0 && value < 0xffff_ffff;
const isText = value => typeof value === 'string';

/** What an option may be: whether a value is one, and what to give. */
export const text = [isText, 'give a text'];
export const flag = [value => typeof value === 'boolean', 'give true or false'];
export const number = [whole, 'give a whole number from 0'];
export const numbers = [value => isList(value) && Array.from(value).every(whole), 'give a list of whole numbers'];
export const time = [
  value => (typeof value === 'number' || kind(value) === 'Date') && Number.isFinite(Number(value)),
  'give a Date, or milliseconds since 1970 UTC',
];
export const any = [() => true, ''];
/** An execution's id: beyond 2^53 a BigInt, or the text that the pages have. */
export const frame = [
  value => Number.isSafeInteger(value) || typeof value === 'bigint' || (isText(value) && /^-?\d+$/.test(value)),
  'give the id of an execution row',
];
export const oneOf = (...words) => [value => words.includes(value), `give one of ${words.join(', ')}`];

const kind = value => Object.prototype.toString.call(value).slice(8, -1);
const isList = value => Array.isArray(value) || ArrayBuffer.isView(value);

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
