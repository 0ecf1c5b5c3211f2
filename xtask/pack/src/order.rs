//! Puts similar functions of a module beside each other, because gzip finds a repetition only within 32 KB.

use std::collections::{BTreeMap, VecDeque};

use anyhow::{Result, anyhow};
use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{CodeSection, FunctionSection, Module};
use wasmparser::{CodeSectionReader, FunctionSectionReader, Parser, Payload, TypeRef};

/// The bytes of functions within which a repetition is sought: less than gzip's 32 KB, since the repetition may be
/// anywhere in them.
const NEAR: usize = 28_000;

/// A piece that occurs in more functions than this says nothing about their similarity.
const COMMON: usize = 400;

/// Returns the module with its functions in another order.
///
/// # Errors
/// If the bytes are not a module.
pub(crate) fn ordered(wasm: &[u8]) -> Result<Vec<u8>> {
    let (mut imported, mut bodies) = (0, Vec::new());
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::CodeSectionEntry(body) => bodies.push(body.as_bytes()),
            _ => {}
        }
    }
    let order = order(&bodies);
    let mut numbers: Vec<u32> = (0..imported).chain(order.iter().map(|_| 0)).collect();
    for (number, old) in (imported..).zip(&order) {
        numbers[imported as usize + old] = number;
    }
    let mut module = Module::new();
    Renumbering { order, numbers }
        .parse_core_module(&mut module, Parser::new(0), wasm)
        .map_err(|error| anyhow!("renumbering functions: {error}"))?;
    Ok(module.finish())
}

/// Returns the indices of texts in an order in which each text shares much with those just before it.
fn order(texts: &[&[u8]]) -> Vec<usize> {
    // Of the pieces of eight bytes, half are enough.
    let mut holders: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (at, text) in texts.iter().enumerate() {
        for piece in text.array_windows().map(|piece| u64::from_le_bytes(*piece)) {
            if piece.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 0 {
                holders.entry(piece).or_default().push(at);
            }
        }
    }
    let mut pieces = vec![Vec::new(); texts.len()];
    let mut holders: Vec<Vec<usize>> = holders.into_values().collect();
    for (piece, of) in holders.iter_mut().enumerate() {
        of.dedup();
        if of.len() <= COMMON {
            of.iter().for_each(|text| pieces[*text].push(piece));
        }
    }
    let mut left: Vec<usize> = (0..texts.len()).collect();
    let (mut order, mut near, mut bytes) = (Vec::new(), VecDeque::new(), 0);
    // For each piece, the number of near texts with it; for each text, the number of its pieces in near texts.
    let (mut times, mut shared) = (vec![0_u32; holders.len()], vec![0_usize; texts.len()]);
    let likeness = |shared: &[usize], text: usize| (shared[text] << 20) / (texts[text].len() + 30);
    while let Some(at) = (0..left.len()).max_by_key(|at| {
        let text = left[*at];
        (likeness(&shared, text), std::cmp::Reverse(text))
    }) {
        let next = left.swap_remove(at);
        order.push(next);
        near.push_back(next);
        bytes += texts[next].len();
        for piece in &pieces[next] {
            times[*piece] += 1;
            if times[*piece] == 1 {
                holders[*piece].iter().for_each(|text| shared[*text] += 1);
            }
        }
        while bytes > NEAR
            && near.len() > 1
            && let Some(far) = near.pop_front()
        {
            bytes -= texts[far].len();
            for piece in &pieces[far] {
                times[*piece] -= 1;
                if times[*piece] == 0 {
                    holders[*piece].iter().for_each(|text| shared[*text] -= 1);
                }
            }
        }
    }
    order
}

/// Writes a module with its functions in `order`; `numbers` has the new number of each function, by the old one.
struct Renumbering {
    order: Vec<usize>,
    numbers: Vec<u32>,
}

impl Reencode for Renumbering {
    type Error = std::convert::Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, Error> {
        Ok(self.numbers[function as usize])
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error> {
        let types = section.into_iter().collect::<Result<Vec<_>, _>>()?;
        for old in &self.order {
            functions.function(types[*old]);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), Error> {
        let bodies = section.into_iter().collect::<Result<Vec<_>, _>>()?;
        for old in self.order.clone() {
            utils::parse_function_body(self, code, bodies[old].clone())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{ExportKind, ExportSection, Function, TypeSection, ValType};

    use super::*;

    #[test]
    fn texts_follow_what_they_share_most_with() {
        let (one, two) = (
            b"0123456789abcdefghijklmnop",
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZ012",
        );
        let texts: [&[u8]; 4] = [one, two, &one[1..], &two[1..]];
        assert_eq!(order(&texts), [0, 2, 1, 3]);
    }

    #[test]
    fn a_function_keeps_its_type_its_body_and_its_callers() {
        let (mut types, mut functions) = (TypeSection::new(), FunctionSection::new());
        let (mut exports, mut code) = (ExportSection::new(), CodeSection::new());
        for (number, result) in [ValType::I64, ValType::I32].into_iter().enumerate() {
            types.ty().function([], [result]);
            functions.function(number as u32);
            exports.export(&format!("f{number}"), ExportKind::Func, number as u32);
        }
        for function in 0..2 {
            let mut body = Function::new([]);
            body.instructions().call(function).end();
            code.function(&body);
        }
        let mut module = Module::new();
        module
            .section(&types)
            .section(&functions)
            .section(&exports)
            .section(&code);
        let mut swapped = Module::new();
        Renumbering {
            order: vec![1, 0],
            numbers: vec![1, 0],
        }
        .parse_core_module(&mut swapped, Parser::new(0), module.as_slice())
        .unwrap();
        let mut renumbered = Vec::new();
        for payload in Parser::new(0).parse_all(swapped.as_slice()) {
            match payload.unwrap() {
                Payload::FunctionSection(types) => {
                    renumbered.extend(types.into_iter().map(Result::unwrap));
                }
                Payload::ExportSection(of) => {
                    renumbered.extend(of.into_iter().map(|of| of.unwrap().index));
                }
                Payload::CodeSectionEntry(body) => renumbered.push(body.as_bytes()[2].into()),
                _ => {}
            }
        }
        assert_eq!(renumbered, [1, 0, 1, 0, 0, 1]);
    }
}
