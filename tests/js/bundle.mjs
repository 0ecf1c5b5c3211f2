// Bundles a script as people do: `node bundle.mjs IN OUT LOADER`.
import { buildSync } from 'esbuild';

const [entry, outfile, wasm] = process.argv.slice(2);
buildSync({
  entryPoints: [entry],
  outfile,
  bundle: true,
  minify: true,
  format: 'esm',
  loader: { '.wasm': wasm },
  assetNames: '[name]',
  logLevel: 'warning',
});
