//! Lists the files and folders that the user drops.
//!
//! A folder is listed through its `FileSystemEntry`, which returns all files. In Chromium, a page opened from disk may
//! not use that interface. Such a page lists the folder through its `FileSystemHandle`, which silently omits files
//! whose names are unsafe on some systems. The viewer shows a remark for such a folder.

use std::pin::Pin;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use js_sys::{Array, Function, Promise, Reflect};
use leptos::task::spawn_local;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{DataTransfer, DragEvent, File};

use super::{MOST, is_walked, label};
use crate::bytes::apart::{DroppedFile, apart, is_loose};
use crate::protocol::{Missing, Trouble};
use crate::ui::state::{App, OpeningSource};

/// Opens dropped files.
pub(crate) fn on_drop(app: App, event: &DragEvent) {
    let Some(transfer) = event.data_transfer() else {
        return;
    };
    let roots = roots(&transfer);
    if roots.is_empty() {
        app.fail(Trouble {
            found: "Something other than a file.".to_owned(),
            ..Trouble::new(
                "Text and links cannot be opened.",
                "Drop a state.db, a run folder, or a .prose folder.",
            )
        });
        return;
    }
    open_roots(app, "what was dropped", roots, App::open_dropped);
}

/// Opens files and folders again, from the handles that the browser gave for the earlier drop.
pub(crate) fn open_handles(app: App, handles: Vec<JsValue>) {
    let roots = handles
        .into_iter()
        .map(|handle| UnlistedItem::Handle(Promise::resolve(&handle)));
    open_roots(app, "it again", roots.collect(), App::open_as);
}

fn open_roots(app: App, called: &str, roots: Vec<UnlistedItem>, open: fn(App, u32, OpeningSource)) {
    let number = app.begin(called, "Listing files");
    spawn_local(async move {
        let go_on = |listed| app.doing(number, format!("Listing files: {listed}"));
        let so_far = |walked: &Walked| {
            if let Some(what) = what(walked.clone()) {
                app.open_so_far(number, what);
            }
        };
        match walk(roots, go_on, so_far).await {
            Ok(walked) => {
                let failed = walked.failed.clone();
                match what(walked) {
                    Some(what) => open(app, number, what),
                    None => {
                        let trouble = match failed {
                            Some(error) => unreadable(&error),
                            None => Trouble {
                                found: "An empty folder.".to_owned(),
                                ..Trouble::new(
                                    "The folder contains no files, or the browser does not let this page list them.",
                                    "Use “Open folder…” instead.",
                                )
                            },
                        };
                        app.fail_as(number, trouble);
                    }
                }
            }
            Err(ListingStop::TooMany) => {
                let trouble = Trouble {
                    found: format!("More than {MOST} files."),
                    ..Trouble::new(
                        "The viewer does not open that many files; a folder of runs has fewer.",
                        "Drop the .prose folder itself.",
                    )
                };
                app.fail_as(number, trouble);
            }
            Err(ListingStop::Cancelled) => {}
        }
    });
}

/// Converts the listed files to the argument of [`App::open_as`]; `None` if there are no files.
fn what(walked: Walked) -> Option<OpeningSource> {
    let Walked {
        files,
        mut missing,
        handles,
        ..
    } = walked;
    if files.is_empty() {
        return None;
    }
    missing.loose = is_loose(&files);
    let (files, unplaced) = apart(files);
    missing.not_given.extend(unplaced);
    missing.skipped.sort();
    missing.not_given.sort();
    Some(OpeningSource::Files {
        label: label(&files),
        files,
        missing,
        handles,
    })
}

/// A dropped item, or an item of a dropped folder, that is not listed yet.
enum UnlistedItem {
    /// A `FileSystemHandle` that is still a promise.
    Handle(Promise),
    /// A handle, and the path of its parent folder, which ends in `/` or is empty.
    Found(JsValue, String),
    /// A `FileSystemEntry`, and the path of its parent folder.
    Entry(web_sys::FileSystemEntry, String),
    /// A dropped folder: its entry, and a promise of its handle, which is used if the entry cannot be listed.
    Folder(web_sys::FileSystemEntry, Option<Promise>),
    /// A file, and a promise of its handle, with which the file can be opened again.
    File(File, Option<Promise>),
}

fn roots(transfer: &DataTransfer) -> Vec<UnlistedItem> {
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
            roots.push(UnlistedItem::Folder(folder, handle));
        } else if let Ok(Some(file)) = item.get_as_file() {
            // The file is there at once; a handle's file takes two messages to another process of the browser.
            roots.push(UnlistedItem::File(file, handle));
        } else if let Some(handle) = handle {
            roots.push(UnlistedItem::Handle(handle));
        } else if let Some(entry) = entry {
            roots.push(UnlistedItem::Entry(entry, String::new()));
        }
    }
    if roots.is_empty() {
        let list = transfer.files();
        let files = list
            .iter()
            .flat_map(|l| (0..l.length()).filter_map(|i| l.get(i)));
        roots.extend(files.map(|file| UnlistedItem::File(file, None)));
    }
    roots
}

/// The files that were listed so far.
#[derive(Default, Clone)]
struct Walked {
    files: Vec<DroppedFile<File>>,
    /// The files and folders that were skipped or could not be read.
    missing: Missing,
    /// The handles of the dropped files and folders themselves, or promises of them.
    handles: Vec<JsValue>,
    /// The error for the last file that could not be read.
    failed: Option<JsValue>,
}

/// The reason why listing was stopped.
enum ListingStop {
    /// There are too many files.
    TooMany,
    /// The user cancelled the listing.
    Cancelled,
}

/// The number of listing steps to run at the same time. Each step waits for another process of the browser.
const AT_ONCE: usize = 64;

/// The number of subfolders above which a folder is assumed to contain runs.
const MANY: usize = 100;

/// The number of subfolders to list first: as many as the rows that fill a window.
const FIRST: usize = 40;

/// Lists dropped files and folders. `go_on` receives the number of files at every hundredth file; returning `false`
/// cancels. In a folder with more than [`MANY`] subfolders, the last [`FIRST`] by name are listed first, because these
/// are the newest runs. `so_far` is called when these subfolders are listed.
async fn walk(
    roots: Vec<UnlistedItem>,
    go_on: impl Fn(usize) -> bool,
    so_far: impl Fn(&Walked),
) -> Result<Walked, ListingStop> {
    let mut walked = Walked::default();
    let mut later: Vec<(usize, UnlistedItem)> = Vec::new();
    let mut stack: Vec<(usize, UnlistedItem)> = roots.into_iter().enumerate().collect();
    stack.reverse();
    let mut under_way = FuturesUnordered::new();
    loop {
        while under_way.len() < AT_ONCE
            && let Some((given, root)) = stack.pop()
        {
            under_way.push(async move { (given, root.step().await) });
        }
        let Some((given, step)) = under_way.next().await else {
            if later.is_empty() {
                return Ok(walked);
            }
            so_far(&walked);
            stack.append(&mut later);
            continue;
        };
        let before = walked.files.len() / 100;
        match step {
            ListingStep::File(path, file) => walked.files.push((given, path, file)),
            ListingStep::Dropped(file, handle) => {
                walked.handles.extend(handle.map(JsValue::from));
                walked.files.push((given, file.name(), file));
            }
            ListingStep::Inside(mut inside) => {
                let is_long = inside.len() > MANY && inside.iter().all(UnlistedItem::is_folder);
                if is_long && later.is_empty() {
                    inside.sort_by_cached_key(UnlistedItem::name);
                    let last = inside.split_off(inside.len() - FIRST);
                    later.extend(inside.into_iter().map(|root| (given, root)));
                    inside = last;
                }
                stack.extend(inside.into_iter().map(|root| (given, root)));
            }
            ListingStep::Given(handle) => {
                walked.handles.push(handle.clone());
                stack.push((given, UnlistedItem::Found(handle, String::new())));
            }
            ListingStep::Hidden(folder, handle) => {
                walked.missing.hidden.push(folder);
                stack.push((given, UnlistedItem::Handle(handle)));
            }
            ListingStep::Skipped(path) => walked.missing.skipped.push(path),
            ListingStep::Failed(path, error) => {
                // An item may be gone or unreadable, or its name may not be valid text. The error is kept, and all
                // other items are listed.
                walked
                    .missing
                    .not_given
                    .extend((!path.is_empty()).then_some(path));
                walked.failed = Some(error);
            }
        }
        let files = walked.files.len();
        if files > MOST {
            return Err(ListingStop::TooMany);
        }
        if files / 100 > before && !go_on(files) {
            return Err(ListingStop::Cancelled);
        }
    }
}

/// The result of listing one item.
enum ListingStep {
    /// A file, with its path.
    File(String, File),
    /// A dropped file, with a promise of its handle.
    Dropped(File, Option<Promise>),
    /// The content of a folder.
    Inside(Vec<UnlistedItem>),
    /// The handle of a dropped file or folder.
    Given(JsValue),
    /// A folder whose entry cannot be listed: its name, and a promise of its handle. The handle may hide files.
    Hidden(String, Promise),
    /// A folder that was skipped, by its path.
    Skipped(String),
    /// An unreadable file or folder, and the error.
    Failed(String, JsValue),
}

impl UnlistedItem {
    fn name(&self) -> String {
        match self {
            UnlistedItem::Found(handle, _) => text(handle, "name"),
            UnlistedItem::Entry(entry, _) | UnlistedItem::Folder(entry, _) => entry.name(),
            UnlistedItem::File(file, _) => file.name(),
            UnlistedItem::Handle(_) => String::new(),
        }
    }

    fn is_folder(&self) -> bool {
        match self {
            UnlistedItem::Found(handle, _) => text(handle, "kind") == "directory",
            UnlistedItem::Entry(entry, _) => entry.is_directory(),
            UnlistedItem::Folder(..) => true,
            UnlistedItem::File(..) | UnlistedItem::Handle(_) => false,
        }
    }

    async fn step(self) -> ListingStep {
        match self {
            UnlistedItem::Handle(handle) => match JsFuture::from(handle).await {
                Ok(handle) => ListingStep::Given(handle),
                Err(error) => ListingStep::Failed(String::new(), error),
            },
            UnlistedItem::Found(handle, above) => {
                let path = format!("{above}{}", text(&handle, "name"));
                match text(&handle, "kind").as_str() {
                    "file" => file(path, call(&handle, "getFile").await),
                    _ => folder(path, async |path| list_handle(&handle, path).await).await,
                }
            }
            UnlistedItem::Entry(entry, above) => {
                let path = format!("{above}{}", entry.name());
                match entry.is_file() {
                    true => file(path, promised(&entry, "file").await),
                    false => folder(path, async |path| list_entry(&entry, path).await).await,
                }
            }
            UnlistedItem::Folder(entry, handle) => {
                let listed = folder(entry.name(), async |path| list_entry(&entry, path).await);
                match (listed.await, handle) {
                    (ListingStep::Failed(..), Some(handle)) => {
                        ListingStep::Hidden(entry.name(), handle)
                    }
                    (listed, _) => listed,
                }
            }
            UnlistedItem::File(file, handle) => ListingStep::Dropped(file, handle),
        }
    }
}

fn file(path: String, file: Result<JsValue, JsValue>) -> ListingStep {
    match file.and_then(|file| file.dyn_into::<File>()) {
        Ok(file) => ListingStep::File(path, file),
        Err(error) => ListingStep::Failed(path, error),
    }
}

async fn folder(
    path: String,
    list: impl AsyncFn(&str) -> Result<Vec<UnlistedItem>, JsValue>,
) -> ListingStep {
    if !is_walked(&path) {
        return ListingStep::Skipped(path);
    }
    match list(&path).await {
        Ok(inside) => ListingStep::Inside(inside),
        Err(error) => ListingStep::Failed(path, error),
    }
}

async fn list_handle(handle: &JsValue, path: &str) -> Result<Vec<UnlistedItem>, JsValue> {
    let values: Function = Reflect::get(handle, &"values".into())?.dyn_into()?;
    let values = values.call0(handle)?;
    let mut inside = Vec::new();
    loop {
        let next = call(&values, "next").await?;
        if Reflect::get(&next, &"done".into())?.is_truthy() {
            return Ok(inside);
        }
        let child = Reflect::get(&next, &"value".into())?;
        inside.push(UnlistedItem::Found(child, format!("{path}/")));
    }
}

async fn list_entry(
    entry: &web_sys::FileSystemEntry,
    path: &str,
) -> Result<Vec<UnlistedItem>, JsValue> {
    let folder: &web_sys::FileSystemDirectoryEntry = entry.unchecked_ref();
    let reader = folder.create_reader();
    let mut inside = Vec::new();
    // Each call returns up to a hundred entries; an empty result marks the end.
    loop {
        let children: Array = promised(&reader, "readEntries").await?.dyn_into()?;
        if children.length() == 0 {
            return Ok(inside);
        }
        // `unchecked_into` is used because Chromium does not expose the class of the entries, so `dyn_into` would fail.
        let children = children.iter().map(JsValue::unchecked_into);
        inside.extend(children.map(|child| UnlistedItem::Entry(child, format!("{path}/"))));
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

/// Calls a method that takes one callback for success and one for failure, and returns the result as a future.
async fn promised(object: &JsValue, method: &str) -> Result<JsValue, JsValue> {
    let function: Function = Reflect::get(object, &method.into())?.dyn_into()?;
    let promise = Promise::new(&mut |done, failed| {
        if let Err(error) = function.call2(object, &done, &failed) {
            // The result is ignored, because the error reaches the caller through the rejected promise.
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
