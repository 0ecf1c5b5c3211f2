// In the viewer's worker: opens `files`, pairs of a path and a file, as the page would, and requests every page of every
// run among them. Returns the opened runs, the errors of the others, the rules of all issues, the time of the slowest
// answer in milliseconds, and the bytes of wasm memory; throws if an answer is missing.
(files) => {
  const seen = { opened: 0, refused: [], rules: [], slowest: [0, ""], memory: 0, answers: 0 };
  const rules = new Set();
  const post = self.postMessage;
  const ask = (body, files = []) => {
    let answer;
    const begun = performance.now();
    self.postMessage = (message) => { answer = message };
    const data = { id: 0, body: JSON.stringify(body), files };
    try { self.dispatchEvent(new MessageEvent("message", { data })) } finally { self.postMessage = post }
    const took = performance.now() - begun;
    const kind = typeof body === "string" ? body : Object.keys(body)[0];
    if (took > seen.slowest[0]) seen.slowest = [took, kind];
    if (!answer || (answer.ok === undefined) === (answer.error === undefined)) throw Error(`${kind}: no answer`);
    seen.answers++;
    return answer;
  };
  // A page that cannot be given is refused with words, as the viewer shows them.
  const page = (kind, body) => {
    const { ok, error } = ask({ [kind]: body });
    if (ok !== undefined) return JSON.parse(ok);
    const { cause, next } = JSON.parse(error);
    if (!cause || !next) throw Error(`${kind}: refused without words: ${error}`);
    return null;
  };
  const first = (most, total) => {
    const all = Array.from({ length: Math.min(most, total ?? 0) }, (_, n) => n);
    if (total > most) all.push(total - 1);
    return all;
  };
  const windows = (kind, body, total) => {
    const starts = new Set([0, 200, Math.max(0, (total ?? 0) - 200), total ?? 0]);
    const pages = [...starts].map((from) => page(kind, { ...body, from, len: 200 }));
    return pages[0];
  };

  const opened = ask({ open_files: { label: "damaged" } }, files);
  const places = opened.ok === undefined ? [] : JSON.parse(opened.ok).list.runs;
  if (opened.error !== undefined) seen.refused.push(opened.error);
  for (const { place } of places.slice(0, 16)) {
    const { ok, error } = ask({ page: { place, page: "overview" } });
    if (error !== undefined) {
      seen.refused.push(error);
      continue;
    }
    seen.opened++;
    const at = { place };
    const whole = (name) => page("page", { place, page: name });
    for (const { rule } of whole("issues")?.issues ?? []) rules.add(rule);
    for (const name of ["overview", "agents", "gates", "imports", "resume"]) whole(name);
    for (const all of [false, true]) page("state", { place, whole: all });
    windows("program", at, page("program", { place, from: 0, len: 1 })?.total ?? 0);
    const trace = windows("trace", at, page("trace", { place, from: 0, len: 1 })?.total ?? 0);
    const nodes = (trace?.rows ?? []).map((row) => row.node).filter((node) => Number.isInteger(node));
    page("nodes", { place, nodes: nodes.slice(0, 50) });
    for (const node of nodes.slice(0, 16)) {
      for (const kind of ["node", "parent", "reveal"]) page(kind, { place, node });
      page("next_failure", { place, node, forward: node % 2 === 0 });
      page("node_of_row", { place, row: node });
      page("fold", { place, node, folded: true });
    }
    page("fold", { place, node: null, folded: true });
    page("trace", { place, from: 0, len: 200 });
    const bindings = windows("bindings", at, page("bindings", { place, from: 0, len: 1 })?.total ?? 0);
    const value = (of) => {
      const shown = page("value", { place, of, most: 262144 });
      if (shown?.view.len < 1048576) ask({ download: { place, of } });
      if (shown?.is_long) {
        for (const laid_out of [false, true]) {
          const lines = { place, of, most: 262144, laid_out };
          for (const from of [0, 1e9]) page("lines", { of: lines, from, len: 50 });
          for (const number of [0, 7]) page("find_line", { of: lines, text: "e", number });
        }
      }
    };
    for (const binding of first(16, bindings?.total)) {
      page("binding", { place, binding });
      page("binding_place", { place, binding });
      value({ binding });
      value({ summary: binding });
    }
    for (const { name, execution_id } of (bindings?.rows ?? []).slice(0, 3)) {
      for (const from of [null, execution_id ?? null, 1]) page("resolve", { place, name: `${name}`, from });
    }
    const listed = whole("files");
    for (const { path } of (listed?.files ?? []).slice(0, 16)) value({ file: path });
    for (const path of ["../../../etc/passwd", "", "a\0b"]) value({ file: path });
    for (const memory of first(4, 4)) value({ memory });
    for (const { name, rows } of (listed?.tables ?? []).slice(0, 16)) windows("table", { place, table: name }, rows);
  }
  seen.memory = JSON.parse(ask("stats").ok).memory;
  seen.rules = [...rules].sort();
  return seen;
}
