//! Tests that the generated pkg/js/views.d.ts matches the core's view structs. `PROSE_WRITE_DOCS=1` (`cargo xtask
//! docs`) rewrites it; read the difference before you commit it.

use std::fs;

use prosescope_core::pages::view;
use prosescope_tests::needs;
use ts_rs::TypeVisitor;

use crate::declared::Types;

const HEAD: &str = "// Generated from the doc comments and structs of core/src/pages/view by `cargo xtask docs`: the JSON of `prosescope … --json`.
// In the JavaScript package, integers from 2^53 on are texts.
";

#[test]
fn the_declared_types_are_those_of_the_views() {
    let mut types = Types::new();
    types.visit::<view::RunList>();
    types.visit::<view::Overview>();
    types.visit::<view::ProgramView>();
    types.visit::<view::TracePage>();
    types.visit::<view::Timeline>();
    types.visit::<view::NodeDetail>();
    types.visit::<view::BindingsPage>();
    types.visit::<view::ValueView>();
    types.visit::<view::ResolutionView>();
    types.visit::<view::AgentsView>();
    types.visit::<view::GatesView>();
    types.visit::<view::ImportsView>();
    types.visit::<view::StateMdView>();
    types.visit::<view::FilesView>();
    types.visit::<view::TableRows>();
    types.visit::<view::QueryView>();
    types.visit::<view::QueryTables>();
    types.visit::<view::IssuesView>();
    types.visit::<view::CheckReport>();
    types.visit::<view::TimeoutView>();
    types.visit::<view::RunShared>();
    // The answers of commands that record.
    types.visit::<view::AgentWritten>();
    types.visit::<view::AttemptBegun>();
    types.visit::<view::BindingWritten>();
    types.visit::<view::ExecutionBegun>();
    types.visit::<view::GateDecided>();
    types.visit::<view::ImportRegistered>();
    types.visit::<view::NextView>();
    types.visit::<view::ParallelJoined>();
    types.visit::<view::ParallelRunning>();
    types.visit::<view::GateOpened>();
    types.visit::<view::ExecutionEnded>();
    types.visit::<view::LoopRounds>();
    types.visit::<view::RunFinished>();
    types.visit::<view::TaskView>();
    let mut text = String::from(HEAD);
    for (_, declaration) in types.declarations() {
        text.push('\n');
        text.push_str(&declaration);
    }
    let path = needs::root().join("pkg/js/views.d.ts");
    if std::env::var_os("PROSE_WRITE_DOCS").is_some() {
        fs::write(&path, &text).expect("views.d.ts can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == text,
        "pkg/js/views.d.ts is out of date: run `cargo xtask docs`, and read the difference"
    );
}
