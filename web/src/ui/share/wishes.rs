//! Draws the user's choices for sharing: the kinds of content to include, and further texts to replace.

use leptos::prelude::*;
use prosescope_share::what::SharedContent;
use prosescope_share::wishes::Wishes;

use super::Sheet;
use crate::text::words;
use crate::ui::icons;
use crate::ui::parts::live;

/// A switch for one kind of content: its label, its explanation, and its effect on the choices.
struct Switch {
    name: &'static str,
    about: &'static str,
    is_on: fn(&Wishes) -> bool,
    set: fn(&mut Wishes, bool),
    /// The name of this content in the report's list of omissions; empty if the report does not list it.
    left: &'static str,
}

macro_rules! content {
    ($content:ident, $name:literal, $about:literal) => {
        Switch {
            name: $name,
            about: $about,
            is_on: |wishes| !wishes.without.contains(&SharedContent::$content),
            set: |wishes, on| match on {
                true => drop(wishes.without.remove(&SharedContent::$content)),
                false => drop(wishes.without.insert(SharedContent::$content)),
            },
            left: SharedContent::$content.word(),
        }
    };
}

const SWITCHES: [Switch; 7] = [
    content!(Values, "Values", "what statements and agents answered"),
    content!(Prompts, "Prompts", "of agents"),
    content!(Memories, "Memories", "of agents"),
    content!(
        Program,
        "Program",
        "the program's text; the trace keeps the statements that ran"
    ),
    content!(Attachments, "Attachments", "files that values refer to"),
    Switch {
        name: "Personal data",
        about: "names of people, e-mail addresses, home folders",
        is_on: |wishes| wishes.personal,
        set: |wishes, on| wishes.personal = on,
        left: "",
    },
    Switch {
        name: "History",
        about: "older values and memories, which the run replaced by newer ones",
        is_on: |wishes| wishes.history,
        set: |wishes, on| wishes.history = on,
        left: "history",
    },
];

/// The choices for the longest value or file to include: bytes (0 for no limit) and label.
const LENGTHS: [(u64, &str); 4] = [
    (0, "of any length"),
    (1 << 20, "up to 1 MB"),
    (100 << 10, "up to 100 KB"),
    (10 << 10, "up to 10 KB"),
];

pub(super) fn draw(sheet: Sheet, selected: String) -> AnyView {
    view! {
        <section>
            <h3>"Included"</h3>
            <ul class="share-switches">{SWITCHES.map(|switch| row(sheet, switch))}</ul>
            <label class="share-length"><span>"Values and files"</span>
                <select on:change=move |event| {
                    let most = event_target_value(&event).parse().ok().filter(|most| *most > 0);
                    sheet.wishes.update(|wishes| wishes.max_value = most);
                }>
                    {LENGTHS.map(|(most, name)| view! { <option value=most.to_string()>{name}</option> })}
                </select>
            </label>
            {left_out(sheet)}
        </section>
        {additional_texts(sheet, selected)}
    }
    .into_any()
}

fn row(sheet: Sheet, switch: Switch) -> AnyView {
    let Switch {
        name,
        about,
        is_on,
        set,
        left,
    } = switch;
    let out = move || {
        let looked = sheet.looked.get()?;
        let out = looked.report.left_out.iter().find(|of| of.what == left)?;
        Some(format!("{} left out", words::count(out.count)))
    };
    view! {
        <li><label>
            <input type="checkbox" prop:checked=move || sheet.wishes.with(is_on)
                on:change=move |event| {
                    let on = event_target_checked(&event);
                    sheet.wishes.update(|wishes| set(wishes, on));
                }/>
            <span><b>{name}</b>" "<small>{about}</small></span>
            <small class="out">{out}</small>
        </label></li>
    }
    .into_any()
}

/// Draws the omissions that belong to no switch, and notes about audit logs that are sealed again.
fn left_out(sheet: Sheet) -> AnyView {
    live(move || {
        let looked = sheet.looked.get()?;
        let known = |what: &str| SWITCHES.iter().any(|switch| switch.left == what);
        let left = looked
            .report
            .left_out
            .into_iter()
            .filter(|of| !known(&of.what));
        let left = left.map(|of| {
            let size = words::bytes(of.bytes);
            view! { <li>{words::count(of.count)}" "{of.what}" left out"<small>" "{size}</small></li> }
        });
        let left = left.collect_view();
        let names = looked.report.staying.join(", ");
        let staying = (!names.is_empty()).then(|| {
            view! { <li>"These names stay, because the program or a waiting gate needs them: "{names}</li> }
        });
        let sealed = looked.report.sealed_anew.into_iter().map(|log| {
            view! { <li>"The audit log of "{log.run}" is sealed again, because a text in the log is replaced"</li> }
        });
        Some(view! { <ul class="share-left">{left}{staying}{sealed.collect_view()}</ul> })
    })
}

/// Draws the field for further texts to replace, and the texts added so far.
fn additional_texts(sheet: Sheet, selected: String) -> AnyView {
    let text = RwSignal::new(selected);
    let add = move || {
        let new = text.get_untracked().trim().to_owned();
        if new.is_empty() {
            return;
        }
        text.set(String::new());
        sheet.wishes.update(|wishes| {
            if !wishes.redact.contains(&new) {
                wishes.redact.push(new);
            }
        });
    };
    let chips = move || {
        let all = sheet.wishes.with(|wishes| wishes.redact.clone());
        let chips = all.into_iter().map(|asked| {
            let gone = asked.clone();
            view! {
                <li><code dir="auto">{asked.clone()}</code>
                    <button class="icon" aria-label=format!("Do not replace {asked}") on:click=move |_| {
                        let gone = gone.clone();
                        sheet.wishes.update(|wishes| wishes.redact.retain(|text| *text != gone));
                    }>{icons::close()}</button>
                </li>
            }
        });
        chips.collect_view()
    };
    view! {
        <section>
            <h3><label for="share-also">"Replace as well"</label></h3>
            <form class="share-also" on:submit=move |event| {
                event.prevent_default();
                add();
            }>
                <input id="share-also" type="text" autocomplete="off" spellcheck="false" placeholder="a text, or /a pattern/"
                    prop:value=text on:input=move |event| text.set(event_target_value(&event))/>
                <button type="submit">"Add"</button>
            </form>
            <ul class="share-chips">{chips}</ul>
        </section>
    }
    .into_any()
}
