//! Converts `rules.toml` and `words.toml` to JSON. The viewer's wasm contains a JSON parser anyway; a TOML parser would add 46 to 63 KB
//! to its compressed size.

use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for name in ["rules", "words"] {
        println!("cargo::rerun-if-changed={name}.toml");
        let file: toml::Table = toml::from_str(&fs::read_to_string(format!("{name}.toml"))?)?;
        let json = Path::new(&env::var("OUT_DIR")?).join(format!("{name}.json"));
        fs::write(json, serde_json::to_string(&file)?)?;
    }
    Ok(())
}
