//! Tests of blocks that call themselves: if several frames run the same block, each line of the state file must belong
//! to the right frame.

use super::*;

const CALLS_ITSELF: &str = "\
block estimate(option):
  let cost = session \"Cost\"
  if **it has variants**:
    let variants = session \"Variants\"
    for variant in variants:
      do estimate(variant)
  session \"Sum up\"

do estimate(\"pump\")
";

fn binding(name: &str, kind: &str, id: i64, parent: Option<i64>, source: &str) -> (String, String) {
    let parent = parent.map_or(String::new(), |p| format!("parent_execution_id: {p}\n"));
    let text = format!(
        "# {name}\n\nkind: {kind}\nexecution_id: {id}\n{parent}\nsource:\n```prose\n{source}\n```\n\n---\n\nx"
    );
    (format!("bindings/{name}__{id}.md"), text)
}

fn stack(rows: &[(i64, &str, i64, &str)]) -> String {
    let rows: String = rows
        .iter()
        .map(|(id, block, depth, status)| format!("| {id} | {block} | {depth} | {status} |\n"))
        .collect();
    format!("## Call Stack\n\n| execution_id | block | depth | status |\n|--|--|--|--|\n{rows}")
}

fn check_with(program: &str, text: &str, bindings: &[(String, String)], expected: &str) {
    let mut files = vec![("state.md", text), ("program.prose", program)];
    files.extend(bindings.iter().map(|(p, t)| (p.as_str(), t.as_str())));
    check(&files, expected);
}

/// The section belongs to the frame that waits in the loop, but the file does not name that frame (errata E9).
#[test]
fn what_frames_of_one_block_ran_is_told_by_their_bindings() {
    let marked = CALLS_ITSELF
        .replace("\"Cost\"", "\"Cost\"   # <-- EXECUTING")
        .replace(
            "\"Variants\"",
            "\"Variants\"   # --> bindings/variants__1.md",
        )
        .replace(
            "do estimate(\"pump\")",
            "do estimate(\"pump\")   # <-- EXECUTING",
        );
    let constructs =
        "## Active Constructs\n\n### Loop (lines 5-6)\n\n- status: executing\n- iteration: 2/2\n\n";
    let stacks = [
        (3, "estimate", 2, "executing"),
        (1, "estimate", 1, "waiting"),
    ];
    let bindings = [
        binding("option", "input", 1, None, "do estimate(\"pump\")"),
        binding("cost", "let", 1, None, "let cost = session \"Cost\""),
        binding(
            "variants",
            "let",
            1,
            None,
            "let variants = session \"Variants\"",
        ),
        binding("option", "input", 2, Some(1), "do estimate(variant)"),
        binding("cost", "let", 2, Some(1), "let cost = session \"Cost\""),
        binding("option", "input", 3, Some(1), "do estimate(variant)"),
    ];
    let expected = "
        frame estimate#1 at 1: waiting @9
          let cost = session \"Cost\": completed derived @2
          let variants = session \"Variants\": completed derived @4
          frame estimate#2 at 2: completed derived @6
            let cost = session \"Cost\": completed derived @2
          frame estimate#3 at 2: executing @6
            let cost = session \"Cost\": executing @2 <
    ";
    let text = |stack: &str| state("status: running", &marked, &format!("{constructs}{stack}"));
    check_with(CALLS_ITSELF, &text(&stack(&stacks)), &bindings, expected);
    // A call stack in the opposite order is recognised by its depths.
    let turned = [stacks[1], stacks[0]];
    check_with(CALLS_ITSELF, &text(&stack(&turned)), &bindings, expected);
}

#[test]
fn of_several_frames_of_a_block_nobody_knows_which_one_a_section_speaks_of() {
    let marked = CALLS_ITSELF.replace(
        "do estimate(variant)",
        "do estimate(variant)   # <-- EXECUTING",
    );
    let section =
        |n: u32| format!("### Loop (lines 5-6)\n\n- status: executing\n- iteration: {n}/4\n\n");
    let stacks = stack(&[
        (9, "estimate", 3, "executing"),
        (5, "estimate", 2, "waiting"),
        (1, "estimate", 1, "waiting"),
    ]);
    for sections in [section(2), section(3) + &section(2)] {
        let sections = format!("## Active Constructs\n\n{sections}{stacks}");
        check_with(
            CALLS_ITSELF,
            &state("", &marked, &sections),
            &[],
            "
            frame estimate#1 at 1: waiting @9
              frame estimate#5 at 2: waiting @6
                frame estimate#9 at 3: executing @6 <
            ",
        );
    }
    // A mark inside a loop of the block belongs to the innermost frame.
    let inside = CALLS_ITSELF.replace(
        "      do estimate(variant)",
        "      session \"Look\"\n      do estimate(variant)",
    );
    let marked = inside.replace("\"Look\"", "\"Look\"   # <-- EXECUTING");
    let sections = format!("## Active Constructs\n\n{}{stacks}", section(2));
    check_with(
        &inside,
        &state("", &marked, &sections),
        &[],
        "
        frame estimate#1 at 1: waiting @10
          frame estimate#5 at 2: waiting @7
            frame estimate#9 at 3: executing @7
              loop: started derived @5
                session \"Look\": executing @6 <
        ",
    );
}

#[test]
fn of_several_calls_that_may_have_made_a_frame_none_is_guessed() {
    let program = "\
block split(x):
  parallel:
    left = do split(x)
    right = do split(x)
  session \"Merge\"

parallel:
  whole = do split(\"all\")
  other = session \"Other\"
";
    let marked = program.replace("\"Merge\"", "\"Merge\"   # <-- EXECUTING");
    let sections = "## Active Constructs\n\n### Parallel (lines 2-4)\n\n- left: complete\n- right: executing\n\n### Parallel (lines 7-9)\n\n- whole: executing\n- other: complete\n\n";
    let stacks = stack(&[
        (3, "split", 3, "executing"),
        (2, "split", 2, "waiting"),
        (1, "split", 1, "waiting"),
    ]);
    check_with(
        program,
        &state("", &marked, &format!("{sections}{stacks}")),
        &[],
        "
        parallel: started @7
          branch whole: executing @8
            frame split#1 at 1: waiting @8
              frame split#2 at 2: waiting
                frame split#3 at 3: executing
                  session \"Merge\": executing @5 <
          branch other: completed @9
        ",
    );
}

#[test]
fn one_call_in_a_loop_or_a_parallel_for_makes_several_frames() {
    let block = "block one(x):\n  let y = session \"Y\"\n\n";
    let many = format!("{block}parallel for x in xs:\n  do one(x)\nsession \"End\"\n");
    let rows = stack(&[(2, "one", 1, "executing"), (1, "one", 1, "executing")]);
    let trace = many.replace(
        "parallel for x in xs:",
        "parallel for x in xs:   # <-- EXECUTING",
    );
    check_with(
        &many,
        &state("", &trace, &rows),
        &[],
        "
        parallel: executing @4
          frame one#1 at 1: executing @5 <
          frame one#2 at 1: executing @5 <
        ",
    );
    // The rounds of a finished loop are unknown, so the frames called in it are directly inside it.
    let looped = format!("{block}for x in xs:\n  do one(x)\nsession \"End\"\n");
    let trace = looped
        .replace("\"End\"", "\"End\"   # <-- EXECUTING")
        .replace("do one(x)", "do one(x)   # (complete)");
    let bindings = [1, 2, 3].map(|id| binding("y", "let", id, None, "let y = session \"Y\""));
    check_with(
        &looped,
        &state("", &trace, ""),
        &bindings,
        "
        loop: completed derived @4
          frame one#1 at 1: completed derived inferred @5
            let y = session \"Y\": completed derived @2
          frame one#2 at 1: completed derived inferred @5
            let y = session \"Y\": completed derived @2
          frame one#3 at 1: completed @5
            let y = session \"Y\": completed derived @2
        session \"End\": executing @6 <
        ",
    );
}
