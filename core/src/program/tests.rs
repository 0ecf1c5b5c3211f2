//! Cases for every construct of docs/reference/formats.md: a source and its expected listing.

use super::{LineRole, StatementKind, ValueType, classify, scan};

/// Describes one statement per line: first and last line, kind, how it binds, name, @target, properties, indented by
/// depth.
fn outline(source: &str) -> Vec<String> {
    let one = |s: &super::Statement| {
        let mut line = ". ".repeat(s.depth as usize);
        line.push_str(&s.line.to_string());
        if s.end != s.line {
            line.push_str(&format!("-{}", s.end));
        }
        line.push_str(&format!(" {:?}", s.kind).to_lowercase());
        for part in [&s.binds, &s.name] {
            line.extend(part.iter().flat_map(|part| [" ", part.as_str()]));
        }
        line.extend(s.target.iter().flat_map(|target| [" @", target.as_str()]));
        for property in &s.properties {
            let text = property.text.replace('\n', "/");
            line.push_str(&match &property.value {
                ValueType::Condition => format!(" {}=**{text}**", property.name),
                ValueType::Duration(seconds) => format!(" {}={seconds}s", property.name),
                _ => format!(" {}={text}", property.name),
            });
        }
        line
    };
    scan(source).statements.iter().map(one).collect()
}

/// Returns one letter per line: Statement, Property, Continuation, Text, `#`, `-` for blank.
fn roles(source: &str) -> String {
    let letter = |line: &super::SourceLine| match line.role {
        LineRole::Statement => 'S',
        LineRole::Property => 'P',
        LineRole::Continuation => 'C',
        LineRole::Comment => '#',
        LineRole::Blank => '-',
        LineRole::Text => 'T',
    };
    scan(source).lines.iter().map(letter).collect()
}

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    assert_eq!(outline(source), expected, "\n{source}");
}

#[test]
fn heads_of_one_line() {
    for (source, expected) in [
        ("use \"@a/search\" as s", "1 use s @@a/search"),
        ("use \"@a/search\"", "1 use search @@a/search"),
        (
            "import \"web\" from \"github:x/web\"",
            "1 use web @github:x/web",
        ),
        (
            "input topic: \"What to read\"",
            "1 input input topic description=What to read",
        ),
        (
            "input go: **Publish it?**",
            "1 input input go prompt=**Publish it?**",
        ),
        ("input topic", "1 input input topic"),
        ("output result = notes", "1 output output result"),
        ("output result", "1 output output result"),
        ("output { a, b }", "1 output output"),
        ("output x = do f(a, 4)", "1 do output x @f args=a, 4"),
        ("output session: analyzer", "1 session output @analyzer"),
        (
            "output do refine(x, n - 1)",
            "1 do output @refine args=x, n - 1",
        ),
        ("output pairs | pmap:", "1 pipe output op=pmap"),
        ("agent captain:", "1 agent captain"),
        ("agent \"the captain\":", "1 agent the captain"),
        ("session \"Say hello\"", "1 session"),
        ("session: researcher", "1 session @researcher"),
        (
            "session research: researcher",
            "1 session research @researcher",
        ),
        ("session synthesizer:", "1 session synthesizer"),
        (
            "session \"Flaky\" (retry: 3, backoff: \"linear\")",
            "1 session retry=3 backoff=linear",
        ),
        ("let a = session \"x\"", "1 session let a"),
        ("const a = session: r", "1 session const a @r"),
        ("a = session: r", "1 session a @r"),
        ("resume: captain", "1 resume @captain"),
        ("x = resume: captain", "1 resume x @captain"),
        ("parallel:", "1 parallel"),
        ("parallel (\"first\"):", "1 parallel strategy=first"),
        (
            "parallel (\"any\", count: 2):",
            "1 parallel strategy=any count=2",
        ),
        (
            "parallel (\"first\", on-fail: \"continue\"):",
            "1 parallel strategy=first on-fail=continue",
        ),
        ("results = parallel:", "1 parallel results"),
        (
            "parallel for x in xs (on-fail: \"ignore\"):",
            "1 parallel each=x in=xs on-fail=ignore",
        ),
        (
            "parallel for x, i in f(a, b):",
            "1 parallel each=x index=i in=f(a, b)",
        ),
        ("repeat 3:", "1 repeat count=3"),
        ("repeat 50 as cycle:", "1 repeat count=50 as=cycle"),
        ("repeat cycles as cycle:", "1 repeat count=cycles as=cycle"),
        ("for x in [\"a\", \"b\"]:", "1 for each=x in=[\"a\", \"b\"]"),
        ("for x, i in xs:", "1 for each=x index=i in=xs"),
        ("loop:", "1 loop"),
        ("loop (max: 1000):", "1 loop max=1000"),
        (
            "loop until **it is: done** (max: 5) as i:",
            "1 loop condition=**it is: done** check=until as=i max=5",
        ),
        (
            "loop while **more (of it)**:",
            "1 loop condition=**more (of it)** check=while",
        ),
        (
            "loop until n > 3 (max: 2):",
            "1 loop condition=n > 3 check=until max=2",
        ),
        ("try:", "1 try"),
        ("primary = try:", "1 try primary"),
        ("catch:", "1 catch"),
        ("catch as err:", "1 catch err as=err"),
        ("finally:", "1 finally"),
        ("throw", "1 throw"),
        ("throw \"no: {x}\"", "1 throw message=no: {x}"),
        ("choice **how bad**:", "1 choice condition=**how bad**"),
        ("option \"Very bad\":", "1 option label=Very bad"),
        ("if **it failed**:", "1 if condition=**it failed**"),
        (
            "if **small** or depth <= 0:",
            "1 if condition=**small** or depth <= 0",
        ),
        ("if a.b == \"x: y\":", "1 if condition=a.b == \"x: y\""),
        ("elif **it may**:", "1 elif condition=**it may**"),
        ("else if **it may**:", "1 elif condition=**it may**"),
        ("else:", "1 else"),
        ("block review-phase:", "1 block review-phase"),
        ("block f(a, b):", "1 block f params=a, b"),
        (
            "block f(a) (max_depth: 5):",
            "1 block f params=a max_depth=5",
        ),
        ("block f(max_depth: 5):", "1 block f max_depth=5"),
        ("do:", "1 do"),
        ("do f", "1 do @f"),
        ("do f(\"a (b\", [c])", "1 do @f args=\"a (b\", [c]"),
        ("let x = do f({ fix: y })", "1 do let x @f args={ fix: y }"),
        ("session \"a\" -> session \"b\"", "1 arrow"),
        ("let x = session \"a\" -> do b", "1 arrow let x"),
        ("-> session article: writer", "1 arrow article @writer"),
        ("a -> b -> c", "1 arrow"),
        ("let x = xs | filter:", "1 pipe let x op=filter"),
        ("xs | map: session \"{item}\"", "1 pipe op=map"),
        ("xs | reduce(sum, x):", "1 pipe op=reduce params=sum, x"),
        ("approve deploy:", "1 gate deploy"),
        ("gate deploy:", "1 gate deploy"),
        ("gate **tests pass**:", "1 gate condition=**tests pass**"),
        ("approve \"Ready?\"", "1 gate prompt=Ready?"),
        ("exec \"make\"", "1 exec command=make"),
        ("let v = exec \"pi -v\"", "1 exec let v command=pi -v"),
        ("let x = []", "1 assign let x"),
        ("x = x + [y]", "1 assign x"),
        ("x.y[0] = 3", "1 assign x.y"),
        ("let { a, b } = f", "1 assign let"),
        ("exec = 3", "1 assign exec"),
        (
            "research(topic: \"ants\")",
            "1 call @research args=topic: \"ants\"",
        ),
        (
            "let { a, b } = research(topic: \"ants\")",
            "1 call let @research args=topic: \"ants\"",
        ),
        (
            "let token = http.post(\"u\", x).token",
            "1 call let token @http.post args=\"u\", x",
        ),
        ("critic(draft: x) as c", "1 call @critic args=draft: x as=c"),
        ("@get_config", "1 label get_config"),
        (
            "while **more to do** (max: 3):",
            "1 loop condition=**more to do** check=while max=3",
        ),
        ("for each x in xs:", "1 for each=x in=xs"),
        // Single and curly quotes.
        ("session 'Don't stop' # c", "1 session"),
        ("throw 'It failed'", "1 throw message=It failed"),
        ("session “Say hello”", "1 session"),
        ("approve x: # who's \"that\"", "1 gate x"),
        // Properties after the head.
        (
            "session \"x\" retry: 3 backoff: \"linear\"",
            "1 session retry=3 backoff=linear",
        ),
        (
            "exec \"make\", timeout: 5m, on-fail: \"continue\"",
            "1 exec command=make timeout=300s on-fail=continue",
        ),
        (
            "session: writer prompt: \"a: b\" context: { x, y }",
            "1 session @writer prompt=a: b context={ x, y }",
        ),
        (
            "agent a: { model: \"opus\", \"prompt\": \"p\", persist: true }",
            "1 agent a model=opus prompt=p persist=true",
        ),
        ("session \"x\" { retry: 3 }", "1 session retry=3"),
        ("parallel for x in context:", "1 parallel each=x in=context"),
        (
            "session context: researcher",
            "1 session context @researcher",
        ),
        ("return to the start", "1 other"),
        ("call me later", "1 other"),
        ("break", "1 other"),
        ("assert x.tool != \"none\":", "1 other"),
        ("let n = a(b) + c(d)", "1 assign let n"),
        ("note (see above)", "1 other"),
        ("\"a text alone\"", "1 other"),
    ] {
        check(source, &[expected]);
    }
}

#[test]
fn prose_is_not_taken_for_statements() {
    for source in [
        "use of task decorators, provenance",
        "for each item check it",
        "if it rains we stay",
        "do the thing you must",
        "try to be nice",
        "catch the ball",
        "else we wait",
        "option A is best",
        "choice is yours",
        "input the numbers",
        "output the result",
        "agent should do it",
        "block everything that moves",
        "gate the release on it",
        "loop over all of them",
        "repeat after me please",
        "session notes about it",
        "resume work on it tomorrow",
        "throw it all away",
        "exec summary of it",
        "import taxes rose",
        "1. Read the file",
        "| a | table |",
        "lettuce = 3 == 4 is odd?",
    ] {
        let kinds: Vec<_> = scan(source).statements.iter().map(|s| s.kind).collect();
        let plain = matches!(kinds[..], [StatementKind::Other | StatementKind::Assign]);
        assert!(plain, "{source}: {kinds:?}");
    }
}

#[test]
fn properties_below_a_statement() {
    check(
        "session \"x\"   # why\n  prompt: \"a # b\" # c\n  retry: 3\n  backoff: exponential\n  timeout: 120s\n",
        &["1-5 session prompt=a # b retry=3 backoff=exponential timeout=120s"],
    );
    check(
        "agent a:\n  model: opus\n  persist: \"mem/a\"\n  permissions:\n    bash: deny\n    read: [\"a\", \"b\"]\n  skills: [\n    \"x\",  # y\n\n    \"z\"\n  ]\n",
        &[
            "1-11 agent a model=opus persist=mem/a permissions= permissions.bash=deny permissions.read=[\"a\", \"b\"] skills=[/    \"x\",  # y//    \"z\"/  ]",
        ],
    );
    check(
        "approve deploy:\n  prompt: \"\"\"\n    Ready?\n    # not a comment\n  \"\"\"\n  allow: [\"user\", \"ops-team\"]\n  timeout: 4h\n  on_reject: throw \"Cancelled\"\n",
        &[
            "1-8 gate deploy prompt=Ready?/# not a comment allow=[\"user\", \"ops-team\"] timeout=14400s on_reject=throw \"Cancelled\"",
        ],
    );
    check(
        "gate g:\n  on-reject:\n    session \"undo\"\n      retry: 2\n    throw\nsession \"y\"",
        &[
            "1-5 gate g on-reject=",
            ". 3-4 session retry=2",
            ". 5 throw",
            "6 session",
        ],
    );
    check(
        "session \"x\"\n  context:\n    - a\n    - b\n  prompt: |\n    session \"not one\"\n    key: not one\n",
        &["1-7 session context=- a/- b prompt=session \"not one\"/key: not one"],
    );
    // Two cases: properties that are not indented, and a property of a body.
    check(
        "session: a\nprompt: \"x\"\nparallel:\n  on-fail: continue\n  a = session \"y\"\n",
        &[
            "1-2 session @a prompt=x",
            "3-5 parallel on-fail=continue",
            ". 5 session a",
        ],
    );
    let statement = &scan("block f (max-depth: 3):").statements[0];
    assert_eq!(statement.property("max_depth"), Some("3"));
    assert_eq!(statement.property("max"), None);
}

#[test]
fn a_quoted_text_may_span_lines() {
    for (source, expected) in [
        // Lines of the text that look like statements are text.
        (
            "session \"One,\nsession two\nif three.\"\nsession \"b\"\n",
            &["1-3 session", "4 session"][..],
        ),
        (
            "parallel:\n  a = session: x\n    prompt: \"One.\n\nparallel two.\" # c\n  b = session \"y\"\n",
            &[
                "1-6 parallel",
                ". 2-5 session a @x prompt=One.//parallel two.",
                ". 6 session b",
            ],
        ),
        // A text that is not closed ends with its line if the next quotation mark opens another text.
        (
            "session \"One\nlet b = session \"two\"\nthrow \"three\"\n",
            &["1 session", "2 session let b", "3 throw message=three"],
        ),
        (
            "session \"One\nlet b = session \"two\nthree\"\n",
            &["1 session", "2-3 session let b"],
        ),
        (
            "session \"One\nlet b = x\n",
            &["1 session", "2 assign let b"],
        ),
    ] {
        check(source, expected);
    }
}

#[test]
fn bodies_nest_by_indentation() {
    check(
        "try:\n  session \"a\"\n  try:\n    session \"b\"\n  catch as e:\n    throw\ncatch:\n  session \"c\"\nfinally:\n  do f\n",
        &[
            "1-6 try",
            ". 2 session",
            ". 3-4 try",
            ". . 4 session",
            ". 5-6 catch e as=e",
            ". . 6 throw",
            "7-8 catch",
            ". 8 session",
            "9-10 finally",
            ". 10 do @f",
        ],
    );
    check(
        "files\n  | filter: session \"?\"\n  | reduce(r, i):\n      session \"+\"\nlet x = xs\n| map:\n  session \"m\"\nsession \"a\"\n  -> session \"b\"\n",
        &[
            "1-4 pipe op=filter op=reduce params=r, i",
            ". 4 session",
            "5-7 pipe let x op=map",
            ". 7 session",
            "8-9 arrow",
        ],
    );
    check(
        "do f(\n  \"a\",\n\n  { b: \"c\" }\n)\nif ***\n  all tests pass\n  and it is Friday\n***:\n  session \"x\"\ninput ok: **\n  Plan:\n\n  Go on?\n**\n",
        &[
            "1-5 do @f args=\"a\",//  { b: \"c\" }",
            "6-10 if condition=**all tests pass and it is Friday**",
            ". 10 session",
            "11-15 input input ok prompt=**Plan://Go on?**",
        ],
    );
    assert_eq!(
        roles("# a\n\nx = [\n  # b\n\n  1\n]\nprompt \"\"\"\n\n# c\n\"\"\""),
        "#-SC".replace("SC", "S#-CCSCCC")
    );
}

#[test]
fn blanks_and_comments_belong_to_what_is_around_them() {
    let listing = scan("# a\nloop:\n  # b\n\n  session \"x\"\n  # c\n\n# d\nthrow\n");
    let of: Vec<_> = listing.lines.iter().map(|line| line.statement).collect();
    let (outer, inner, last) = (Some(0), Some(1), Some(2));
    assert_eq!(
        of,
        [None, outer, outer, outer, inner, None, None, None, last]
    );
}

#[test]
fn what_is_never_closed_does_not_swallow_the_rest() {
    check(
        "session \"a\"\n  prompt: \"\"\"Analyze\n  this\nlet x = session \"b\"\n",
        &["1-3 session prompt=Analyze/this", "4 session let x"],
    );
    check(
        "let x = [\n  \"a\",\nsession \"b (c\"\ndo f(a\nif **half\n  session \"c\"\nthrow \"open\n",
        &[
            "1-2 assign let x",
            "3 session",
            "4 do @f",
            "5-6 if condition=**half**",
            ". 6 session",
            "7 throw message=open",
        ],
    );
    check(
        "2 ** 3\n***\nsession \"a\"\n***\n",
        &["1 other", "2 other", "3 session", "4 other"],
    );
}

#[test]
fn line_breaks_tabs_and_marks() {
    let expected = ["1-3 loop", ". 2-3 session prompt=a", "4 throw"];
    for source in [
        "loop:\n  session \"x\"\n    prompt: \"a\"\nthrow",
        "loop:\r\n  session \"x\"\r\n    prompt: \"a\"\r\nthrow\r\n",
        "\u{feff}loop:\n\tsession \"x\"\n\t\tprompt: \"a\"\nthrow\n",
        // A tab is as wide as the file's first indentation.
        "loop:\n  session \"x\"\n\t\tprompt: \"a\"\nthrow\n",
        "loop:\r  session \"x\"\r    prompt: \"a\"\rthrow",
        "loop:\n\u{a0}session \"x\"\n\u{a0}\u{a0}prompt: \"a\"\nthrow\n",
    ] {
        check(source, &expected);
    }
    assert_eq!(scan("").lines.len(), 0);
    assert_eq!(scan("\n").lines.len(), 1);
    let listing = scan("\u{feff}# a\r\nsession \"é👩‍👧\"  # b\r\n");
    assert_eq!(listing.lines[0].text, "# a");
    assert_eq!(listing.statements[0].text, "session \"é👩‍👧\"");
}

#[test]
fn hashes_in_words_texts_and_conditions_are_no_comments() {
    for (source, text) in [
        ("exec \"a #1\" # b", "exec \"a #1\""),
        ("if **issue #3 is open**: # b", "if **issue #3 is open**:"),
        ("do f(#a", "do f(#a"),
        ("do issue#5", "do issue#5"),
        ("throw  # again", "throw"),
        ("parallel:# all", "parallel:"),
        ("session \"a \\\" # b\" # c", "session \"a \\\" # b\""),
    ] {
        assert_eq!(scan(source).statements[0].text, text);
    }
}

/// Errata X6: shapes that OpenProse's `LIKE 'parallel:%'` misses, and texts that occur in rows.
#[test]
fn rows_are_classified_by_shape_x6() {
    use StatementKind as K;
    for (text, kind) in [
        ("parallel:", K::Parallel),
        ("parallel:a", K::Parallel),
        ("parallel (\"first\"):", K::Parallel),
        ("parallel for x in y:", K::Parallel),
        ("x = parallel:", K::Parallel),
        ("let x = parallel (on-fail: \"ignore\"):", K::Parallel),
        ("session \"parallel: no\"", K::Session),
        ("parallel_runs = session \"x\"", K::Session),
        ("loop", K::Loop),
        ("loop until done", K::Loop),
        ("Loop 2 of 5", K::Loop),
        ("let research = session", K::Session),
        ("session Analyze the code", K::Session),
        ("do process(half)", K::Do),
        ("approve production_deploy:", K::Gate),
        (
            "  # a comment\n\nsession \"x\"\n  prompt: \"y\"",
            K::Session,
        ),
        ("let research", K::Assign),
        ("if the tests pass", K::If),
        ("", K::Other),
        ("Analyze the code", K::Other),
    ] {
        assert_eq!(classify(text), kind, "{text}");
    }
}

#[test]
fn questions_about_nesting() {
    let listing = scan(
        "block f(x):\n  loop:\n    try:\n      session \"a\"\n    catch:\n      session \"b\"\n    finally:\n      session \"c\"\nparallel:\n  a = do f(1)\n  b = try:\n    session \"d\"\ntry:\n  throw\nsession \"e\"\n",
    );
    let at = |line| listing.statement_at(line).unwrap();
    let line = |statement: Option<u32>| statement.and_then(|s| listing.get(s)).map(|s| s.line);
    let around: Vec<_> = listing.enclosing(at(4)).map(|s| line(Some(s))).collect();
    assert_eq!(around, [Some(3), Some(2), Some(1)]);
    assert_eq!(line(listing.loop_of(at(6))), Some(2));
    assert_eq!(line(listing.loop_of(at(2))), None);
    assert_eq!(line(listing.try_of(at(4))), Some(3));
    assert_eq!(
        line(listing.try_of(at(6))),
        None,
        "a catch is not in its try"
    );
    assert_eq!(line(listing.block_of(at(8))), Some(1));
    assert_eq!(line(listing.catch_of(at(3))), Some(5));
    assert_eq!(line(listing.catch_of(at(13))), None);
    assert_eq!(line(listing.catch_of(at(5))), None);
    assert_eq!(line(listing.block_named("f")), Some(1));
    assert_eq!(line(listing.branch_of(at(9), "b")), Some(11));
    assert_eq!(line(listing.branch_of(at(9), "c")), None);
    assert_eq!(listing.children(at(9)).count(), 2);
    assert_eq!(line(listing.next_sibling(at(1))), Some(9));
    assert_eq!(line(listing.next_sibling(at(15))), None);
    assert!(listing.contains(at(1), at(8)) && !listing.contains(at(9), at(8)));
    assert_eq!(listing.statement_at(0), None);
    assert_eq!(listing.statement_at(99), None);
}

#[test]
fn prompts_that_tell_of_programs() {
    let nested = "agent a:\n  prompt: \"\"\"\n    Write:\n      session: x\n        prompt: \"\"\"\n          Do it\n        \"\"\"\n    Like this.\n  \"\"\"\n  model: opus\nthrow\n";
    check(
        nested,
        &[
            "1-10 agent a prompt=Write:/  session: x/    prompt: \"\"\"/      Do it/    \"\"\"/Like this. model=opus",
            "11 throw",
        ],
    );
    // Quotes that end a text do not begin a nested text.
    check(
        "session \"x\"\n  prompt: \"\"\"\n    Answer to the prompt: \"\"\"\n  model: opus\n",
        &["1-4 session prompt=Answer to the prompt: model=opus"],
    );
}

/// Braces around a body are accepted, because users of other languages write them.
#[test]
fn braces_open_bodies_too() {
    check(
        "agent a {\n  model: \"opus\",\n  \"tools\": [\"x\"],\n  permissions: {\n    bash: deny\n  }\n}\nparallel {\n  b = session \"x\" {\n    retry: 2\n  }\n}\nif **x** {\n  do f\n} else {\n  throw\n}\n",
        &[
            "1-7 agent a model=opus tools=[\"x\"] permissions={/    bash: deny/  }",
            "8-12 parallel",
            ". 9-11 session b retry=2",
            "13-14 if condition=**x**",
            ". 14 do @f",
            "15-17 else",
            ". 16 throw",
        ],
    );
    check(
        "output result = {\n  status: \"a\",\n  b\n}\noutput {\n  b\n}\nlet x = {\n  c\n}\n}\n",
        &[
            "1-4 output output result",
            "5-7 output output",
            "8-11 assign let x",
        ],
    );
}

#[test]
fn values_on_the_lines_below() {
    check(
        "session \"x\"\n  prompt:\n    \"below\"\n  context:\n    \"\"\"\n    one\n      two\n    \"\"\"\n  skills:\n    - \"a\"\n    # c\n    - b\n",
        &["1-12 session prompt=below context=one/  two skills=- \"a\"/- b"],
    );
    // Three cases: a list with a comment on every line, a property below a complete property, and a placeholder for a
    // number.
    check(
        "session \"x\"\n  skills:\n    - a   # first\n    - b-c # second\n  prompt: \"y\"\n    context: z\nloop (max: {n}):\n  throw\n",
        &[
            "1-6 session skills=- a/- b-c prompt=y context=z",
            "7-8 loop max={n}",
            ". 8 throw",
        ],
    );
    // A text block ends with its indentation; quotes and comments inside it are plain text.
    check(
        "agent a:\n  prompt: |\n    # Heading\n    say \"\"\"\n\n      more\n  model: opus\nthrow\n",
        &[
            "1-7 agent a prompt=# Heading/say \"\"\"//  more model=opus",
            "8 throw",
        ],
    );
    let listing = scan("agent a:\n  model: opus\n  skills: [\"x\"]\nloop (max: 3):\n  throw\n");
    let lines: Vec<u32> = listing.statements[0]
        .properties
        .iter()
        .map(|p| p.line)
        .collect();
    assert_eq!(lines, [2, 3]);
    assert_eq!(
        listing.statements[1]
            .find("max")
            .map(|p| (p.line, &p.value)),
        Some((4, &ValueType::Number(3.0)))
    );
}

#[test]
fn programs_in_markdown() {
    let notes = "# Title\n\nUse it so:\n\n```prose\nloop:\n  session \"x\n```\n\n```json\n{ \"a\": 1 }\n```\n~~~ prose\nthrow\n# c\n";
    check(notes, &["6-7 loop", ". 7 session", "14 throw"]);
    assert_eq!(roles(notes), "T-T-TSST-TTTTS#");
    // Front matter before a program, before other text, and before a program in a section.
    check(
        "---\nkind: agent\n---\n\nagent a:\n  model: opus\n",
        &["5-6 agent a model=opus"],
    );
    check("---\nname: x\n---\n# Title\n\nDo this and that.\n", &[]);
    let contract = "---\nname: x\n---\nrequires:\n- focus: what\n\n### Execution\n\n# Phase\nlet a = call b\n  c: d\n\n## b\n\nrequires:\n- c\n";
    check(contract, &["10-11 call let a @b c=d"]);
    assert_eq!(roles(contract), "TTTTT-T-#SP-T-TT");
    check(
        "# a\n## Execution\nthrow\n## More\nthrow\n",
        &["3 throw", "5 throw"],
    );
    // A fence in a prompt does not make a program Markdown.
    check(
        "# a\nagent a:\n  prompt: \"\"\"\n```prose\nthrow\n```\n\"\"\"\nthrow\n",
        &["2-7 agent a prompt=```prose/throw/```", "8 throw"],
    );
}
