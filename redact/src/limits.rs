//! Lists the kinds of secrets that no rule finds, for the documentation.

/// Returns the kinds of secrets that no rule finds, one sentence each; `docs/reference/sharing.md` shortens the list.
pub fn not_found() -> &'static [&'static str] {
    &[
        "A password or key in a sentence that does not call it a password or key, such as \"log in with hunter2\".",
        "A secret without a known form whose name does not say that it is secret, such as `X=…`: name the secret with `--redact`.",
        "A secret that is split over two columns, two cells or two files.",
        "A secret split by anything other than line breaks and indentation, such as `\"abc\" + \"def\"`.",
        "A secret that is encoded twice, compressed, encrypted, or written in base32.",
        "A password attached to an option, such as `mysql -pX`, or after a YAML tag.",
        "A secret in an image, an archive, or another file that is not text.",
        "A password of words, such as \"correct horse battery staple\", unless the password's name contains \"passphrase\".",
        "A password of fewer than four characters; a value from `.env` or the environment with fewer than eight characters, unless you name the value with `--redact`.",
        "Values that read as examples: `example`, `changeme`, `your-key`, `<token>`, `$TOKEN`.",
        "Home folders of users whose names are common in examples or on servers, such as `/home/alice` or `/home/ubuntu`.",
        "Names of people, customers and companies; addresses, phone numbers, account numbers: name them with `--redact`.",
        "Confidential content without a recognisable form: a plan, a price, a private conversation.",
    ]
}
