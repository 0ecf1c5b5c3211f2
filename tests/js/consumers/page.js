// A page as a bundler takes it: the run in the page, in the package's worker, and in a module worker of its own.
import { open } from 'prosescope';
import * as far from 'prosescope/worker';

const own = new Worker(new URL('./in-worker.js', import.meta.url), { type: 'module' });

async function look() {
  const bytes = await (await fetch('state.db')).arrayBuffer();
  const here = await open(bytes);
  const there = await far.open(new File([bytes], 'state.db'));
  const told = await new Promise((resolve, reject) => {
    own.onmessage = ({ data }) => resolve(data);
    own.onerror = event => reject(new Error(`the worker: ${event.message}`));
    own.postMessage(bytes);
  });
  const error = await far.open(new Blob(['{}'])).catch(error => `${error.name} ${error.code}`);
  return [here.overview().headline, (await there.overview()).headline, told, error].join('|');
}

look().then(found => { document.title = found; }, error => { document.title = `${error}`; });
