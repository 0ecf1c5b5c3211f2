//! Defines TypeScript types for fields of views that contain one of a set of words. The words are those of the core's
//! enums. If a run may record other words, the type also allows any text.

use std::path::PathBuf;

use ts_rs::{Config, TS};

use crate::model::{self, Dialect, FolderForm, Form, StoredType};
use crate::pages::view::DERIVED;
use crate::read::gate::audit;
use crate::trace::{self, NodeStatus};

/// Defines a type for each set of words; `or any` also allows any other text.
macro_rules! sets {
    ($($(#[doc = $doc:literal])* $name:ident = $words:expr, $other:literal;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $name;

        impl TS for $name {
            type WithoutGenerics = Self;
            type OptionInnerType = Self;

            fn docs() -> Option<String> {
                Some(concat!("/**\n", $(" *", $doc, "\n",)* " */\n").to_owned())
            }

            fn name(_: &Config) -> String {
                stringify!($name).to_owned()
            }

            fn inline(_: &Config) -> String {
                let words = $words.into_iter().map(|word| format!("{word:?}"));
                let other = Some("(string & {})".to_owned()).filter(|_| $other == "or any");
                words.chain(other).collect::<Vec<_>>().join(" | ")
            }

            fn decl(config: &Config) -> String {
                format!("type {} = {};", Self::name(config), Self::inline(config))
            }

            fn decl_concrete(config: &Config) -> String {
                Self::decl(config)
            }

            fn output_path() -> Option<PathBuf> {
                Some(concat!(stringify!($name), ".ts").into())
            }
        }
    )*};
}

sets! {
    /// The status of a run. `unknown` means that no status is recorded, `agents` that the source is a store of agents.
    /// A run may record a word that OpenProse does not define.
    RunStatus = [model::RunStatus::WORDS, &["unknown", "agents"]].concat(), "or any";

    /// The form that a run was read as, in words. Other versions may have further forms.
    RunForm = forms(), "or any";

    /// The status of a statement. `recovered`, `was executing`, `was waiting`, `abandoned`, `cut off` and `unknown` are
    /// derived. A row may record a word that OpenProse does not define.
    StatementStatus = statements(), "or any";

    /// The kind of a row of the trace.
    NodeKind = kinds(), "only";

    /// The kind of a binding. A row may record a word that OpenProse does not define.
    BindingKind = model::BindingKind::WORDS.to_vec(), "or any";

    /// How a value is stored: in a cell of some type, in a file, or not at all.
    StoredAs = [stored(), vec!["file", "missing"]].concat(), "only";

    /// The status of a gate. A row may record a word that OpenProse does not define.
    GateStatus = model::GateStatus::WORDS.to_vec(), "or any";

    /// An event of a gate. A row may record a word that OpenProse does not define.
    AuditEventKind = model::AuditKind::WORDS.to_vec(), "or any";

    /// How long an agent's memory lives. A row may record a word that OpenProse does not define.
    AgentScope = model::AgentScope::WORDS.to_vec(), "or any";

    /// The state of an audit log after its verification.
    ChainState = audit::ChainState::ALL.map(audit::ChainState::word), "only";

    /// The type with which a cell is stored.
    CellType = stored(), "only";
}

fn statements() -> Vec<&'static str> {
    static KNOWN: [NodeStatus; 16] = NodeStatus::KNOWN;
    let mut words: Vec<&str> = KNOWN.iter().map(NodeStatus::word).collect();
    words.extend(DERIVED);
    // The status of an attempt is the word in its row, so every word that a row can record is possible, too.
    let of_rows = model::Status::WORDS.iter().copied();
    words.extend(of_rows.filter(|word| KNOWN.iter().all(|known| known.word() != *word)));
    words
}

fn kinds() -> [&'static str; 7] {
    let none = model::Text::default;
    [
        trace::NodeKind::Statement,
        trace::NodeKind::Parallel,
        trace::NodeKind::Branch { branch: none() },
        trace::NodeKind::Loop,
        trace::NodeKind::Round { n: 0 },
        trace::NodeKind::Frame {
            block: none(),
            depth: 0,
        },
        trace::NodeKind::Gate { gate: none() },
    ]
    .map(|kind| kind.word())
}

fn stored() -> Vec<&'static str> {
    let all = [
        StoredType::Null,
        StoredType::Integer,
        StoredType::Real,
        StoredType::Text,
        StoredType::Blob,
    ];
    all.map(StoredType::word).to_vec()
}

fn forms() -> Vec<&'static str> {
    let dialects = [
        Dialect::AppendOnly,
        Dialect::InPlace,
        Dialect::Mixed,
        Dialect::Undecided,
        Dialect::Receipts,
        Dialect::Renamed,
    ];
    let files = [
        FolderForm::StateMd,
        FolderForm::CompactLog,
        FolderForm::VmLog,
        FolderForm::Receipts,
        FolderForm::Mounted,
        FolderForm::Reactor,
        FolderForm::Record,
        FolderForm::Hosted,
        FolderForm::Foreign,
        FolderForm::Bare,
    ];
    let forms = dialects.map(|dialect| Form::Sqlite { dialect }).into_iter();
    let forms = forms.chain([false, true].map(|receipts| Form::Postgres { receipts }));
    let forms = forms.chain(files.map(|form| Form::Folder { form }));
    forms
        .chain([Form::Agents, Form::Unknown])
        .map(|form| form.words())
        .collect()
}
