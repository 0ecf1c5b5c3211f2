//! Distributes the limited size of a text for a language model among the blocks of the text.

use super::block::{Block, WrittenBlock};
use crate::pages::view::ForModel;

/// The bytes that are reserved for the sentence that lists omitted blocks.
const FOOT: usize = 200;
/// The smallest useful size of a block that can be left out. A block that gets fewer bytes is left out.
const WORTH: usize = 200;

/// Writes the text within `size` bytes, and lists what was left out or shortened.
pub(super) fn fit(head: &str, blocks: &[Block], size: usize) -> (String, Vec<String>) {
    let room = size.saturating_sub(head.len() + FOOT + ForModel::ROOM);
    let rooms = rooms(blocks, room);
    let mut text = head.to_owned();
    let (mut left_out, mut absent) = (Vec::new(), Vec::new());
    for (block, room) in blocks.iter().zip(rooms) {
        match block.write(room) {
            Some(WrittenBlock { text: own, cut }) => {
                text.push_str(&own);
                left_out.extend(cut.map(|cut| format!("{}: all but {cut}", block.title)));
            }
            None => absent.push(block.title.clone()),
        }
    }
    if !absent.is_empty() {
        text.push_str(&foot(&absent));
    }
    left_out.extend(absent);
    (text, left_out)
}

/// Returns the sentence that lists the omitted blocks, with at most [`FOOT`] bytes.
fn foot(absent: &[String]) -> String {
    let mut said = String::new();
    for (n, title) in absent.iter().enumerate() {
        let sep = if n == 0 { "" } else { "; " };
        if said.len() + sep.len() + title.len() > FOOT - 60 {
            said.push_str(&format!("{sep}{} more", absent.len() - n));
            break;
        }
        said.push_str(sep);
        said.push_str(title);
    }
    format!("\nLeft out for its size: {said}.\n")
}

/// Returns the number of bytes for each block. Reserved bytes are given first, and then the others by priority.
fn rooms(blocks: &[Block], room: usize) -> Vec<usize> {
    let needs: Vec<usize> = blocks
        .iter()
        .map(|block| block.write(usize::MAX).map_or(0, |all| all.text.len()))
        .collect();
    let mut left = room;
    let mut rooms = vec![0; blocks.len()];
    let last = blocks.iter().map(|block| block.rank).max().unwrap_or(0);
    for rank in 0..=last {
        for ((block, need), own) in blocks.iter().zip(&needs).zip(&mut rooms) {
            if block.rank == rank {
                *own = block.least.min(*need).min(left);
                left -= *own;
            }
        }
    }
    // In the first round, each priority gets at most half of the rest: a long program must leave bytes for the others.
    for half in [true, false] {
        for rank in 0..=last {
            let share = if half { left / 2 } else { left };
            left -= fill(blocks, &needs, &mut rooms, rank, share);
        }
        for ((block, need), own) in blocks.iter().zip(&needs).zip(&mut rooms) {
            if block.least == 0 && *own < (*need).min(WORTH) {
                left += *own;
                *own = 0;
            }
        }
    }
    rooms
}

/// Distributes bytes among the blocks of a priority, the smallest need first. Returns how many bytes were used.
fn fill(blocks: &[Block], needs: &[usize], rooms: &mut [usize], rank: u8, share: usize) -> usize {
    let mut of_rank: Vec<(usize, &mut usize)> = blocks
        .iter()
        .zip(needs)
        .zip(rooms)
        .filter(|((block, need), own)| block.rank == rank && **need > **own)
        .map(|((_, need), own)| (*need - *own, own))
        .collect();
    of_rank.sort_by_key(|(missing, _)| *missing);
    let (mut left, mut many) = (share, of_rank.len());
    for (missing, own) in of_rank {
        let given = missing.min(left / many.max(1));
        *own += given;
        left -= given;
        many -= 1;
    }
    share - left
}
