//! Builds the blocks of a text for a language model, in their order. If the text is too long, priorities decide. Bytes
//! are reserved for the error, the prompt and the beginnings of inputs. The program, longer values and the tree get the
//! remaining bytes.

use super::block::{Block, LINE, QuotedContent, beginning, one_line, quoted};
use super::tree::tree;
use crate::model::text::bytes;
use crate::pages::resume;
use crate::pages::session::pages::work::asked;
use crate::pages::session::pages::{
    bindings_page, node_detail, program_page, resume as resume_page,
};
use crate::pages::session::{Session, ValueOf};
use crate::pages::view::{
    AnswerView, BindingRef, Excerpt, GivenName, ModelSize, NodeDetail, Overview, Received, Section,
};
use crate::trace::NodeId;

/// The priority of prompts, inputs and errors.
const FIRST: u8 = 0;
/// The priority of other facts that help: the statement, the answer, the next steps.
const NEAR: u8 = 1;
const PROGRAM: u8 = 2;
const VALUES: u8 = 3;
const TREE: u8 = 4;

/// The bytes for the beginnings of all inputs together, however many inputs there are.
const GIVEN: usize = 1_700;
/// How many lines of the program before and after the row's line are considered.
const LINES: u32 = 1_500;
/// The largest number of bindings that are listed.
const BINDINGS: u32 = 200;

/// Returns the blocks of a text about a node or about the whole run. All of their reserved bytes ([`Block::least`])
/// together are less than the smallest size.
pub(super) fn blocks(
    session: &Session,
    view: &Overview,
    node: Option<NodeId>,
    size: ModelSize,
    now: Option<i64>,
) -> Vec<Block> {
    let mut blocks = vec![happened(view)];
    let detail = node.and_then(|node| node_detail(session, node));
    if let Some(detail) = &detail {
        row(session, detail, size, &mut blocks);
    }
    if node.is_none() || session.index.cause != node {
        blocks.extend(failure(view));
    }
    next(session, view, now, &mut blocks);
    blocks.extend(program(session, detail.as_ref(), view));
    if detail.is_none() {
        blocks.extend(values(session));
    }
    let focus = node.or_else(|| view.positions.first().map(|at| NodeId::new(at.node)));
    let (lines, at) = tree(session, focus.or(session.index.cause));
    if !lines.is_empty() {
        let mut block = Block::lines("The tree of the trace", lines, at).ranked(TREE, 0);
        block.lead = "Each line is a row; rows in which all went well are folded. `>` marks the row that this text is about.";
        blocks.push(block);
    }
    blocks
}

fn happened(view: &Overview) -> Block {
    let mut lines = vec![view.headline.clone()];
    lines.extend(view.story.iter().cloned());
    let mut add = |name: &str, text: &str| {
        if !text.is_empty() {
            lines.push(format!("{name}: {text}"));
        }
    };
    add(
        "status",
        &format!("{} ({})", view.status, view.status_reason),
    );
    add("run", &view.run);
    add("program", view.program.as_deref().unwrap_or("not recorded"));
    add("read from", &view.form);
    add("left", &view.left);
    add("next", &view.next);
    add("command", view.next_command.as_deref().unwrap_or_default());
    for unread in &view.unread {
        add("not read", &format!("{}: {}", unread.what, unread.why));
    }
    Block::text("What happened", &lines.join("\n")).ranked(NEAR, 900)
}

/// Adds the blocks about a row.
fn row(session: &Session, detail: &NodeDetail, size: ModelSize, blocks: &mut Vec<Block>) {
    let at = &detail.row;
    let work = &detail.work;
    let path: Vec<String> = detail
        .path
        .iter()
        .map(|at| one_line(&at.text, 60))
        .collect();
    let line = at.line.map_or(String::new(), |line| line.to_string());
    let line = match &detail.line_why {
        Some(why) => format!("{line}, a guess: {why}"),
        None => line,
    };
    let mut of = Block::of("The row", None)
        .ranked(FIRST, 600)
        .fact(
            "row",
            &format!("{}, {}, {}", at.number(), at.kind, at.status),
        )
        .fact("line", &line)
        .fact("detail", &at.detail)
        .fact("took", at.duration.as_deref().unwrap_or_default())
        .fact("place", detail.inferred_why.as_deref().unwrap_or_default());
    if let Some(agent) = &work.agent {
        let agent = format!("{}, whose memory lives for: {}", agent.name, agent.scope);
        of = of.fact("agent", &agent);
    }
    if !path.is_empty() {
        // The path ends at this row. The focus is at its end, because the nearest rows matter most.
        of.content = Some(QuotedContent::Lines {
            focus: path.len() - 1,
            before: 0,
            total: path.len(),
            lines: path.iter().map(|at| format!("in {at}")).collect(),
        });
    }
    blocks.push(of);
    blocks.push(Block::text("Its statement", &detail.text).ranked(NEAR, 500));
    if let Some(error) = &detail.error {
        blocks.push(Block::text("Its error", error).ranked(FIRST, 1_100));
    }
    let node = NodeId::new(at.node);
    let prompt = session
        .node(node)
        .and_then(|node| asked(session, node).prompt);
    if prompt.is_some() || work.prompt_note.is_some() {
        let note = work.prompt_note.as_deref().unwrap_or_default();
        let mut of = match &prompt {
            Some(prompt) => Block::text("What it was asked", prompt),
            None => Block::of("What it was asked", None),
        };
        of = of.fact("note", note);
        blocks.push(of.ranked(FIRST, 1_100));
    }
    given(session, detail, size, blocks);
    for (n, answer) in work.answers.iter().enumerate() {
        let least = if n == 0 { 400 } else { 0 };
        let of = answered(session, answer, size, (n + 1, work.answers.len()));
        let rank = if n == 0 { NEAR } else { VALUES };
        blocks.push(of.ranked(rank, least));
    }
    if let (true, Some(note)) = (work.answers.is_empty(), &work.answer_note) {
        blocks.push(Block::text("What it answered", note).ranked(NEAR, 300));
    }
    if !work.attempts.is_empty() || work.attempts_note.is_some() {
        let line = |at: &crate::pages::view::AttemptView| {
            let error = at.error.as_deref().unwrap_or_default();
            one_line(&format!("{} {} {error}", at.number, at.status), LINE)
        };
        let mut lines: Vec<String> = work.attempts.iter().map(line).collect();
        lines.extend(work.attempts_note.iter().map(|note| one_line(note, LINE)));
        let last = lines.len();
        blocks.push(Block::lines("Its attempts", lines, last).ranked(NEAR, 250));
    }
}

/// Adds the blocks about a statement's inputs: the beginnings of all values, and then the longer values in full.
fn given(session: &Session, detail: &NodeDetail, size: ModelSize, blocks: &mut Vec<Block>) {
    let work = &detail.work;
    let many = work.context.len();
    if many == 0 {
        if let Some(note) = &work.context_note {
            blocks.push(Block::text("The values it was given", note).ranked(FIRST, 200));
        }
        return;
    }
    let most = (GIVEN / many).clamp(34, LINE) - 1;
    let (mut lines, mut longer) = (Vec::new(), Vec::new());
    for (n, name) in work.context.iter().enumerate() {
        let value = value_of(
            session,
            name.binding.as_ref(),
            name.seen,
            name.value.as_ref(),
            size,
        );
        let own = one_line(&name.name, most / 2 - 4);
        let Some((text, len, cut)) = value else {
            let why = name.note.as_deref().unwrap_or(&name.why);
            lines.push(one_line(&format!("{own}: not known; {why}"), most));
            continue;
        };
        let size = match most {
            0..80 => String::new(),
            _ => format!(" ({})", bytes(len)),
        };
        let head = format!("{own}{size} = ");
        let begins = one_line(&text, most.saturating_sub(head.len()));
        lines.push(format!("{head}{begins}"));
        let is_whole = !cut && begins == text.trim() && name.note.is_none();
        if !is_whole {
            let title = format!("Value {} of {many} that it was given", n + 1);
            let of = Block::part_of(title, &text, len, cut)
                .fact("name", &name.name)
                .fact("frame", &frame(name))
                .fact("why this value", &name.why)
                .fact("note", name.note.as_deref().unwrap_or_default());
            longer.push(of.ranked(VALUES, 0));
        }
    }
    let mut of = Block::lines("The values it was given", lines, 0).ranked(FIRST, GIVEN + 200);
    of.lead = "One line for each name, with the beginning of its value.";
    of = of.fact("note", work.context_note.as_deref().unwrap_or_default());
    if work.more_context > 0 {
        of = of.fact("more names", &work.more_context.to_string());
    }
    blocks.push(of);
    blocks.append(&mut longer);
}

/// Returns the frame of the value that a name means: an execution's number, or `root`.
fn frame(name: &GivenName) -> String {
    let binding = name.binding.as_ref();
    binding.map_or(String::new(), |binding| match binding.execution_id {
        Some(id) => id.to_string(),
        None => "root".to_owned(),
    })
}

/// Returns the beginning of a value, the length of the whole value, and whether the value is cut. For a replaced value,
/// uses the kept excerpt.
fn value_of(
    session: &Session,
    binding: Option<&BindingRef>,
    seen: Received,
    excerpt: Option<&Excerpt>,
    size: ModelSize,
) -> Option<(String, u64, bool)> {
    let excerpt = excerpt?;
    let is_there = matches!(seen, Received::Same | Received::Unknown);
    let whole = binding
        .filter(|_| is_there && excerpt.cut)
        .and_then(|binding| {
            let of = ValueOf::Binding(binding.binding);
            let value = session.value(&of, size.bytes()).ok()?;
            Some((value.text, value.len, value.cut))
        });
    whole.or_else(|| Some((excerpt.text.clone(), excerpt.len, excerpt.cut)))
}

fn answered(session: &Session, answer: &AnswerView, size: ModelSize, of: (usize, usize)) -> Block {
    let title = match of {
        (_, 1) => "What it answered".to_owned(),
        (n, many) => format!("Answer {n} of {many}"),
    };
    let seen = if answer.binding.overwritten {
        Received::Replaced
    } else {
        Received::Same
    };
    let excerpt = answer.value.as_ref();
    let block = match value_of(session, Some(&answer.binding), seen, excerpt, size) {
        Some((text, len, cut)) => Block::part_of(title, &text, len, cut),
        None => Block::of(title, None),
    };
    block
        .fact("name", &answer.binding.name)
        .fact("note", answer.note.as_deref().unwrap_or_default())
}

/// Returns the block about the run's first failure, for a text that is about another row or about the whole run.
fn failure(view: &Overview) -> Option<Block> {
    let failure = view.failure.as_ref()?;
    let error = failure
        .error
        .as_deref()
        .unwrap_or("no message was recorded");
    let block = Block::text("The error of the first cause", error)
        .fact("statement", &failure.cause.text)
        .fact("in", &failure.cause.path)
        .fact("because of it", &failure.because_words);
    Some(block.ranked(FIRST, 700))
}

/// Adds the blocks about continuing the run.
fn next(session: &Session, view: &Overview, now: Option<i64>, blocks: &mut Vec<Block>) {
    if view.status == "completed" {
        return;
    }
    let resume = resume_page(session, now);
    if !resume.resumable {
        return;
    }
    let said = resume::sections(&resume);
    let sections = [&said.steps, &said.gates, &said.cautions, &said.missing];
    for (n, of) in sections.into_iter().enumerate() {
        let Section {
            title,
            about,
            items,
        } = of;
        if items.is_empty() {
            continue;
        }
        let lines = resume::lines(of).into_iter();
        let lines = lines.map(|line| one_line(&line, LINE)).collect();
        let mut block = Block::lines(*title, lines, 0);
        block.lead = about;
        blocks.push(block.ranked(NEAR, if n == 0 { 250 } else { 0 }));
    }
}

/// Returns the block with the program around the line that the text is about.
fn program(session: &Session, detail: Option<&NodeDetail>, view: &Overview) -> Option<Block> {
    let line = match detail {
        Some(detail) => detail.row.line,
        None => view.positions.first().and_then(|at| at.line),
    };
    let from = line.unwrap_or(1).saturating_sub(LINES);
    let page = program_page(session, from, 2 * LINES);
    let mut focus = 0;
    let mut lines = Vec::new();
    for (at, own) in page.lines.iter().enumerate() {
        let is_own = Some(own.line) == line;
        if is_own {
            focus = at;
        }
        let mark = if is_own { ">" } else { " " };
        let said = match own.annotation.as_str() {
            "" | "completed" => String::new(),
            said => format!("    ← {}", one_line(said, 60)),
        };
        let text = quoted(&own.text).replace('\n', " ");
        let cut = beginning(&text, LINE);
        let more = if cut.len() < text.len() { "…" } else { "" };
        lines.push(format!("{mark}{:>4}  {cut}{more}{said}", own.line));
    }
    if lines.is_empty() {
        return None;
    }
    let block = Block::of(
        "The program",
        Some(QuotedContent::Lines {
            lines,
            focus,
            before: from as usize,
            total: page.total as usize,
        }),
    );
    let block = block
        .fact("file", page.path.as_deref().unwrap_or_default())
        .fact("note", page.note.as_deref().unwrap_or_default());
    Some(block.ranked(PROGRAM, 0))
}

/// Returns the block with the beginnings of the run's values.
fn values(session: &Session) -> Option<Block> {
    let page = bindings_page(session, 0, BINDINGS);
    let line = |row: &crate::pages::view::BindingRow| {
        let len = row.attachment_len.or(row.len).map(bytes);
        let len = len.map_or(String::new(), |len| format!(" ({len})"));
        let frame = row
            .execution_id
            .map_or(String::new(), |id| format!(" in frame {id}"));
        let name = one_line(&row.name, 60);
        one_line(&format!("{name}{len}{frame} = {}", row.preview), LINE)
    };
    let lines: Vec<String> = page.rows.iter().map(line).collect();
    if lines.is_empty() {
        return None;
    }
    let block = Block::of(
        "Its values",
        Some(QuotedContent::Lines {
            lines,
            focus: 0,
            before: 0,
            total: page.total as usize,
        }),
    );
    Some(block.ranked(VALUES, 0))
}
