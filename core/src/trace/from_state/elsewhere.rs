//! Annotations that speak of another frame than the innermost: `# --> bindings/parts__41.md` while frame 43 runs.

use std::collections::BTreeMap;

use super::facts::Facts;
use super::stack::Stack;
use crate::model::Run;

/// Takes them out of the facts, which are those of the innermost frames.
pub(super) fn part(run: &Run, facts: &mut Facts<'_>, stack: &Stack<'_>) {
    let Some(file) = run.state_file.as_ref().filter(|_| !stack.frames.is_empty()) else {
        return;
    };
    let indexed: BTreeMap<&str, i64> = file
        .bindings
        .iter()
        .filter_map(|row| Some((&*row.path, row.execution_id?)))
        .collect();
    for (at, fact) in (0_u32..).zip(&mut facts.of) {
        let said = fact.state_line.and_then(|line| {
            let annotation = file.trace.get(line as usize)?.annotation.as_ref()?;
            Some((line, annotation.path.as_deref()?))
        });
        let current = fact
            .block
            .and_then(|block| stack.frames.get(*stack.innermost.get(&block)?));
        let Some(((line, path), current)) = said.zip(current) else {
            continue;
        };
        let frame = indexed.get(path).copied().or_else(|| frame_of(path));
        if let Some(frame) = frame.filter(|frame| *frame != current.row.execution_id) {
            facts.elsewhere.insert((frame, at), line);
            fact.forget();
        }
    }
}

/// `bindings/parts__41.md` is of frame 41.
fn frame_of(path: &str) -> Option<i64> {
    let stem = path.rsplit('/').next()?;
    let (name, digits) = stem.strip_suffix(".md").unwrap_or(stem).rsplit_once("__")?;
    let plain = !name.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}
