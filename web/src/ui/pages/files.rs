//! Draws the page of all files and tables of a run, including those that OpenProse does not define.

mod table;

use leptos::prelude::*;
use prosescope_core::model::{FileInfo, TableInfo};
use prosescope_core::pages::session::ValueOf;
use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::FilesView;

use crate::route::Page;
use crate::text::words;
use crate::ui::detail::{self, Beside};
use crate::ui::list::{Cursor, Mark, Pages, Rows};
use crate::ui::load::{ask_page, loaded};
use crate::ui::parts::Empty;
use crate::ui::value::Value;

/// A row of the list: a table or a file.
#[derive(Debug, Clone, PartialEq)]
enum FilesRow {
    Table(TableInfo),
    File(FileInfo),
}

impl FilesRow {
    /// Returns the item that identifies the entry in the address: `table:run` or `file:state.md`.
    fn item(&self) -> String {
        match self {
            FilesRow::Table(table) => format!("table:{}", table.name),
            FilesRow::File(file) => format!("file:{}", file.path),
        }
    }
}

/// Draws the page of files and tables.
pub(super) fn draw() -> AnyView {
    let answer = ask_page(pages::Page::Files);
    let cursor = Cursor::new();
    loaded(answer, move |view: FilesView| {
        view! { <List view cursor/> }.into_any()
    })
}

#[component]
fn List(view: FilesView, cursor: Cursor) -> impl IntoView {
    let selected = detail::selected();
    let size: u64 = view.files.iter().map(|file| file.len).sum();
    let mut about = Vec::new();
    if !view.tables.is_empty() {
        about.push(words::counted(view.tables.len() as u64, "table", "tables"));
    }
    if !view.files.is_empty() {
        let files = words::counted(view.files.len() as u64, "file", "files");
        about.push(format!("{files}, {}", words::bytes(size)));
    }
    let entries: Vec<FilesRow> = view
        .tables
        .iter()
        .cloned()
        .map(FilesRow::Table)
        .chain(view.files.into_iter().map(FilesRow::File))
        .collect();
    if entries.is_empty() {
        return view! {
            <Empty what="Nothing here" why="This run is neither a database nor a folder."/>
        }
        .into_any();
    }
    provide_context(StoredValue::new(view.tables));
    let on_key = detail::opening(Page::Files, selected, |_, entry: &FilesRow| entry.item());
    if let Some(at) =
        selected.with_untracked(|item| entries.iter().position(|entry| Some(entry.item()) == *item))
    {
        cursor.begin(at as u64);
    }
    let mark = move |entry: &FilesRow| Mark {
        selected: selected.with(|item| item.as_ref() == Some(&entry.item())),
        ..Mark::default()
    };
    let head = view! {
        <span role="columnheader">"Name"</span>
        <span role="columnheader" class="wide">"What it is"</span>
        <span role="columnheader" class="num">"Rows or size"</span>
    };
    let list = view! {
        <Rows pages=Pages::of(entries) height=32.0 label="Files and tables" class="file-rows" cursor head=head.into_any() draw=row mark on_key/>
    };
    view! {
        <div class="tools"><span class="soft">{about.join(" · ")}</span></div>
        <Beside list=list.into_any() open=selected.into() label="Content" draw=open/>
    }
    .into_any()
}

fn row(_: u64, entry: &FilesRow) -> AnyView {
    match entry {
        FilesRow::Table(table) => {
            let unknown = table.columns.iter().filter(|column| !column.known).count();
            let mut what = vec![table.kind.clone()];
            if !table.known {
                what.push("extension".to_owned());
            } else if unknown > 0 {
                what.push(words::counted(
                    unknown as u64,
                    "unknown column",
                    "unknown columns",
                ));
            }
            let rows = table.rows.map_or_else(
                || "not counted".to_owned(),
                |n| words::counted(n, "row", "rows"),
            );
            view! {
                <span role="gridcell" class="mono cut" title=table.name.clone()>{table.name.clone()}</span>
                <span role="gridcell" class="wide soft cut">{what.join(", ")}</span>
                <span role="gridcell" class="num faint">{rows}</span>
            }
            .into_any()
        }
        FilesRow::File(file) => {
            let role = file.role.clone().unwrap_or_else(|| "not known".to_owned());
            view! {
                <span role="gridcell" class="mono cut" title=file.path.clone()>{file.path.clone()}</span>
                <span role="gridcell" class="wide soft cut">{role}</span>
                <span role="gridcell" class="num faint">{words::bytes(file.len)}</span>
            }
            .into_any()
        }
    }
}

fn open(item: String) -> AnyView {
    if let Some(name) = item.strip_prefix("table:") {
        return table::draw(name);
    }
    match item.strip_prefix("file:") {
        Some(path) => view! {
            <p class="faint">"File"</p>
            <h2 class="statement"><code>{path.to_owned()}</code></h2>
            <Value of=ValueOf::File(path.to_owned()) name=path.to_owned()/>
        }
        .into_any(),
        None => {
            view! { <Empty what="Nothing there" why="There is no such file or table."/> }.into_any()
        }
    }
}
