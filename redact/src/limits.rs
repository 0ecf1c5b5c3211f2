//! What is not found, for the documentation.

/// Returns what no rule finds, one sentence each: `docs/reference/sharing.md` quotes them.
pub fn not_found() -> &'static [&'static str] {
    &[
        "A password or key in a sentence that does not say so, such as \"log in with hunter2\".",
        "A secret without a known form whose name does not say that it is one, such as `X=…`: name it with `--redact`.",
        "A secret that is split over two columns, two cells or two files.",
        "A secret that is split by anything but line breaks and indentation, such as `\"abc\" + \"def\"`.",
        "A secret that is encoded twice, compressed, encrypted, or written in base32.",
        "A password that is glued to an option, such as `mysql -pX`, or that follows a tag of YAML.",
        "A secret in an image, an archive, or another file that is not text.",
        "A password of words, such as \"correct horse battery staple\", unless its name says passphrase.",
        "A password of fewer than four characters; an exact value of fewer than eight that you did not name.",
        "Values that read as examples: `example`, `changeme`, `your-key`, `<token>`, `$TOKEN`.",
        "Names of people, customers and companies; addresses, phone numbers, numbers of accounts: name them with `--redact`.",
        "What a value means: a plan, a price, a conversation that is nobody else's business.",
    ]
}
