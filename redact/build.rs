//! Converts `rules.toml` to JSON. The viewer's wasm contains a JSON parser anyway; a TOML parser would add 46 to 63 KB
//! to its compressed size.

use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=rules.toml");
    let rules: toml::Table = toml::from_str(&fs::read_to_string("rules.toml")?)?;
    let json = Path::new(&env::var("OUT_DIR")?).join("rules.json");
    Ok(fs::write(json, serde_json::to_string(&rules)?)?)
}
