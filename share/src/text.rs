//! Redacts a single text as the texts of a run are redacted.

use prosescope_core::pages::view::SecretFound;
use prosescope_redact::Remains;

use crate::copy::{Redactor, TextPlace};
use crate::pack::ShareError;

/// The place of the text in a [`SecretFound`].
const TEXT: TextPlace<'_> = TextPlace {
    of: "text",
    at: "text",
};

/// Returns the redacted text and its replacements.
///
/// # Errors
/// [`ShareError::Remains`] if a replaced text would still occur in the result.
pub fn redacted(
    text: &str,
    redactor: &mut Redactor,
) -> Result<(String, Vec<SecretFound>), ShareError> {
    // The text is scanned twice, like a run: the second scan also finds the secrets of the first scan in their other
    // forms.
    redactor.text(TEXT, text);
    redactor.again();
    let redacted = redactor.text(TEXT, text);
    let redacted = redacted.unwrap_or_else(|| text.to_owned());
    let found = redactor.found().to_vec();
    match Remains::of(redactor.names()).search(redacted.as_bytes()) {
        None => Ok((redacted, found)),
        Some(place) => Err(ShareError::Remains {
            name: place.name,
            path: TEXT.at.to_owned(),
            form: place.form.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use prosescope_redact::{RuleKind, Rules, shape};

    use super::redacted;
    use crate::wishes::{LocalSecret, Wishes};

    #[test]
    fn a_secret_that_a_text_shows_by_its_form_is_replaced_in_every_other_form_too() {
        let token = shape::fill("ghp_{A:36}", 1);
        let (head, tail) = token.split_at(20);
        let text = format!("split: {head}\n{tail}\nthen whole: {token}\nand hunter2hunter2\n");
        let known = LocalSecret {
            name: "DOOR".to_owned(),
            value: "hunter2hunter2".to_owned(),
            kind: RuleKind::Secret,
        };
        let mut redactor = Wishes::default().redactor(Rules::new(), [known]).unwrap();
        let (redacted, found) = redacted(&text, &mut redactor).unwrap();
        assert_eq!(
            redacted,
            "split: [github-token #1]\n\nthen whole: [github-token #1]\nand [DOOR #1]\n"
        );
        let found: Vec<_> = found.iter().map(|one| (&*one.name, &*one.at)).collect();
        assert_eq!(
            found,
            [
                ("github-token #1", "text"),
                ("github-token #1", "text, line 3"),
                ("DOOR #1", "text, line 4"),
            ]
        );
    }
}
