/// A generator of pseudo-random numbers that are the same in every run (xorshift64*).
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Creates a generator; the same seed gives the same numbers.
    pub fn new(seed: u64) -> Dice {
        // Mixes the seed, because consecutive seeds would give similar numbers.
        let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Dice((mixed ^ (mixed >> 31)) | 1)
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below `sides`; 0 if `sides` is 0.
    pub fn throw(&mut self, sides: usize) -> usize {
        (self.bits() >> 16) as usize % sides.max(1)
    }

    /// Returns one of these items.
    ///
    /// # Panics
    /// If there are no items.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.throw(from.len())]
    }

    /// Returns a byte.
    pub fn byte(&mut self) -> u8 {
        (self.bits() >> 24) as u8
    }

    /// Returns bytes that are as evenly distributed as encrypted bytes.
    pub fn noise(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.byte()).collect()
    }

    /// Returns either a number with which programs often have problems, or a random number.
    pub fn odd_number(&mut self) -> i64 {
        const ODD: [i64; 14] = [
            0,
            -1,
            1,
            2,
            127,
            255,
            65_536,
            i32::MAX as i64,
            i32::MIN as i64,
            u32::MAX as i64,
            1 << 53,
            i64::MAX,
            i64::MIN,
            i64::MAX - 1,
        ];
        match self.throw(3) {
            0 => self.bits() as i64,
            _ => *self.pick(&ODD),
        }
    }
}
