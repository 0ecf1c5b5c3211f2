/// Defines an enum with one word for each member. JSON and text output contain this word.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $member:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        pub enum $name { $($(#[$of])* #[serde(rename = $word)] $member,)* }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(match self { $($name::$member => $word,)* })
            }
        }
    };
}
pub(super) use words;
