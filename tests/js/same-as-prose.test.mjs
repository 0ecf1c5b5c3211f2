// Every page is what `prosescope … --json` prints, and every value what `prosescope get` prints.
import assert from 'node:assert/strict';
import test from 'node:test';
import { listRuns, openRun } from 'prosescope/sync';
import { examples, FAILED, NOW, prose, proseJson, RUNS } from './support.mjs';

const list = proseJson('runs');
const options = { now: NOW, label: list.label };

test('the list of runs', () => {
  assert.deepEqual(listRuns(examples, options), Object.assign(list.runs, { issues: list.issues }));
  // A row and the run's own page have one name for the id.
  for (const { run } of listRuns(examples, options)) assert.equal(openRun(examples, { run }).overview().run, run);
});

for (const id of RUNS) {
  test(`the pages of ${id}`, () => {
    const run = openRun(examples, { ...options, run: id });
    const shown = { overview: run.overview(), program: run.program(), imports: run.imports(), files: run.files(), issues: run.issues() };
    assert.deepEqual(shown, proseJson('show', id));
    const { rules, folder, ...checked } = run.check();
    const report = proseJson('check', id);
    assert.deepEqual([{ ...checked, folder: `.prose/${folder}` }], report.runs);
    assert.deepEqual(rules, report.rules);
    assert.deepEqual(run.trace(), proseJson('trace', id));
    assert.deepEqual(run.timeline(), proseJson('trace', id, '--timeline'));
    const longest = { status: 'completed', atLeastMs: 60000, order: 'longest' };
    const args = ['--status', 'completed', '--at-least', '1m', '--sort', 'longest'];
    assert.deepEqual(run.trace(longest), proseJson('trace', id, ...args));
    assert.deepEqual(run.bindings(), proseJson('bindings', id));
    assert.deepEqual(run.agents(), proseJson('agents', id));
    assert.deepEqual(run.gates().gates, proseJson('gates', id, '--all'));
    assert.deepEqual(run.gates().audit, proseJson('audit', id));
    assert.deepEqual(run.state(), proseJson('state', id));
    assert.equal(run.stateText(), prose('state', id).toString());
    assert.equal(run.stateText({ whole: true }), prose('state', id, '--all').toString());
    run.free();
  });

  test(`the values of ${id}`, () => {
    const run = openRun(examples, { ...options, run: id });
    const { rows } = run.bindings();
    assert.ok(rows.length > 5);
    for (const { name, execution_id: frame } of rows) {
      const from = frame === null ? [] : ['--from', `${frame}`];
      const { resolution, ...view } = proseJson('get', name, '--run', id, ...from);
      assert.deepEqual(run.valueView(name, { frame }), view);
      const { winner, ...candidates } = run.resolve(name, { frame });
      assert.deepEqual(candidates, resolution);
      assert.deepEqual(winner, resolution.candidates[0]);
      const bytes = prose('get', name, '--run', id, ...from);
      assert.deepEqual(Buffer.from(run.valueBytes(name, { frame })), bytes);
      assert.equal(run.value(name, { frame }), bytes.toString());
    }
    run.free();
  });
}

test('windows of pages are parts of them', () => {
  const run = openRun(examples, { ...options, run: FAILED });
  const [trace, bindings, program] = [run.trace(), run.bindings(), run.program()];
  assert.deepEqual(run.trace({ from: 3, len: 4 }), { ...trace, from: 3, rows: trace.rows.slice(3, 7) });
  assert.deepEqual(run.bindings({ from: 2, len: 5 }), { ...bindings, from: 2, rows: bindings.rows.slice(2, 7) });
  assert.deepEqual(run.program({ from: 1, len: 2 }), { ...program, from: 1, lines: program.lines.slice(1, 3) });
  const { columns } = run.files().tables.find(table => table.name === 'execution');
  const table = run.table('execution', { from: 1, len: 2 });
  assert.deepEqual([table.from, table.rows.length], [1, 2]);
  assert.deepEqual(table.columns, columns.map(column => column.name));
  // What is folded hides what is below it.
  const { node, descendants } = trace.rows.find(row => row.descendants > 0);
  assert.equal(run.trace({ len: 1, folded: [node] }).total, trace.total - descendants);
  assert.equal(run.node(node).row.node, node);
  run.free();
});
