//! Pseudo-random numbers from a seed (splitmix64).

/// A sequence of numbers that depends only on its seed.
pub struct Chance(u64);

impl Chance {
    /// Returns the sequence of this seed.
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `most`; 0 if `most` is 0.
    pub fn below(&mut self, most: usize) -> usize {
        match u64::try_from(most) {
            Ok(most) if most > 0 => usize::try_from(self.next() % most).unwrap_or(0),
            _ => 0,
        }
    }

    /// Returns true once in `of` times on average.
    pub fn once_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    /// Returns one of these, or `None` if there are none.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }
}
