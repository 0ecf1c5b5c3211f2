//! Calls functions of the page's own script (`web/page/boot.js`).

use js_sys::{Function, Reflect};
use wasm_bindgen::prelude::*;

/// Calls a global JavaScript function by its name. Returns `None` if the page has no such function, as under `trunk
/// serve`, or if the function throws.
pub(crate) fn call(name: &str, argument: &JsValue) -> Option<JsValue> {
    let function = Reflect::get(&js_sys::global(), &name.into()).ok()?;
    let function: Function = function.dyn_into().ok()?;
    function.call1(&JsValue::NULL, argument).ok()
}
