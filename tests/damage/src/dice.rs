/// Numbers that look like chance and are the same in every run (xorshift64*).
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Dice that give the same numbers for the same seed.
    pub fn new(seed: u64) -> Dice {
        // Seeds that follow each other must not give numbers that do.
        let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Dice((mixed ^ (mixed >> 31)) | 1)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `sides`; 0 when there are none.
    pub fn throw(&mut self, sides: usize) -> usize {
        (self.bits() >> 16) as usize % sides.max(1)
    }

    /// One of these.
    ///
    /// # Panics
    /// When there is none.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.throw(from.len())]
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        (self.bits() >> 24) as u8
    }

    /// Bytes as even as encryption leaves them.
    pub fn noise(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.byte()).collect()
    }

    /// A number that programs stumble over, or any.
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
