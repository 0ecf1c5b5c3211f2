import { UsageError } from './errors.js';
import { checked, flag, text } from './options.js';

const isText = value => typeof value === 'string';
const isTexts = value => Array.isArray(value) && value.every(isText);
const CONTENTS = ['values', 'prompts', 'memories', 'program', 'attachments'];

/** What a wish may be: whether a value is one, and what to give. */
const texts = [isTexts, 'give a list of texts'];
const contents = [
  value => isTexts(value) && value.every(one => CONTENTS.includes(one)),
  `give a list of ${CONTENTS.join(', ')}`,
];
const bytes = [value => Number.isSafeInteger(value) && value >= 0, 'give a whole number of bytes'];
const byName = [
  // A Map has no keys of its own: it would pass for no secrets at all.
  value => typeof value === 'object' && !(Symbol.iterator in value) && Object.values(value).every(isText),
  'give an object of texts: { API_TOKEN: value }',
];

const TEXT = { personal: flag, keep: texts, redact: texts, secrets: byName };
const RUNS = { ...TEXT, without: contents, history: flag, maxValue: bytes, raw: flag, anyway: flag, also: texts };
const FILE = { ...RUNS, format: text, viewer: text };

/** What is wished for a bare text, as the WebAssembly reads it. */
export const textWishes = wishes => asked(checked(wishes, TEXT));

/** What is wished for runs. */
export const runWishes = wishes => asked(checked(wishes, RUNS));

/** Reads the viewer of this package, where its files can be read at once: in Node. */
let ownViewer = () => undefined;

export function viewerBeside(read) { ownViewer = read; }

/** What is wished for a file of runs, its form, and the viewer. */
export function fileWishes(options) {
  const { format, viewer, ...wishes } = checked(options, FILE);
  if (format === undefined) throw new UsageError('bad-argument', 'the option format is missing', 'give html, zip or db');
  return [asked(wishes), format, viewer ?? (format === 'html' ? ownViewer() : undefined)];
}

function asked({ secrets, also, maxValue, ...wishes }) {
  const others = { ...wishes, maxValue };
  delete others.raw;
  const isWished = value => value !== undefined && value !== false && value.length !== 0;
  if (wishes.raw && Object.values(others).some(isWished)) {
    const hint = 'leave out raw, or all wishes but secrets and also';
    throw new UsageError('bad-argument', 'raw shares a run as it is, and something else is wished', hint);
  }
  return JSON.stringify({ wishes: { ...wishes, max_value: maxValue }, secrets, also });
}
