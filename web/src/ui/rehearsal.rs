//! Opens and draws the example unseen while the page waits for a file. The browser compiles a WebAssembly function when
//! it first runs: without this rehearsal, the screen of a small run takes most of its time to compile.

use leptos::mount::mount_to;
use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::pages::view::{RunList, RunSummary};
use wasm_bindgen::JsCast as _;
use wasm_bindgen_futures::JsFuture;

use super::shell::RunShell;
use super::state::{App, Desk};
use crate::client::Client;
use crate::protocol::{OpenedSource, Request, Trouble};

/// How often each run of the example is opened and drawn.
const ROUNDS: u32 = 3;

/// Begins the rehearsal when the page is idle. It ends with the page's first request.
pub(crate) fn begin(client: Client) {
    spawn_local(async move {
        idle().await;
        let unseen = client.unseen();
        for _ in 0..ROUNDS {
            // An error is ignored: without the rehearsal, the first run only opens more slowly.
            if client.has_asked() || rehearse(&client, &unseen).await.is_err() {
                break;
            }
        }
        unseen.stop();
    });
}

async fn rehearse(client: &Client, unseen: &Client) -> Result<(), Trouble> {
    let opened: OpenedSource = unseen.ask(&Request::OpenExample).await?;
    for run in &opened.list.runs {
        unseen.learn(run.place.clone()).await?;
        idle().await;
        if client.has_asked() {
            break;
        }
        let drawn = draw(unseen.clone(), opened.list.clone(), run);
        idle().await;
        drop(drawn);
    }
    Ok(())
}

/// Waits until the page has nothing else to do.
async fn idle() {
    let idle = js_sys::Promise::new(&mut |done, _| {
        request_idle_callback(move || {
            let _ = done.call0(&wasm_bindgen::JsValue::NULL);
        });
    });
    let _ = JsFuture::from(idle).await;
}

/// Draws a run into an element that is not part of the document. Dropping the result removes it.
fn draw(client: Client, list: RunList, run: &RunSummary) -> Option<impl Sized + use<>> {
    let apart = document().create_element("div").ok()?.dyn_into().ok()?;
    let (place, key) = (run.place.clone(), run.id.clone());
    Some(mount_to(apart, move || {
        let app = App::rehearsing(client, &key);
        app.desk.set(Desk::Open(list));
        provide_context(app);
        view! { <RunShell place key/> }
    }))
}
