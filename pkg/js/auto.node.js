import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { initSync, notBeside } from './load.js';
import { viewerBeside } from './wishes.js';

// In a bundle for CommonJS, `import.meta` has no address, and the bundle's folder is `__dirname`. The whole expression `new URL(…)`
// stays in one place for each file, because bundlers look for it.
const wasm = import.meta.url ? new URL('./prosescope.wasm', import.meta.url) : join(__dirname, 'prosescope.wasm');
const viewer = import.meta.url ? new URL('./viewer.html', import.meta.url) : join(__dirname, 'viewer.html');

viewerBeside(() => existsSync(viewer) ? readFileSync(viewer, 'utf8') : undefined);

let bytes;
try {
  bytes = readFileSync(wasm);
} catch (cause) {
  // Bundled without it: whoever bundles calls init() with the bytes.
  notBeside(cause);
}
if (bytes) initSync(bytes);
