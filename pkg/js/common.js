import { raw } from './load.js';
import { textWishes } from './wishes.js';

export * from './errors.js';
export { init } from './load.js';
export { Run } from './run.js';

export const parseTimeout = text => raw('parseTimeout', text);

export const redactText = (text, wishes) => raw('redactText', text, textWishes(wishes));
