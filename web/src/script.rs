//! Calls functions of the page's own script (`web/page/boot.js`).

use js_sys::{Function, Reflect};
use wasm_bindgen::prelude::*;

/// Calls a function by its name; `None` if the page has none of that name, as under `trunk serve`, or if it threw.
pub(crate) fn call(name: &str, argument: &JsValue) -> Option<JsValue> {
    let function = Reflect::get(&js_sys::global(), &name.into()).ok()?;
    let function: Function = function.dyn_into().ok()?;
    function.call1(&JsValue::NULL, argument).ok()
}
