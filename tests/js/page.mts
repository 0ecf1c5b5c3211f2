// In a page, with its own library: what a person chose is opened.
import { open, type Run } from 'prosescope';
import * as worker from 'prosescope/worker';

declare const input: HTMLInputElement;

const opened: Promise<Run> = open(input.files!);
const dropped: Promise<Run> = open(new File([], 'state.db'), { run: 'latest' });
const remote: Promise<worker.RemoteRun> = worker.open([...input.files!]);
