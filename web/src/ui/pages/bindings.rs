//! Draws the page of bindings, the named values of a run. The detail shows a value, and why its name resolves to this
//! value.

mod binding;

use std::rc::Rc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::pages::view::{BindingRow, BindingsPage, RunPart};

use crate::protocol::Request;
use crate::route::Page;
use crate::text::words;
use crate::ui::detail::{self, Beside};
use crate::ui::follow::{Carry, KeptItems, ListKeeper, Stand, on_cleanup_local};
use crate::ui::list::{Cursor, Mark, Pages, Rows, Stretch};
use crate::ui::parts::EmptyPart;
use crate::ui::state::{App, ShownRun};

/// Draws the page of bindings.
pub(super) fn draw() -> AnyView {
    let (app, run) = (App::get(), ShownRun::get());
    let pages = Pages::new(move |from, len| async move {
        let request = Request::Bindings {
            place: run.place(),
            from: from as u32,
            len,
        };
        let page: BindingsPage = app.ask(request).await?;
        Ok(Stretch {
            rows: page.rows,
            total: page.total.into(),
        })
    });
    pages.want(0..1);
    let selected = detail::selected();
    let cursor = Cursor::new();
    Effect::new(move || {
        let item = selected.get().filter(|item| !app.follow.is_renamed(item));
        let Some(binding) = item.and_then(|item| item.parse().ok()) else {
            return;
        };
        let here = pages
            .peek(cursor.at.get_untracked())
            .is_some_and(|row| row.binding == binding);
        if !here {
            spawn_local(async move {
                let request = Request::BindingPlace {
                    place: run.place(),
                    binding,
                };
                if let Ok(Some(at)) = app.ask::<Option<u32>>(request).await
                    && !cursor.is_gone()
                {
                    cursor.go(at.into());
                }
            });
        }
    });
    keep(app, pages, cursor);
    let on_key = detail::opening(Page::Bindings, selected, |_, row: &BindingRow| {
        row.binding.to_string()
    });
    let mark = move |row: &BindingRow| Mark {
        selected: selected
            .get()
            .is_some_and(|item| item == row.binding.to_string()),
        fresh: app.follow.is_new_binding(&run.place(), row.binding),
        ..Mark::default()
    };
    // Only whether the list is empty is tracked. Otherwise the list would be drawn anew, and lose the focus, with each
    // added row.
    let nothing = Memo::new(move |_| pages.total.get() == Some(0));
    let list = move || {
        if nothing.get() {
            let why = "This run wrote no value, or the files of its values were not opened.";
            return view! { <EmptyPart part=RunPart::Bindings what="No values" why/> }.into_any();
        }
        let head = view! {
            <span role="columnheader">"Name"</span>
            <span role="columnheader" class="wide">"Scope"</span>
            <span role="columnheader" class="wide">"Begins with"</span>
            <span role="columnheader" class="num">"Size"</span>
        };
        view! {
            <Rows pages height=44.0 label="Values" class="binding-rows" cursor head=head.into_any() draw=draw_row mark on_key/>
        }
        .into_any()
    };
    view! {
        <Beside list=list.into_any() open=selected.into() label="Binding" draw=binding::draw/>
    }
    .into_any()
}

/// Keeps the current row and the first visible row in place when the run is reread.
fn keep(app: App, pages: Pages<BindingRow>, cursor: Cursor) {
    let binding_at = move |row: u64| pages.peek(row).map_or(u32::MAX, |row| row.binding);
    let stood = StoredValue::new(Stand::default());
    let forget = app.follow.keep(ListKeeper {
        kept: Rc::new(move || {
            let stand = cursor.stand();
            stood.set_value(stand);
            KeptItems::Bindings(vec![binding_at(stand.at), binding_at(stand.top)])
        }),
        moved: Rc::new(move |moved| cursor.carry(Carry::of(stood.get_value(), moved))),
    });
    on_cleanup_local(forget);
}

fn draw_row(_: u64, row: &BindingRow) -> AnyView {
    let scope = row.scope.clone();
    let scope_title = if row.frame_path.is_empty() {
        scope.clone()
    } else {
        row.frame_path.clone()
    };
    let size = match (row.stored.as_str(), row.len) {
        ("missing", _) if row.not_given => "not given".to_owned(),
        ("missing", _) => "missing".to_owned(),
        (_, Some(len)) => words::bytes(len),
        (_, None) => "NULL".to_owned(),
    };
    let flags = [
        (row.superseded, "superseded"),
        (row.versions > 1 && !row.superseded, "claimed twice"),
        (
            row.attachment.is_some() && row.attachment_len.is_some(),
            "attachment",
        ),
        (
            row.attachment.is_some() && row.attachment_len.is_none(),
            if row.not_given {
                "attachment not given"
            } else {
                "attachment missing"
            },
        ),
    ];
    let flags = flags
        .into_iter()
        .filter(|(applies, _)| *applies)
        .map(|(_, word)| {
            view! { <em class:bad-words=word == "attachment missing">{word}</em> }
        });
    view! {
        <span role="gridcell" class="two" class:gone=row.superseded title=row.name.clone()>
            <b class="mono" dir="auto">{row.name.clone()}</b>
            <small>
                {row.execution_id.is_some().then(|| view! { <span class="narrow-only">{row.scope.clone()}" · "</span> })}
                {row.kind.clone()}
                {(row.earlier > 0).then(|| view! { <em>{row.earlier}" earlier"</em> })}
                {flags.collect_view()}
                <span class="narrow-preview" dir="auto">{row.preview.clone()}</span>
            </small>
        </span>
        <span role="gridcell" class="wide soft cut" title=scope_title>{scope}</span>
        <span role="gridcell" class="wide preview" dir="auto" title=row.preview.clone()>{row.preview.clone()}</span>
        <span role="gridcell" class="num mono faint">{size}</span>
    }
    .into_any()
}
