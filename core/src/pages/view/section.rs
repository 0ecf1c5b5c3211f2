//! Defines the sections of the text output of `prosescope resume`: headings, lines and commands.

use super::{GateView, NodeRef, Tone, icon, tone};
use crate::model::text::short;

/// Advice on continuing a run, as one section for each subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Sections {
    /// The current positions of the run.
    pub positions: Section,
    /// The actions that may have happened already.
    pub cautions: Section,
    /// The values that the rest of the program uses and that are missing.
    pub missing: Section,
    /// The gates that wait for a decision.
    pub gates: Section,
    /// The steps to take, in order.
    pub steps: Section,
}

/// A heading with its lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The heading.
    pub title: &'static str,
    /// An explanation of the section for a language model.
    pub about: &'static str,
    /// The lines below the heading.
    pub items: Vec<Item>,
}

/// A line of a section, with its details.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The mark before the line: an icon or a number.
    pub mark: String,
    /// The tone of the mark.
    pub tone: Tone,
    /// The text of the line.
    pub text: String,
    /// Indented lines below the text.
    pub below: Vec<String>,
    /// The error of the node that the line is about, if any.
    pub error: Option<String>,
    /// Commands that carry out the line's advice or help with it.
    pub commands: Vec<String>,
}

impl From<String> for Item {
    fn from(text: String) -> Item {
        Item::new("·", Tone::Quiet, text)
    }
}

/// Builds a line with a node's text, status and error, and with the node's place below.
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

/// Builds a line with the names that may decide the gate, its deadline, and its question, which is quoted (`> `).
impl From<&GateView> for Item {
    fn from(gate: &GateView) -> Item {
        let left = gate.remaining.as_deref().unwrap_or("no deadline");
        let (id, standing, allow) = (&gate.id, &gate.standing, &gate.allow_words);
        let prompt = Some(short(&gate.prompt, 400)).filter(|prompt| !prompt.is_empty());
        Item {
            below: prompt.iter().map(|prompt| format!("> {prompt}")).collect(),
            ..Item::new(
                "◷",
                Tone::Wait,
                format!("gate {id}: {standing}; may be decided by {allow}; {left}"),
            )
        }
    }
}

impl Item {
    /// Creates a line without details.
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
