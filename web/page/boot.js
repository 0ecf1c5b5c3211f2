// Starts the app of the one-file page: unpacks the wasm, compiles it once, and lets the app start workers that share
// the compiled module. A worker is a classic one from a Blob, because module workers and fetch fail on file://.
(async () => {
  const packed = document.getElementById("prosescope-wasm");
  const text = atob(packed.textContent);
  packed.remove();
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
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
  await wasm_bindgen({ module_or_path: module });
})().catch((error) => {
  const note = document.createElement("p");
  note.className = "boot-error";
  note.setAttribute("role", "alert");
  note.textContent =
    "The viewer could not start: " + error + ". It needs WebAssembly and DecompressionStream: " +
    "Chrome or Edge 108, Firefox 113, Safari 16.4, or newer.";
  document.body.append(note);
});
