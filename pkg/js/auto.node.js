import { existsSync, readFileSync } from 'node:fs';
import { initSync, notBeside } from './load.js';
import { viewerBeside } from './wishes.js';

viewerBeside(() => {
  const viewer = new URL('./viewer.html', import.meta.url);
  return existsSync(viewer) ? readFileSync(viewer, 'utf8') : undefined;
});

let bytes;
try {
  bytes = readFileSync(new URL('./prosescope.wasm', import.meta.url));
} catch (cause) {
  // Bundled without it: whoever bundles calls init() with the bytes.
  notBeside(cause);
}
if (bytes) initSync(bytes);
