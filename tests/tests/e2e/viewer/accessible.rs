//! Tests the accessibility of every page with axe-core, in light and dark.

use std::fs;

use prosescope_tests::needs;

use super::{FAILED, FINISHED, Viewer, WAITING, example, examples};

/// A JavaScript function that runs axe with these options, and returns each violated rule with its first places.
const FOUND: &str =
    "(only => axe.run(document, {...only, resultTypes: ['violations']}).then(found => found.violations.map(v =>
    `${v.id} (${v.help}): ${v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) + ' ' +
    (n.any[0]?.message ?? n.all[0]?.message ?? '')).join(' | ')}`)))";

/// The rules about colours. In dark colours only these rules are checked, because the other rules give the same result
/// as in light.
const COLOURS: &str = "{runOnly: {type: 'rule', values: ['color-contrast', 'link-in-text-block']}}";

/// Checks the page in light or dark colours.
fn look_in(viewer: &mut Viewer, dark: bool, name: &str, wrong: &mut Vec<String>) {
    viewer.look(1280, 860, dark);
    let only = if dark { COLOURS } else { "{}" };
    let found = viewer.eval(&format!("{FOUND}({only})"));
    let scheme = if dark { "dark" } else { "light" };
    let found = found.as_array().unwrap().iter();
    wrong.extend(found.map(|found| format!("{name}, {scheme}: {}", found.as_str().unwrap())));
}

/// Checks the page in light and dark colours.
fn look(viewer: &mut Viewer, name: &str, wrong: &mut Vec<String>) {
    for dark in [false, true] {
        look_in(viewer, dark, name, wrong);
    }
}

#[test]
fn axe_finds_nothing_wrong_with_any_page() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let axe = needs::root().join("tests/js/node_modules/axe-core/axe.min.js");
    let Ok(axe) = fs::read_to_string(&axe) else {
        return needs::skip("axe-core is not installed (`npm ci` in tests/js)");
    };
    // axe is evaluated instead of loaded as a script, because the page's policy forbids other scripts.
    viewer.eval(&format!("{axe}; 0"));
    let mut wrong = Vec::new();
    look(&mut viewer, "empty", &mut wrong);
    viewer.drop_files(&[&needs::root().join("LICENSE-MIT")]);
    viewer.wait("document.querySelector('.trouble')");
    look(&mut viewer, "refused", &mut wrong);
    viewer.drop_files(&[&examples()]);
    viewer.wait_text("4 runs");
    look(&mut viewer, "runs", &mut wrong);
    // Each page and each run is checked once, alternately in light and in dark. An open row is checked in the other
    // colour scheme than its page.
    let mut dark = false;
    for (name, id) in [
        ("finished", FINISHED),
        ("failed", FAILED),
        ("waiting", WAITING),
    ] {
        viewer.drop_run(&[&example(id)]);
        dark = !dark;
        for (title, key) in viewer.tabs() {
            dark = !dark;
            viewer.key(&key);
            viewer.wait_page(&title);
            look_in(&mut viewer, dark, &format!("{name}, {title}"), &mut wrong);
            if viewer.eval("!!document.querySelector('[data-list]')") == true {
                viewer.key("j");
                viewer.key("Enter");
                viewer.eval("new Promise(r => setTimeout(r, 200))");
                let open = format!("{name}, {title}, open");
                look_in(&mut viewer, !dark, &open, &mut wrong);
            }
        }
    }
    viewer.drop_run(&[&example(FINISHED)]);
    viewer.key("1");
    viewer.wait_page("Trace");
    viewer.wait("document.querySelector('.lane .stretch')");
    look(&mut viewer, "timeline", &mut wrong);
    viewer.key("Ctrl+k");
    viewer.wait("document.querySelector('dialog.finder input:focus')");
    viewer.type_text("session");
    viewer.wait("document.querySelectorAll('#found .entry mark').length > 1");
    look(&mut viewer, "finder", &mut wrong);
    viewer.key("Escape");
    viewer.key("?");
    look(&mut viewer, "keys", &mut wrong);
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
