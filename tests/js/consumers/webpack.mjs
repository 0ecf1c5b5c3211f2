// Bundles page.js into dist, with no configuration but its place.
import webpack from 'webpack';

webpack({ mode: 'production', entry: './page.js', output: { filename: 'page.js' } }, (failed, stats) => {
  if (failed || stats.hasErrors()) throw failed ?? new Error(stats.toString('errors-only'));
});
