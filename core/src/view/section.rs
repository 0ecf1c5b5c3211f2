use super::Tone;

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
    /// Commands that do it, or help.
    pub commands: Vec<String>,
}

impl From<String> for Item {
    fn from(text: String) -> Item {
        Item::new("·", Tone::Quiet, text)
    }
}

impl Item {
    pub(crate) fn new(mark: impl Into<String>, tone: Tone, text: String) -> Item {
        Item {
            mark: mark.into(),
            tone,
            text,
            below: Vec::new(),
            commands: Vec::new(),
        }
    }
}
