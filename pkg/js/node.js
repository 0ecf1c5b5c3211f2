import { readFileSync } from 'node:fs';
import { initSync } from './index.js';

export * from './index.js';

try {
  initSync(readFileSync(new URL('./prosescope.wasm', import.meta.url)));
} catch {
  // Bundled without its WebAssembly beside it: whoever bundles calls init() with the bytes.
}
