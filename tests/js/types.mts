// The package as TypeScript sees it; only compiled.
import {
  check, init, initSync, listRuns, openRun, parseTimeout, redactText, renderState, resolve,
  NotFoundError, OpenError, ProsescopeError, Run, ShareError, TimeoutError, UsageError, DefectError,
  type BindingRow, type ErrorCode, type Issue, type Overview, type Resolution, type RunList, type RunShared,
  type SecretFound, type ShareOptions, type SharedFile, type ShareWishes, type TextWishes, type TreeRow,
} from 'prosescope';

declare const bytes: Uint8Array;
declare const input: HTMLInputElement;

const run: Run = openRun(bytes, { now: new Date(), wal: bytes, label: 'a run' });
const overview: Overview = run.overview();
const { status, started, claims }: { status: string; started: string | null; claims: Array<[string, string]> } = overview;
const rows: TreeRow[] = run.trace(0, 10, [1, 2]).rows;
const bindings: BindingRow[] = run.bindings().rows;
const text: string = run.value('draft', 19) + run.value({ file: 'program.prose' });
const whole: Uint8Array = run.valueBytes({ binding: bindings[0].binding });
const resolution: Resolution = resolve(run, 'draft');
const winner: BindingRow | undefined = resolution.winner?.row;
const issues: Issue[] = check(run).issues;
const rules: string[] = check(run).rules.map(rule => rule.meaning);
const severity: 'info' | 'warning' | 'error' = issues[0].severity;
const state: string = renderState(run, true);
const seconds: number = parseTimeout('2h30m').seconds;
const list: RunList = listRuns([{ path: 'runs/a/state.db', bytes, modified: 5 }]);
const opened: Promise<Run> = openRun(input.files!);
const dropped: Promise<Run> = openRun(new File([], 'state.db'), { run: 'latest' });
const folder: Run = openRun({ 'state.md': '# Execution State', 'bindings/a.md': bytes.buffer });
const loaded: Promise<void> = init(new URL('https://localhost/prosescope.wasm'));
initSync(bytes as Uint8Array<ArrayBuffer>);
const known: TextWishes = { personal: true, keep: ['email'], redact: ['/[0-9]+/'], secrets: { API_TOKEN: text } };
const wishes: ShareWishes = { ...known, without: ['values', 'program'], history: true, maxValue: 5, also: ['latest'] };
const options: ShareOptions = { ...wishes, format: 'html', viewer: text };
const looked: RunShared = run.lookToShare(wishes);
const { report, bytes: page }: SharedFile = run.share(options);
const found: SecretFound[] = [...report.found, ...looked.found, ...redactText(text, known).found];
const again: Run = openRun(page);
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
    [OpenError, NotFoundError, UsageError, ShareError, TimeoutError, DefectError].some(kind => error instanceof kind);
  }
}

// @ts-expect-error a path is not bytes
openRun(5);
// @ts-expect-error a run is opened, not made
new Run();
// @ts-expect-error no such option
openRun(bytes, { nwo: 5 });
// @ts-expect-error no such field
overview.state;
// @ts-expect-error an index is a number
run.value({ binding: 'draft' });
// @ts-expect-error no such wish
run.lookToShare({ witout: ['values'] });
// @ts-expect-error no such content
run.lookToShare({ without: ['history'] });
// @ts-expect-error the form is missing
run.share({ raw: true });
// @ts-expect-error nothing is left out of a text
redactText(text, { without: ['values'] });
