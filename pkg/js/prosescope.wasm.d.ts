/** What a bundler makes of the WebAssembly: its address, its bytes, or a compiled module. `init()` takes each. */
declare const wasm: import('./common.js').WasmSource;
export default wasm;
