import { readFileSync } from 'node:fs';
import { initSync, notBeside } from './load.js';

let wasm;
try {
  wasm = readFileSync(new URL('./prosescope.wasm', import.meta.url));
} catch (cause) {
  // Bundled without it: whoever bundles calls init() with the bytes.
  notBeside(cause);
}
if (wasm) initSync(wasm);
