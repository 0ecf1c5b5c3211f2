//! Draws the list of texts that will be replaced before sharing: each secret once, with its places.

use std::collections::BTreeMap;

use leptos::prelude::*;
use prosescope_core::pages::view::{RunShared, SecretFound};

use super::Sheet;
use crate::text::words;
use crate::ui::parts::{Empty, live};

/// The maximum number of secrets that are listed ([`LISTED`]), and of places that are shown for each ([`PLACES`]).
const LISTED: usize = 100;
const PLACES: usize = 3;

/// A secret, or a piece of personal data, and the places where it was found.
struct SecretHit {
    name: String,
    personal: bool,
    places: Vec<SecretFound>,
}

pub(super) fn draw(sheet: Sheet) -> AnyView {
    live(move || {
        let looked = sheet.looked.get()?;
        let (hits, more) = hits(&looked.report);
        let total: u64 = looked.report.replaced.iter().map(|of| of.count).sum();
        let count = match total {
            0 => String::new(),
            n => format!(" · {}", words::counted(n, "place", "places")),
        };
        let body = match hits.is_empty() {
            true => view! { <Empty what="Nothing that looks like a secret was found"/> }.into_any(),
            false => view! {
                <ul class="share-hits">{hits.into_iter().map(|hit| one(sheet, hit)).collect_view()}</ul>
                {(more > 0).then(|| view! { <p class="faint">"and "{words::counted(more as u64, "more", "more")}": run `prosescope share --report` to list all"</p> })}
            }.into_any(),
        };
        Some(view! {
            <section>
                <h3>"Replaced"<small>{count}</small></h3>
                {body}
                {kept_names(sheet)}
            </section>
        })
    })
}

/// Returns the found secrets, then the found personal data, and the number of hits that are not listed.
fn hits(report: &RunShared) -> (Vec<SecretHit>, usize) {
    let mut at: BTreeMap<&str, usize> = BTreeMap::new();
    let mut hits: Vec<SecretHit> = Vec::new();
    for found in &report.found {
        let place = *at.entry(&found.name).or_insert_with(|| {
            hits.push(SecretHit {
                name: found.name.clone(),
                personal: found.kind != "secret",
                places: Vec::new(),
            });
            hits.len() - 1
        });
        if let Some(hit) = hits.get_mut(place) {
            hit.places.push(found.clone());
        }
    }
    hits.sort_by_key(|hit| hit.personal);
    let more = hits.len().saturating_sub(LISTED);
    hits.truncate(LISTED);
    (hits, more)
}

fn one(sheet: Sheet, hit: SecretHit) -> AnyView {
    let SecretHit {
        name,
        personal,
        places,
    } = hit;
    let more = places.len().saturating_sub(PLACES);
    let shown = places.into_iter().take(PLACES).map(|found| {
        view! {
            <li>
                <small title=found.place.clone()>{found.at}</small>
                <code dir="auto">{found.before}<mark>{format!("[{}]", found.name)}</mark>{found.after}</code>
            </li>
        }
    });
    let shown = shown.collect_view();
    let keep = name.clone();
    let tone = if personal { "pill quiet" } else { "pill bad" };
    view! {
        <li>
            <div class="share-hit">
                <span class=tone><span>{name.clone()}</span></span>
                <button class="plain" aria-label=format!("Keep {name}") title="Keep this text everywhere in the shared file"
                    on:click=move |_| {
                        let keep = keep.clone();
                        sheet.wishes.update(|wishes| wishes.keep.push(keep));
                    }>"Keep"</button>
            </div>
            <ul>{shown}{(more > 0).then(|| view! { <li><small>"and in "{words::counted(more as u64, "more place", "more places")}</small></li> })}</ul>
        </li>
    }
    .into_any()
}

/// Draws the texts that the user chose to keep, each with a button that replaces it after all.
fn kept_names(sheet: Sheet) -> AnyView {
    live(move || {
        let kept = sheet.wishes.with(|wishes| wishes.keep.clone());
        let kept = kept.into_iter().map(|name| {
            let back = name.clone();
            view! {
                <li><code>{name.clone()}</code><small>"stays"</small>
                    <button class="plain" aria-label=format!("Replace {name}") on:click=move |_| {
                        let back = back.clone();
                        sheet.wishes.update(|wishes| wishes.keep.retain(|name| *name != back));
                    }>"Replace"</button>
                </li>
            }
        });
        view! { <ul class="share-chips">{kept.collect_view()}</ul> }
    })
}
