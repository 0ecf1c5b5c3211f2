// The package as TypeScript sees it, with the library of a page and without; only compiled.
import {
  init, list, open, parseTimeout, redactText,
  NotFoundError, OpenError, ProsescopeError, Run, ShareError, DurationError, UsageError, DefectError,
  type BindingRow, type BrowserFile, type ErrorCode, type Issue, type Overview, type Resolution, type Runs, type RunShared,
  type RunStatus, type SecretFound, type ShareOptions, type SharedFile, type ShareWishes, type StatementStatus, type TextWishes,
  type TreeRow,
} from 'prosescope';
import { initSync, listRuns, openRun } from 'prosescope/sync';
import { continueRun, listPath, openPath, RecordError, Recording, startRun, type Ended } from 'prosescope/node';
import * as worker from 'prosescope/worker';
import wasm from 'prosescope/prosescope.wasm';
import page from 'prosescope/viewer.html';

declare const bytes: Uint8Array;
declare const file: BrowserFile;

const run: Run = openRun(bytes, { now: new Date(), wal: bytes, label: 'a run' });
const overview: Overview = run.overview();
const { status, started, claims }: { status: string; started: string | null; claims: Array<[string, string]> } = overview;
const rows: TreeRow[] = run.trace({ from: 0, len: 10, folded: [1, 2] }).rows;
const all: TreeRow[] = [...run.trace().rows, ...run.rows({ status: 'failed', order: 'longest', atLeastMs: 5 })];
const bindings: BindingRow[] = run.bindings().rows;
const text: string = run.value('draft', { frame: 19 }) + run.value({ file: 'program.prose' });
const whole: Uint8Array = run.valueBytes({ binding: bindings[0].binding }, { frame: 2n ** 60n });
const resolution: Resolution = run.resolve('draft', { frame: '9007199254740993' });
const winner: BindingRow | undefined = resolution.winner?.row;
const issues: Issue[] = run.check().issues;
const rules: string[] = run.check().rules.map(rule => rule.meaning);
const severity: 'note' | 'warning' | 'error' = issues[0].severity;
const kind: 'statement' | 'parallel' | 'branch' | 'loop' | 'round' | 'frame' | 'gate' = rows[0].kind;
const chain: 'empty' | 'gone' | 'consistent' | 'partly sealed' | 'unsealed' | 'contradicted' | 'broken' = run.gates().audit.chain;
// A run may record a word of its own.
const own: RunStatus | StatementStatus = 'paused by hand';
const state: string = run.stateText({ whole: true });
const seconds: number = parseTimeout('2h30m').seconds;
const runs: Runs = listRuns([{ path: 'runs/a/state.db', bytes, modified: 5 }]);
const opened: Promise<Run> = open([file]);
const dropped: Promise<Run> = open(file, { run: 'latest' });
const listed: Promise<Runs> = list([file]);
const folder: Run = openRun({ 'state.md': '# Execution State', 'bindings/a.md': bytes.buffer });
const loaded: Promise<void> = init(wasm);
initSync(bytes);
const at: Promise<Run> = openPath('runs/a', { run: 'latest' });
const there: Promise<string[]> = listPath('.').then(runs => [...runs.map(({ run }) => run), ...runs.issues.map(issue => issue.rule)]);
const known: TextWishes = { personal: true, keep: ['email'], redact: ['/[0-9]+/'], secrets: { API_TOKEN: text } };
const wishes: ShareWishes = { ...known, without: ['values', 'program'], history: true, maxValue: 5, also: ['latest'] };
const options: ShareOptions = { ...wishes, format: 'html', viewer: text };
const looked: RunShared = run.lookToShare(wishes);
const { report, bytes: made }: SharedFile = run.share({ ...options, viewer: page });
const found: SecretFound[] = [...report.found, ...looked.found, ...redactText(text, known).found];
const again: Run = openRun(made);
{
  using scoped = openRun(bytes);
  scoped.files().tables.map(table => table.columns.length);
}
try {
  run.free();
} catch (error) {
  if (error instanceof ProsescopeError) {
    const code: ErrorCode = error.code;
    const hint: string = error.hint;
    [OpenError, NotFoundError, UsageError, ShareError, DurationError, DefectError].some(kind => error instanceof kind);
  }
}
async function remote() {
  const far: worker.RemoteRun = await worker.open(file, { run: 'latest' });
  const headline: string = (await far.overview()).headline;
  for await (const row of far.rows({ len: 5 })) row.text;
  await far.free();
}
async function record(): Promise<string | undefined> {
  const recording: Recording = await startRun('a.prose', { state: 'sqlite', folder: '.', executable: 'prosescope' });
  const begun = await recording.begin(3, { item: 'a', force: true });
  await recording.put(begun.task?.binding ?? null, bytes, { into: begun.id, notDone: true });
  const branches: number[] = (begun.branches ?? []).map(branch => branch.id);
  if ('gate' in begun) await recording.waitAtGate(begun.gate, { for: `${branches.length}m` });
  const ended: Ended = await recording.end(7);
  const both: Ended[] = await recording.end([7, 8], { because: text });
  const gate: string = (await recording.createGate('send', { allow: ['ops'], onReject: 'continue' })).gate;
  await continueRun(recording.run).reject(gate, { as: 'mira', reason: `${both.length}` });
  const { status } = await recording.finish('failed', { error: text });
  return await recording.next().then(next => next.choices[0].command, error => error instanceof RecordError ? error.rule : status);
}

// @ts-expect-error a run is recorded, not made
new Recording('x');
// @ts-expect-error a rejection has a reason
continueRun('x').reject('send');
// @ts-expect-error no such status
continueRun('x').finish('done');
// @ts-expect-error a path is not bytes
openRun(5);
// @ts-expect-error a run is opened, not made
new Run();
// @ts-expect-error no such option
openRun(bytes, { nwo: 5 });
// @ts-expect-error a browser's files are not there at once
openRun(file);
// @ts-expect-error no such field
overview.state;
// @ts-expect-error no row is of that kind
rows[0].kind === 'session';
// @ts-expect-error an index is a number
run.value({ binding: 'draft' });
// @ts-expect-error no such kind of row
run.trace({ kind: 'session' });
// @ts-expect-error no such wish
run.lookToShare({ witout: ['values'] });
// @ts-expect-error no such content
run.lookToShare({ without: ['history'] });
// @ts-expect-error the form is missing
run.share({ raw: true });
// @ts-expect-error nothing is left out of a text
redactText(text, { without: ['values'] });
