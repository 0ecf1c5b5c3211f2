import { open } from 'prosescope';

onmessage = async ({ data }) => {
  const run = await open(data);
  postMessage(run.overview().headline);
};
