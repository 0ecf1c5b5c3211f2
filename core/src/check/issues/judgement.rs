use super::{Checked, Findings};
use crate::issue::Issue;
use crate::judgement::{self, Why};

/// Reports gates that the run went past.
pub(super) fn check_judgement(at: Checked<'_>, findings: &mut Findings) {
    for passed in judgement::went_against(at.run, at.trace, at.listing) {
        let node = passed.at.and_then(|at_node| at.trace.node(at_node));
        let gate = passed.bar.words();
        let message = match node {
            Some(node) => format!("`{}` began past {gate}", super::run::one_line(&node.text)),
            None => format!("the run is completed, past {gate}"),
        };
        let hint = match passed.bar.why {
            Why::NeverAsked => {
                "Ask a person whether what follows the gate was allowed. The record cannot be completed afterwards."
            }
            Why::Pending => {
                "Decide the gate. Ask whether what began before the decision has to be undone."
            }
            Why::Rejected | Why::TimedOut => {
                "Ask whether what began past the gate has to be undone."
            }
        };
        let issue = Issue::error("gate-passed", message).hint(hint);
        findings.add(match node {
            Some(node) => issue.at_execution(node.id),
            None => issue,
        });
    }
}
