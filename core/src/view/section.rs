use super::{GateView, NodeRef, Tone, icon, tone};
use crate::text::short;

/// What is said of how to go on with a run, part by part.
#[derive(Debug, Clone, PartialEq)]
pub struct Sections {
    /// Where the run stands.
    pub stands: Section,
    /// What may have happened already.
    pub cautions: Section,
    /// What the rest uses and nothing has.
    pub missing: Section,
    /// Gates that wait.
    pub gates: Section,
    /// What to do, in order.
    pub steps: Section,
}

/// A heading and what stands below it.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The heading.
    pub title: &'static str,
    /// What a model is told of it.
    pub about: &'static str,
    /// What stands below it.
    pub items: Vec<Item>,
}

/// A line of a section, with what belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// What stands before it: an icon, a number.
    pub mark: String,
    /// The tone of that.
    pub tone: Tone,
    /// The line.
    pub text: String,
    /// Lines below it.
    pub below: Vec<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// Commands that do it, or help.
    pub commands: Vec<String>,
}

impl From<String> for Item {
    fn from(text: String) -> Item {
        Item::new("·", Tone::Quiet, text)
    }
}

/// How a statement stands, where that is, and what went wrong.
impl From<&NodeRef> for Item {
    fn from(node: &NodeRef) -> Item {
        let id = node.id.map_or(String::new(), |id| format!(" #{id}"));
        let guess = if node.line_guessed { "?" } else { "" };
        let line = node.line.map(|line| format!("line {line}{guess}"));
        let path = Some(&node.path).filter(|path| !path.is_empty());
        let place = line
            .into_iter()
            .chain(path.map(|path| format!("in {path}")));
        let place = place.collect::<Vec<_>>().join(", ");
        let below = Some(place).filter(|place| !place.is_empty());
        Item {
            below: below.into_iter().collect(),
            error: node.error.clone(),
            ..Item::new(
                icon(&node.status),
                tone(&node.status),
                format!("{}{id}", node.text),
            )
        }
    }
}

/// Who may decide a gate, until when, and what they are asked.
impl From<&GateView> for Item {
    fn from(gate: &GateView) -> Item {
        let left = gate.remaining.as_deref().unwrap_or("no deadline");
        let (id, standing, allow) = (&gate.id, &gate.standing, &gate.allow_words);
        let prompt = Some(short(&gate.prompt, 400)).filter(|prompt| !prompt.is_empty());
        Item {
            below: prompt.into_iter().collect(),
            ..Item::new(
                "◷",
                Tone::Wait,
                format!("gate {id}: {standing}; may be decided by {allow}; {left}"),
            )
        }
    }
}

impl Item {
    /// A line by itself.
    pub fn new(mark: impl Into<String>, tone: Tone, text: String) -> Item {
        Item {
            mark: mark.into(),
            tone,
            text,
            below: Vec::new(),
            error: None,
            commands: Vec::new(),
        }
    }
}
