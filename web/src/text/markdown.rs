//! Parses Markdown into a tree of a few harmless kinds of parts, which the page then draws.
//!
//! A run's text is untrusted: raw HTML stays text, images become their description and address, and links are kept
//! only with an `http`, `https` or `mailto` address. Nesting and the number of parts are limited, because a short
//! text can nest deep enough to freeze a browser.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::flow::{has_columns, wraps};

/// The deepest nesting that is drawn. Deeper parts become siblings at this level.
const DEEPEST: usize = 24;

/// The maximum number of parts of one text. The rest of the text is left out.
const MOST: usize = 20_000;

/// A part of a rendered text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RenderedPart {
    /// Plain text.
    Text(String),
    /// Code inside a line.
    Code(String),
    /// A block of code: its language and its text.
    Block(String, String),
    /// A line break.
    Break,
    /// A horizontal line.
    Rule,
    /// A checkbox and whether it is ticked.
    Tick(bool),
    /// A link: its address and its parts.
    Link(String, Vec<RenderedPart>),
    /// A container of parts.
    Node(ContainerKind, Vec<RenderedPart>),
}

/// The kind of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContainerKind {
    /// A paragraph.
    Paragraph,
    /// A heading of level 1 to 6.
    Heading(u8),
    /// A quotation.
    Quote,
    /// A bulleted list.
    List,
    /// A numbered list and its first number.
    Numbered(u64),
    /// An item of a list.
    Item,
    /// Emphasis.
    Emphasis,
    /// Strong emphasis.
    Strong,
    /// Struck-out text.
    Struck,
    /// A table.
    Table,
    /// A row of a table; the first one is the heading.
    Row,
    /// A cell of a table.
    Cell,
    /// Any other container; only its parts are shown.
    Plain,
}

/// A rendered text.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RenderedText {
    /// The text's parts, in order.
    pub(crate) parts: Vec<RenderedPart>,
    /// Whether a part of the text was left out.
    pub(crate) cut: bool,
}

/// Parses Markdown. Every text is valid, so there is no error.
pub(crate) fn render(text: &str) -> RenderedText {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut tree = MarkdownTree::default();
    let wraps = wraps(text);
    for (event, at) in Parser::new_ext(text, options).into_offset_iter() {
        if tree.count >= MOST {
            tree.cut = true;
            break;
        }
        tree.take(match event {
            Event::SoftBreak if is_kept(text, at.start, &wraps) => Event::HardBreak,
            event => event,
        });
    }
    tree.finish()
}

/// Returns whether a break in a paragraph is kept. Markdown keeps none, but models end the lines of verses and of facts
/// without the marks that Markdown wants.
fn is_kept(text: &str, from: usize, wraps: &[usize]) -> bool {
    let rest = text.get(from..).unwrap_or_default();
    let Some((before, next)) = rest.split_once('\n') else {
        return false;
    };
    // The rest of an item is indented, and that of a quotation has its mark.
    let is_rest = next.starts_with([' ', '\t', '>']);
    let next = next.lines().next().unwrap_or_default();
    (has_columns(next) || !is_rest) && wraps.binary_search(&(from + before.len())).is_err()
}

#[derive(Default)]
struct MarkdownTree {
    done: Vec<RenderedPart>,
    /// The open containers, the outermost first.
    open: Vec<(Holder, Vec<RenderedPart>)>,
    /// The number of open containers beyond [`DEEPEST`]. The same number of end events must be ignored.
    ignored: usize,
    count: usize,
    cut: bool,
}

enum Holder {
    Kind(ContainerKind),
    Block(String),
    Link(String),
    Image(String),
}

impl MarkdownTree {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(_) if self.open.len() >= DEEPEST => self.ignored += 1,
            Event::Start(tag) => {
                self.count += 1;
                self.open.push((holder(tag), Vec::new()));
            }
            Event::End(_) if self.ignored > 0 => self.ignored -= 1,
            Event::End(end) => self.close(end),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                self.add(RenderedPart::Text(text.into_string()));
            }
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.add(RenderedPart::Code(text.into_string()));
            }
            Event::SoftBreak => self.add(RenderedPart::Text(" ".to_owned())),
            Event::HardBreak => self.add(RenderedPart::Break),
            Event::Rule => self.add(RenderedPart::Rule),
            Event::TaskListMarker(ticked) => self.add(RenderedPart::Tick(ticked)),
            Event::FootnoteReference(name) => self.add(RenderedPart::Text(format!("[^{name}]"))),
        }
    }

    fn add(&mut self, part: RenderedPart) {
        self.count += 1;
        let parts = self
            .open
            .last_mut()
            .map_or(&mut self.done, |(_, parts)| parts);
        match (parts.last_mut(), part) {
            (Some(RenderedPart::Text(before)), RenderedPart::Text(more)) => before.push_str(&more),
            (_, part) => parts.push(part),
        }
    }

    fn close(&mut self, _end: TagEnd) {
        let Some((holder, parts)) = self.open.pop() else {
            return;
        };
        let part = match holder {
            Holder::Kind(kind) => RenderedPart::Node(kind, parts),
            Holder::Block(language) => RenderedPart::Block(language, plain(&parts)),
            Holder::Link(address) if is_harmless(&address) => {
                let host = other_host(&address, &plain(&parts));
                let link = RenderedPart::Link(address, parts);
                match host {
                    Some(host) => RenderedPart::Node(
                        ContainerKind::Plain,
                        vec![link, RenderedPart::Text(format!(" ({host})"))],
                    ),
                    None => link,
                }
            }
            Holder::Link(_) => RenderedPart::Node(ContainerKind::Plain, parts),
            Holder::Image(address) => {
                let words = plain(&parts);
                let words = if words.is_empty() {
                    "image".to_owned()
                } else {
                    words
                };
                let text = format!("[{words}: {address}]");
                if is_harmless(&address) {
                    RenderedPart::Link(address, vec![RenderedPart::Text(text)])
                } else {
                    RenderedPart::Text(text)
                }
            }
        };
        let parts = self
            .open
            .last_mut()
            .map_or(&mut self.done, |(_, parts)| parts);
        parts.push(part);
    }

    fn finish(mut self) -> RenderedText {
        while !self.open.is_empty() {
            self.close(TagEnd::Paragraph);
        }
        RenderedText {
            parts: self.done,
            cut: self.cut,
        }
    }
}

fn holder(tag: Tag<'_>) -> Holder {
    Holder::Kind(match tag {
        Tag::Paragraph => ContainerKind::Paragraph,
        Tag::Heading { level, .. } => ContainerKind::Heading(match level {
            HeadingLevel::H1 => 1,
            HeadingLevel::H2 => 2,
            HeadingLevel::H3 => 3,
            HeadingLevel::H4 => 4,
            HeadingLevel::H5 => 5,
            HeadingLevel::H6 => 6,
        }),
        Tag::BlockQuote(_) => ContainerKind::Quote,
        Tag::List(None) => ContainerKind::List,
        Tag::List(Some(first)) => ContainerKind::Numbered(first),
        Tag::Item => ContainerKind::Item,
        Tag::Emphasis => ContainerKind::Emphasis,
        Tag::Strong => ContainerKind::Strong,
        Tag::Strikethrough => ContainerKind::Struck,
        Tag::Table(_) => ContainerKind::Table,
        Tag::TableHead | Tag::TableRow => ContainerKind::Row,
        Tag::TableCell => ContainerKind::Cell,
        Tag::CodeBlock(kind) => {
            return Holder::Block(match kind {
                CodeBlockKind::Fenced(language) => language.into_string(),
                CodeBlockKind::Indented => String::new(),
            });
        }
        Tag::HtmlBlock => return Holder::Block("html".to_owned()),
        Tag::Link { dest_url, .. } => return Holder::Link(dest_url.into_string()),
        Tag::Image { dest_url, .. } => return Holder::Image(dest_url.into_string()),
        _ => ContainerKind::Plain,
    })
}

/// Returns whether a link to this address may be followed on a click.
fn is_harmless(address: &str) -> bool {
    let lower = address.trim_start().to_ascii_lowercase();
    ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| lower.starts_with(scheme))
        && !address.chars().any(char::is_control)
}

/// Returns the host of a link if the link may deceive the reader about its host. That is the case if its words contain
/// another host, if a user name precedes the host, or if the host has letters outside of ASCII, which may resemble
/// ASCII letters.
fn other_host(address: &str, words: &str) -> Option<String> {
    let address = address.trim_start();
    let (scheme, rest) = address.split_once(':')?;
    let is_mail = scheme.eq_ignore_ascii_case("mailto");
    // Browsers treat a backslash like a slash.
    let rest = rest.trim_start_matches(['/', '\\']);
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or(rest);
    let (before, host) = match authority.rsplit_once('@') {
        Some((before, host)) => (Some(before), host),
        None => (None, authority),
    };
    let host = host.to_lowercase();
    let shown: String = host
        .chars()
        .map(|c| {
            if c.is_ascii_graphic() {
                c.to_string()
            } else {
                c.escape_unicode().to_string()
            }
        })
        .collect();
    let bare = |name: &str| {
        let name = name.split(':').next().unwrap_or(name);
        name.strip_prefix("www.").unwrap_or(name).to_owned()
    };
    let says_another = hosts(words).any(|said| bare(&said) != bare(&host));
    let is_disguised = !is_mail && before.is_some();
    let is_foreign = !host.is_ascii() || host.split('.').any(|part| part.starts_with("xn--"));
    (says_another || is_disguised || is_foreign).then_some(shown)
}

/// Returns the parts of a text that look like hosts.
fn hosts(words: &str) -> impl Iterator<Item = String> + '_ {
    words.split_whitespace().filter_map(|word| {
        let word = word.split_once("://").map_or(word, |(_, rest)| rest);
        let word = word.rsplit_once('@').map_or(word, |(_, host)| host);
        let host = word.split(['/', '\\', '?', '#']).next().unwrap_or(word);
        let host = host
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase();
        let (name, last) = host.split(':').next()?.rsplit_once('.')?;
        let is_host =
            !name.is_empty() && last.chars().count() >= 2 && last.chars().all(char::is_alphabetic);
        is_host.then_some(host)
    })
}

/// Returns the text of some parts without their formatting.
fn plain(parts: &[RenderedPart]) -> String {
    let mut out = String::new();
    let mut rest: Vec<&RenderedPart> = parts.iter().rev().collect();
    while let Some(part) = rest.pop() {
        match part {
            RenderedPart::Text(text) | RenderedPart::Code(text) | RenderedPart::Block(_, text) => {
                out.push_str(text);
            }
            RenderedPart::Break => out.push('\n'),
            RenderedPart::Rule | RenderedPart::Tick(_) => {}
            RenderedPart::Link(_, inside) | RenderedPart::Node(_, inside) => {
                rest.extend(inside.iter().rev());
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(markdown: &str, want: Vec<RenderedPart>) {
        assert_eq!(render(markdown).parts, want, "{markdown}");
    }

    fn text(words: &str) -> RenderedPart {
        RenderedPart::Text(words.to_owned())
    }

    #[test]
    fn a_link_that_looks_like_another_host_shows_where_it_leads() {
        for (address, words, host) in [
            ("https://example.com/a", "the report", None),
            ("https://example.com/a", "example.com", None),
            ("https://www.example.com/a", "https://example.com/b", None),
            (
                "https://evil.test/",
                "https://bank.example/login",
                Some("evil.test"),
            ),
            ("https://evil.test/", "see bank.example.", Some("evil.test")),
            ("https://bank.example@evil.test/", "bank", Some("evil.test")),
            (
                "https://user:pw@evil.test:8080/x",
                "here",
                Some("evil.test:8080"),
            ),
            (
                "https:\\\\evil.test\\@bank.example",
                "bank.example",
                Some("evil.test"),
            ),
            (
                "https://b\u{430}nk.example/",
                "bank",
                Some("b\\u{430}nk.example"),
            ),
            (
                "https://xn--bnk-5cd.example/",
                "bank",
                Some("xn--bnk-5cd.example"),
            ),
            ("mailto:ops@example.com", "ops@example.com", None),
            (
                "mailto:ops@evil.test",
                "ops@bank.example",
                Some("evil.test"),
            ),
        ] {
            assert_eq!(
                other_host(address, words).as_deref(),
                host,
                "{address} {words}"
            );
        }
        check(
            "[bank.example](https://evil.test/)",
            vec![paragraph(vec![RenderedPart::Node(
                ContainerKind::Plain,
                vec![
                    RenderedPart::Link("https://evil.test/".into(), vec![text("bank.example")]),
                    text(" (evil.test)"),
                ],
            )])],
        );
    }

    fn paragraph(parts: Vec<RenderedPart>) -> RenderedPart {
        RenderedPart::Node(ContainerKind::Paragraph, parts)
    }

    #[test]
    fn renders_what_models_write() {
        let lines = [
            "The first line of a paragraph that is wrapped at a width",
            "and the second",
        ];
        check(
            &lines.join("\n"),
            vec![paragraph(vec![text(&lines.join(" "))])],
        );
        check(
            "a\nb",
            vec![paragraph(vec![text("a"), RenderedPart::Break, text("b")])],
        );
        check(
            "# A *b*",
            vec![RenderedPart::Node(
                ContainerKind::Heading(1),
                vec![
                    text("A "),
                    RenderedPart::Node(ContainerKind::Emphasis, vec![text("b")]),
                ],
            )],
        );
        check(
            "```rust\nlet a;\n```",
            vec![RenderedPart::Block("rust".into(), "let a;\n".into())],
        );
        check(
            "- [x] done",
            vec![RenderedPart::Node(
                ContainerKind::List,
                vec![RenderedPart::Node(
                    ContainerKind::Item,
                    vec![RenderedPart::Tick(true), text("done")],
                )],
            )],
        );
        check(
            "[a](https://b.c)",
            vec![paragraph(vec![RenderedPart::Link(
                "https://b.c".into(),
                vec![text("a")],
            )])],
        );
    }

    #[test]
    fn nothing_runs_and_nothing_is_fetched() {
        for address in [
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "//x.y",
            "JaVaScRiPt:x",
            "vbscript:x",
        ] {
            check(
                &format!("[a](<{address}>)"),
                vec![paragraph(vec![RenderedPart::Node(
                    ContainerKind::Plain,
                    vec![text("a")],
                )])],
            );
        }
        check(
            "![cat](https://b.c/d.png)",
            vec![paragraph(vec![RenderedPart::Link(
                "https://b.c/d.png".into(),
                vec![text("[cat: https://b.c/d.png]")],
            )])],
        );
        check(
            "<img src=x onerror=alert(1)>",
            vec![RenderedPart::Block(
                "html".into(),
                "<img src=x onerror=alert(1)>".into(),
            )],
        );
        check("a <b>c</b>", vec![paragraph(vec![text("a <b>c</b>")])]);
    }

    #[test]
    fn nesting_is_capped_and_loses_no_word() {
        fn depth(parts: &[RenderedPart]) -> usize {
            let inside = parts.iter().map(|part| match part {
                RenderedPart::Node(_, parts) | RenderedPart::Link(_, parts) => 1 + depth(parts),
                _ => 0,
            });
            inside.max().unwrap_or(0)
        }
        let rendered = render(&format!("{}deep", "> ".repeat(500)));
        assert_eq!(depth(&rendered.parts), DEEPEST);
        assert_eq!(plain(&rendered.parts), "deep");
    }

    #[test]
    fn the_number_of_parts_is_capped() {
        let rendered = render(&"*a* ".repeat(MOST));
        assert!(rendered.cut);
        assert!(!render("a").cut);
    }
}
