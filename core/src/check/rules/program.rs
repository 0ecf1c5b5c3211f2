use crate::check::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::info(
        "several-programs",
        "The folder holds several programs and none is called program.prose.",
    )
    .fix("The first is taken for the run's. Name the run's copy program.prose.")
    .source("filesystem.md, Directory Structure")
    .files(&[
        ("first.prose", "session \"A\"\n"),
        ("second.prose", "session \"B\"\n"),
    ]),
    Rule::warning(
        "program-encrypted",
        "The program is an encrypted envelope: nothing can be tied to its lines.",
    )
    .fix("Decrypt the run's copy, if it is yours.")
    .source("dialects, B")
    .files(&[
        ("bindings/a.md", "# a\n\nkind: let\n\n---\n\ntext\n"),
        (
            "program.prose",
            "{\n\t\"data\": \"ENC[AES256_GCM,data:AAAA,tag:BBBB,type:str]\"\n}\n",
        ),
    ]),
    Rule::info(
        "import-name",
        "A folder of an import is not named `{handle}--{slug}`.",
    )
    .fix("Its whole name is taken for the handle, so `handle.name` may not find it.")
    .source("filesystem.md, Imports Recursive Structure")
    .files(&[
        ("program.prose", "session \"A\"\n"),
        ("imports/survey/program.prose", "session \"B\"\n"),
    ]),
    Rule::info(
        "import-binding",
        "A dotted name belongs to an import whose own run has to be opened to see it.",
    )
    .fix("Open the nested run; its bindings are there.")
    .source("errata B12")
    .told(
        "`prose get survey.demand` where the nested run has no binding `demand` of kind output.",
        "core/src/scope/tests.rs",
    ),
];
