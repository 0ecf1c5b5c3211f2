//! Builds the sections that explain how to continue a run. All user interfaces use these words, each in its own layout.

use crate::pages::view::{
    GateOutcomeView, Item, PositionView, ResumeView, Section, Sections, Stop, Tone, icon, tone,
};

/// Returns the sections of a view. Titles and explanations never contain text from the run.
pub fn sections(view: &ResumeView) -> Sections {
    let cautions = view.cautions.iter().map(|caution| {
        let (mark, tone) = if caution.risk.is_open() {
            ("!", Tone::Wait)
        } else {
            ("·", Tone::Quiet)
        };
        Item::new(mark, tone, caution.text.clone())
    });
    let missing = view.missing().into_iter().map(|(text, sure)| {
        if sure {
            Item::new("✗", Tone::Bad, text)
        } else {
            Item::new("·", Tone::Quiet, text)
        }
    });
    let steps = (1..).zip(&view.steps).map(|(n, step)| Item {
        commands: step.commands.clone(),
        ..Item::new(format!("{n}."), Tone::Ok, step.text.clone())
    });
    let section = |title, about, items| Section {
        title,
        about,
        items,
    };
    Sections {
        positions: section(
            "Where it stands",
            "The run is at all of these places at once. Line numbers are those of the program.",
            view.positions.iter().map(position_item).collect(),
        ),
        cautions: section(
            "Before anything is repeated",
            "Each of these may have happened already, whole or in part. Look first; repeat only what you know did not happen.",
            cautions.collect(),
        ),
        missing: section(
            "Missing",
            "The remaining statements use these values, which are not recorded. Ask for them; do not invent them.",
            missing.collect(),
        ),
        gates: section(
            "Gates that wait",
            "Only a person whom the gate admits may decide it. Do not decide a gate yourself.",
            view.gates.iter().map(gate_item).collect(),
        ),
        steps: section("What to do next", "In this order.", steps.collect()),
    }
}

fn position_item(position: &PositionView) -> Item {
    let status = position.node.as_ref().map_or("", |n| n.status.as_str());
    let guess = if position.guessed { "?" } else { "" };
    let line = position.line;
    let place = line.map_or(String::new(), |line| format!("line {line}{guess}: "));
    let text = match (&position.node, position.source.as_str()) {
        (_, source) if !source.is_empty() => source,
        (Some(node), _) => node.text.as_str(),
        _ => "nothing is open",
    };
    let path = Some(&position.frame_path).filter(|path| !path.is_empty());
    let attempt = match (position.attempts, position.max) {
        (n, Some(max)) if n > 1 => Some(format!("attempt {n} of {max}")),
        (n, None) if n > 1 => Some(format!("attempt {n}")),
        _ => None,
    };
    let next = position.next.as_ref();
    let next = next.filter(|next| Some(next.line) != line);
    let below = [
        path.map(|path| format!("in {path}")),
        attempt,
        position.since.as_ref().map(|at| format!("begun {at}")),
        position.meaning.as_ref().map(|says| match position.how {
            Stop::Refused => format!("turned down: {says}"),
            _ => says.clone(),
        }),
        next.map(|next| format!("first: line {}, {}", next.line, next.text)),
    ];
    Item {
        below: below.into_iter().flatten().collect(),
        error: position.error.clone(),
        ..Item::new(
            icon(status),
            tone(status),
            format!("{place}{text} ({})", position.how),
        )
    }
}

fn gate_item(GateOutcomeView { gate, outcomes }: &GateOutcomeView) -> Item {
    let mut item = Item::from(gate);
    item.below.extend([
        format!("approved: {}", outcomes.if_approved),
        format!("rejected: {}", outcomes.if_rejected),
        format!("timed out: {}", outcomes.if_timed_out),
    ]);
    item
}
