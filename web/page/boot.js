// Starts the app of the one-file page: unpacks the wasm, compiles it once, and lets the app start workers that share
// the compiled module. The workers are classic ones from a Blob, because module workers and fetch fail on file://.

// Decodes bytes from text with seven bits per character, as share/src/dense.rs encodes them. Throws for any other
// text.
const prosescopeBytes = (text, length) => {
  const bytes = new Uint8Array(length);
  let held = 0;
  let bits = 0;
  let at = 0;
  const put = (group) => {
    held = ((held << 7) | group) & 0x7fff;
    if ((bits += 7) >= 8) bytes[at++] = held >> (bits -= 8);
  };
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 128) {
      put(code);
      continue;
    }
    const odd = [0, 13, 60][(code - 128) >> 7];
    if (odd === undefined) throw new Error("a part of the page was changed");
    put(odd);
    put(code & 127);
  }
  // If the last group cannot be written directly, another group follows it.
  if (at < length || (at - length) * 8 + bits > 13) throw new Error("a part of the page is missing, or was changed");
  return bytes;
};

// Keeps the page as it was before it started, without a run: a shared page is built from it.
{
  const get = (id) => document.getElementById(id);
  const emptied = (element, change) => {
    const copy = element.cloneNode();
    change?.(copy);
    return copy.outerHTML;
  };
  const title = document.querySelector("title");
  const head = document.head.outerHTML.replace(
    title.outerHTML,
    emptied(title, (copy) => (copy.textContent = "Prosescope")),
  );
  const cut = get("prosescope-cut").outerHTML;
  const summary = emptied(get("prosescope-summary"));
  const noscript = document.querySelector("noscript").outerHTML;
  const packed = get("prosescope-wasm");
  const run = emptied(get("prosescope-run"), (copy) => (copy.dataset.bytes = 0));
  const boot = document.currentScript;
  globalThis.prosescopeViewer = () => {
    const end = get("prosescope-end").outerHTML;
    const parts = [head, "<body>", cut, summary, noscript, packed.outerHTML, run, get("prosescope-glue").outerHTML, boot.outerHTML, end];
    return ["<!doctype html>", '<html lang="en">', ...parts, "</body>", "</html>", ""].join("\n");
  };
}

// Counts the places at which the page names the element with the run. share/src/page.rs counts the same places in the
// file: if there are two, the page and the command line could open different runs, so both refuse the file.
const prosescopeRuns = () => {
  const walker = document.createTreeWalker(document, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT | NodeFilter.SHOW_COMMENT);
  let runs = 0;
  for (let node; (node = walker.nextNode()); ) {
    // The summary and the title are text of the run, in which `=` is escaped; the other texts are scripts and data.
    if (node.nodeType === Node.TEXT_NODE && node.parentElement?.closest("script, title, #prosescope-summary")) continue;
    let text = node.data ?? node.cloneNode().outerHTML;
    if (node.localName === "template") text += node.innerHTML;
    runs += text.match(/=\s*(?:["']|&quot;)?prosescope-run/g)?.length ?? 0;
  }
  return runs;
};

(async () => {
  // The last element of the page, and what follows the run, are there only after the whole page was read.
  if (document.readyState === "loading") await new Promise((read) => addEventListener("DOMContentLoaded", read));
  if (!document.getElementById("prosescope-end")) throw new Error("the end of this page is missing: ask the sender for the file again");
  if (prosescopeRuns() > 1) throw new Error("two elements of this page claim to be its run: ask the sender for the file again");
  const packed = document.getElementById("prosescope-wasm");
  const bytes = prosescopeBytes(packed.textContent, +packed.dataset.bytes);
  packed.remove();
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const response = new Response(stream, { headers: { "content-type": "application/wasm" } });
  const module = await WebAssembly.compileStreaming(response);
  const glue = document.getElementById("prosescope-glue").textContent;
  const role = ";onmessage=e=>{onmessage=null;wasm_bindgen({module_or_path:e.data})}";
  const url = URL.createObjectURL(new Blob([glue, role], { type: "text/javascript" }));
  globalThis.prosescopeWorker = () => {
    const worker = new Worker(url);
    worker.postMessage(module);
    return worker;
  };
  // Returns the run in this page as a file, which is opened like a dropped one. Only the first call returns it.
  let run = document.getElementById("prosescope-run");
  run?.remove();
  globalThis.prosescopeRun = () => {
    if (!run || +run.dataset.bytes === 0) return null;
    const element = run.cloneNode().outerHTML;
    const end = element.lastIndexOf("<");
    const parts = ["<!doctype html>", element.slice(0, end), run.textContent, element.slice(end)];
    run = null;
    let name = "";
    try {
      name = decodeURIComponent(location.pathname.split("/").pop());
    } catch {
      // The file name is not valid percent-encoding; the default name below is used.
    }
    return new File(parts, name || "run.html", { type: "text/html" });
  };
  await wasm_bindgen({ module_or_path: module });
})().catch((error) => {
  const note = document.createElement("p");
  note.className = "boot-error";
  note.setAttribute("role", "alert");
  note.textContent =
    "The viewer could not start: " + error + ". The viewer needs WebAssembly and DecompressionStream: " +
    "Chrome or Edge 108, Firefox 113, Safari 16.4, or newer.";
  document.body.append(note);
});

// Marks texts everywhere on the page: the finder's text, and texts that sharing would replace. The browser draws the
// marks without changing the page's elements. The first match in an item beside a list is scrolled into view, once.
{
  let sought = null;
  let leaving = [];
  let until = 0;
  let asked = 0;
  const bring = (range) => {
    for (let at = range.startContainer.parentElement; at; at = at.parentElement) {
      if (at.scrollHeight <= at.clientHeight || getComputedStyle(at).overflowY === "visible") continue;
      const place = range.getBoundingClientRect().top - at.getBoundingClientRect().top;
      if (place < 0 || place > at.clientHeight) at.scrollTop += place - at.clientHeight / 2;
    }
  };
  const find = (ranges, node, text, needle) => {
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + needle.length);
      ranges.push(range);
    }
  };
  const paint = () => {
    asked = 0;
    const exact = /\p{Lu}/u.test(sought ?? "");
    const fold = (text) => (exact ? text : text.toLowerCase());
    const needle = fold(sought ?? "");
    const [ranges, gone] = [[], []];
    const main = document.querySelector("main");
    const texts = main && document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    for (let node; ranges.length + gone.length < 1000 && (node = texts?.nextNode()); ) {
      for (const text of leaving) find(gone, node, node.data, text);
      const text = fold(node.data);
      // A few letters become longer in lower case; then positions in the two texts differ, so the node is skipped.
      if (needle && text.length === node.data.length) find(ranges, node, text, needle);
    }
    CSS.highlights.set("sought", new Highlight(...ranges));
    CSS.highlights.set("leaving", new Highlight(...gone));
    const beside = ranges.find((range) => range.startContainer.parentElement.closest(".detail"));
    if (beside && performance.now() < until) {
      until = 0;
      bring(beside);
    }
  };
  const observer = new MutationObserver(() => (asked ||= requestAnimationFrame(paint)));
  const begin = () => {
    if (!globalThis.CSS?.highlights) return;
    observer.disconnect();
    CSS.highlights.clear();
    if (!sought && leaving.length === 0) return;
    observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    paint();
  };
  globalThis.prosescopeMark = (text) => {
    sought = text;
    until = performance.now() + 5000;
    begin();
  };
  globalThis.prosescopeMarkLeaving = (texts) => {
    leaving = texts.filter((text) => text).slice(0, 500);
    begin();
  };
}
