//! Walking what was dropped.
//!
//! A folder is walked by its `FileSystemEntry`, which gives all files. A page from disk may not do that in Chromium: there
//! it is walked by its `FileSystemHandle`, which leaves out, without a word, files whose names are not harmless on every
//! system. The viewer says so of the folder.

use std::pin::Pin;

use js_sys::{Array, Function, Promise, Reflect};
use leptos::task::spawn_local;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{DataTransfer, DragEvent, File};

use super::apart::{Given, apart, is_loose};
use super::{MOST, is_walked, label};
use crate::protocol::{Missing, Trouble};
use crate::ui::state::{App, What};

/// Opens what was dropped.
pub(crate) fn on_drop(app: App, event: &DragEvent) {
    let Some(transfer) = event.data_transfer() else {
        return;
    };
    let roots = roots(&transfer);
    if roots.is_empty() {
        app.fail(Trouble {
            found: "Something that is no file.".to_owned(),
            ..Trouble::new(
                "Text and links cannot be opened.",
                "Drop a state.db, a run folder, or a .prose folder.",
            )
        });
        return;
    }
    open_roots(app, "what was dropped", roots);
}

/// Opens once more what handles were kept of.
pub(crate) fn open_handles(app: App, handles: Vec<JsValue>) {
    let roots = handles
        .into_iter()
        .map(|handle| Root::Found(handle, String::new()));
    open_roots(app, "it again", roots.collect());
}

fn open_roots(app: App, called: &str, roots: Vec<Root>) {
    let number = app.begin(called, "Listing files");
    spawn_local(async move {
        let mut walk = Walk {
            app,
            number,
            files: Vec::new(),
            roots: 0,
            missing: Missing::default(),
            handles: Vec::new(),
            stack: roots,
            failed: None,
        };
        match walk.run().await {
            Ok(()) if walk.files.is_empty() && walk.failed.is_some() => {
                app.fail(unreadable(&walk.failed.unwrap_or_default()));
            }
            Ok(()) if walk.files.is_empty() => app.fail(Trouble {
                found: "An empty folder.".to_owned(),
                ..Trouble::new(
                    "There is no file in it, or the browser gives none.",
                    "Use “Open folder…” instead.",
                )
            }),
            Ok(()) => {
                let Walk {
                    files,
                    mut missing,
                    handles,
                    ..
                } = walk;
                missing.loose = is_loose(&files);
                let (files, unplaced) = apart(files);
                missing.not_given.extend(unplaced);
                missing.skipped.sort();
                missing.not_given.sort();
                app.open_as(
                    number,
                    What::Files {
                        label: label(&files),
                        files,
                        missing,
                        handles,
                    },
                );
            }
            Err(trouble) if app.doing(number, String::new()) => app.fail(trouble),
            Err(_) => {}
        }
    });
}

/// Something to walk.
enum Root {
    /// A `FileSystemHandle`, on its way.
    Handle(Promise),
    /// A handle that is there, and the path of its folder, ending in `/` or empty.
    Found(JsValue, String),
    /// A `FileSystemEntry`, and the path of its folder.
    Entry(web_sys::FileSystemEntry, String),
    /// A folder, and its handle, on its way, for where the entry may not be listed.
    Folder(web_sys::FileSystemEntry, Option<Promise>),
    /// A file.
    File(File),
}

fn roots(transfer: &DataTransfer) -> Vec<Root> {
    let items = transfer.items();
    let mut roots = Vec::new();
    for i in 0..items.length() {
        let Some(item) = items.get(i).filter(|item| item.kind() == "file") else {
            continue;
        };
        let get_handle: Option<Function> = Reflect::get(&item, &"getAsFileSystemHandle".into())
            .ok()
            .and_then(|f| f.dyn_into().ok());
        let handle = get_handle.and_then(|f| f.call0(&item).ok()?.dyn_into::<Promise>().ok());
        let entry = item.webkit_get_as_entry().ok().flatten();
        if let Some(folder) = entry.clone().filter(|entry| entry.is_directory()) {
            roots.push(Root::Folder(folder, handle));
        } else if let Some(handle) = handle {
            roots.push(Root::Handle(handle));
        } else if let Some(entry) = entry {
            roots.push(Root::Entry(entry, String::new()));
        } else if let Ok(Some(file)) = item.get_as_file() {
            roots.push(Root::File(file));
        }
    }
    if roots.is_empty() {
        let list = transfer.files();
        let files = list
            .iter()
            .flat_map(|l| (0..l.length()).filter_map(|i| l.get(i)));
        roots.extend(files.map(Root::File));
    }
    roots
}

struct Walk {
    app: App,
    number: u32,
    files: Vec<Given<File>>,
    /// How many things that were given were begun.
    roots: usize,
    /// What is not among them.
    missing: Missing,
    /// Handles of what was given itself.
    handles: Vec<JsValue>,
    stack: Vec<Root>,
    /// Why the last file that was not given was not.
    failed: Option<JsValue>,
}

impl Walk {
    async fn run(&mut self) -> Result<(), Trouble> {
        self.stack.reverse();
        while let Some(root) = self.stack.pop() {
            let name = match &root {
                Root::Found(handle, above) => format!("{above}{}", text(handle, "name")),
                Root::Entry(entry, above) => format!("{above}{}", entry.name()),
                _ => String::new(),
            };
            let is_given = match &root {
                Root::Handle(_) => false,
                Root::Found(_, above) | Root::Entry(_, above) => above.is_empty(),
                Root::Folder(..) | Root::File(_) => true,
            };
            self.roots += usize::from(is_given);
            let step = match root {
                Root::Handle(promise) => {
                    let handle = JsFuture::from(promise).await;
                    handle.map(|handle| self.stack.push(Root::Found(handle, String::new())))
                }
                Root::Found(handle, above) => self.handle(handle, &above).await,
                Root::Entry(entry, above) => self.entry(&entry, &above).await,
                Root::Folder(entry, handle) => {
                    let listed = self.entry(&entry, "").await;
                    match (listed, handle) {
                        (Err(_), Some(handle)) => {
                            self.missing.hidden.push(entry.name());
                            self.stack.push(Root::Handle(handle));
                            Ok(())
                        }
                        (listed, _) => listed,
                    }
                }
                Root::File(file) => {
                    self.files.push((self.roots, file.name(), file));
                    Ok(())
                }
            };
            if let Err(error) = step {
                // A folder that cannot be listed; the others may be.
                self.missing
                    .not_given
                    .extend((!name.is_empty()).then_some(name));
                self.failed = Some(error);
            }
            if self.files.len() > MOST {
                return Err(Trouble {
                    found: format!("More than {MOST} files."),
                    ..Trouble::new(
                        "That is more than a folder of runs holds.",
                        "Drop the .prose folder itself.",
                    )
                });
            }
            let listed = self.files.len();
            if listed.is_multiple_of(100)
                && !self
                    .app
                    .doing(self.number, format!("Listing files: {listed}"))
            {
                return Err(Trouble::default());
            }
        }
        Ok(())
    }

    /// Keeps a file, or that it was not given: one that went away, or has a name that is no text.
    fn file(&mut self, path: String, file: Result<JsValue, JsValue>) {
        match file.and_then(|file| file.dyn_into::<File>()) {
            Ok(file) => self.files.push((self.roots, path, file)),
            Err(error) => {
                self.missing.not_given.push(path);
                self.failed = Some(error);
            }
        }
    }

    async fn handle(&mut self, handle: JsValue, above: &str) -> Result<(), JsValue> {
        if above.is_empty() {
            self.handles.push(handle.clone());
        }
        let name = text(&handle, "name");
        let path = format!("{above}{name}");
        if text(&handle, "kind") == "file" {
            let file = call(&handle, "getFile").await;
            self.file(path, file);
            return Ok(());
        }
        if !is_walked(&path) {
            self.missing.skipped.push(path);
            return Ok(());
        }
        let values: Function = Reflect::get(&handle, &"values".into())?.dyn_into()?;
        let values = values.call0(&handle)?;
        loop {
            let next = call(&values, "next").await?;
            if Reflect::get(&next, &"done".into())?.is_truthy() {
                return Ok(());
            }
            let child = Reflect::get(&next, &"value".into())?;
            if text(&child, "kind") == "file" {
                let file = call(&child, "getFile").await;
                self.file(format!("{path}/{}", text(&child, "name")), file);
            } else {
                self.stack.push(Root::Found(child, format!("{path}/")));
            }
        }
    }

    async fn entry(
        &mut self,
        entry: &web_sys::FileSystemEntry,
        above: &str,
    ) -> Result<(), JsValue> {
        let path = format!("{above}{}", entry.name());
        if entry.is_file() {
            let file = promised(entry, "file").await;
            self.file(path, file);
            return Ok(());
        }
        if !is_walked(&path) {
            self.missing.skipped.push(path);
            return Ok(());
        }
        let folder: &web_sys::FileSystemDirectoryEntry = entry.unchecked_ref();
        let reader = folder.create_reader();
        // It gives a hundred at a time, and none at the end.
        loop {
            let children: Array = promised(&reader, "readEntries").await?.dyn_into()?;
            if children.length() == 0 {
                return Ok(());
            }
            // Chromium has no name for their class, so it cannot be asked for.
            let children = children.iter().map(JsValue::unchecked_into);
            self.stack
                .extend(children.map(|child| Root::Entry(child, format!("{path}/"))));
        }
    }
}

fn text(object: &JsValue, key: &str) -> String {
    Reflect::get(object, &key.into())
        .ok()
        .and_then(|v| v.as_string())
        .unwrap_or_default()
}

/// Calls a method that returns a promise.
fn call(object: &JsValue, method: &str) -> Pin<Box<dyn Future<Output = Result<JsValue, JsValue>>>> {
    let promise = Reflect::get(object, &method.into())
        .and_then(|f| f.dyn_into::<Function>())
        .and_then(|f| f.call0(object))
        .and_then(|p| p.dyn_into::<Promise>());
    Box::pin(async move { JsFuture::from(promise?).await })
}

/// Calls a method of the older kind, which takes what to do and what to do when it fails.
async fn promised(object: &JsValue, method: &str) -> Result<JsValue, JsValue> {
    let function: Function = Reflect::get(object, &method.into())?.dyn_into()?;
    let promise = Promise::new(&mut |done, failed| {
        if let Err(error) = function.call2(object, &done, &failed) {
            // The rejection carries the same error to whoever awaits.
            let _ = failed.call1(&JsValue::NULL, &error);
        }
    });
    JsFuture::from(promise).await
}

fn unreadable(error: &JsValue) -> Trouble {
    Trouble {
        found: text(error, "message"),
        ..Trouble::new(
            "The browser does not let this page read what was dropped.",
            "Use “Open files…” or “Open folder…” instead.",
        )
    }
}
