import { readFileSync } from 'node:fs';
import { initSync } from './load.js';

let wasm;
try {
  wasm = readFileSync(new URL('./prosescope.wasm', import.meta.url));
} catch {
  // Bundled without its WebAssembly beside it: whoever bundles calls init() with the bytes.
}
if (wasm) initSync(wasm);
