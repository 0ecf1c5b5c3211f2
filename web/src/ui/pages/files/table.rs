//! Draws the detail of a database table: its columns, and its rows as stored.

use leptos::prelude::*;
use prosescope_core::model::TableInfo;
use prosescope_core::pages::view::{ShownCell, TableRows};

use crate::protocol::Request;
use crate::text::words;
use crate::ui::cells;
use crate::ui::list::{Cursor, ListCommand, Mark, Pages, Rows, Stretch};
use crate::ui::parts::Empty;
use crate::ui::state::{App, ShownRun};

/// Draws the table with this name.
pub(super) fn draw(name: &str) -> AnyView {
    let tables: StoredValue<Vec<TableInfo>> = expect_context();
    match tables.with_value(|tables| tables.iter().find(|table| table.name == name).cloned()) {
        Some(table) => view! { <Table table/> }.into_any(),
        None => view! { <Empty what="Nothing there" why="There is no such table."/> }.into_any(),
    }
}

#[component]
fn Table(table: TableInfo) -> impl IntoView {
    let (app, run) = (App::get(), ShownRun::get());
    let known = table.rows;
    let name = table.name.clone();
    // The columns in the answers. They are fewer than the table's: computed columns are left out, and of a wide table,
    // only the first columns are included.
    let columns = RwSignal::new(Vec::<String>::new());
    let more_columns = RwSignal::new(0_u32);
    let widths = RwSignal::new(Vec::<usize>::new());
    let pages = Pages::new(move |from, len| {
        let table = name.clone();
        async move {
            let request = Request::Table {
                place: run.place(),
                table,
                from,
                len,
            };
            let page: TableRows = app.ask(request).await?;
            // `try_` methods are used, because the user may have closed the table.
            widths.try_update(|widths| cells::widen(widths, &page.columns, &page.rows));
            if columns.try_with_untracked(Vec::is_empty) == Some(true) {
                columns.try_set(page.columns);
                more_columns.try_set(page.more_columns);
            }
            let got = page.from + page.rows.len() as u64;
            // If the rows are not counted, the list's length is the number of rows read so far. One is added if there
            // may be more, so that the user can scroll on.
            let more = u64::from(page.rows.len() as u64 == u64::from(len));
            let total = page.total.or(known).unwrap_or(got + more);
            Ok(Stretch {
                rows: page.rows,
                total,
            })
        }
    });
    pages.want(0..1);
    let open_row = RwSignal::new(None::<(u64, Vec<ShownCell>)>);
    let on_key = Callback::new(
        move |(key, at, row): (ListCommand, u64, Option<Vec<ShownCell>>)| {
            if matches!(key, ListCommand::Enter | ListCommand::Moved)
                && (key == ListCommand::Enter || open_row.read_untracked().is_some())
            {
                open_row.set(row.map(|row| (at, row)));
            }
        },
    );
    let infos = table.columns.clone();
    let head_of = move |name: String| {
        let info = infos.iter().find(|column| column.name == name);
        let known = info.is_none_or(|column| column.known);
        let declared = info.map_or("", |column| column.declared.as_str());
        let about = if known {
            declared.to_owned()
        } else {
            format!("{declared} (unknown to OpenProse)")
        };
        let name = cells::one_line(&name);
        view! { <span role="columnheader" dir="auto" class:unknown=!known title=about>{name}</span> }
    };
    let head = move || columns.get().into_iter().map(&head_of).collect_view();
    let kind = if table.known {
        table.kind.clone()
    } else {
        format!("{}, extension", table.kind)
    };
    let empty = table.rows == Some(0);
    let count = table.rows.map_or_else(
        || "rows not counted".to_owned(),
        |n| words::counted(n, "row", "rows"),
    );
    let head = head.into_any();
    let draw = |_, cells: &Vec<ShownCell>| row(cells);
    view! {
        <p class="faint">{kind}" · "{count}" · "{words::counted(table.columns.len() as u64, "column", "columns")}</p>
        <h2 class="statement"><code>{table.name.clone()}</code></h2>
        {if empty {
            view! {
                <Empty what="No rows"/>
                <h3>"Columns"</h3>
                <table class="plain-table">{table.columns.iter().map(|column| view! {
                    <tr><th scope="row"><code>{column.name.clone()}</code></th><td class="soft">{column.declared.clone()}</td>
                    <td class="faint">{(!column.known).then_some("unknown to OpenProse")}</td></tr>
                }).collect_view()}</table>
            }.into_any()
        } else {
            view! {
                <div class="table-box" style=("--cols", move || cells::template(&widths.read()))>
                    <Rows pages height=28.0 label=format!("Rows of {}", table.name) class="table-rows" cursor=Cursor::new()
                        main=false head draw=draw mark=|_| Mark::default() on_key/>
                </div>
                {move || (more_columns.get() > 0).then(|| view! {
                    <p class="faint">"and "{words::counted(u64::from(more_columns.get()), "column", "columns")}" more, which are not shown here"</p>
                })}
            }.into_any()
        }}
        {move || open_row.get().map(|(at, cells)| {
            let pairs = columns.get().into_iter().zip(cells).map(|(column, cell)| view! {
                <tr><th scope="row">{column}</th><td dir="auto">{cells::text(&cell)}{cell.cut.then(|| view! { <small class="faint">" … "{words::bytes(cell.len)}" in all"</small> })}</td></tr>
            });
            view! { <h3>"Row "{words::count(at + 1)}</h3><table class="plain-table whole">{pairs.collect_view()}</table> }
        })}
    }
}

fn row(cells: &[ShownCell]) -> AnyView {
    cells
        .iter()
        .map(|cell| {
            let title = cells::beginning(cell);
            let line = cells::one_line(&title);
            view! { <span role="gridcell" class=cells::class(cell) dir="auto" title=title>{line}</span> }
        })
        .collect_view()
        .into_any()
}
