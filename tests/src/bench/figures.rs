//! Measures several things in alternation, so that a machine that slows down affects all of them.

use std::time::Instant;

use prosescope_tests::work::spent;

/// A program or function that is compared with others. Its closure returns the time of one repetition in seconds,
/// without the time of its preparation.
pub(crate) struct Rival<'a> {
    pub(crate) name: String,
    repeat: Box<dyn FnMut() -> f64 + 'a>,
}

impl<'a> Rival<'a> {
    /// Creates a rival whose closure measures its own time.
    pub(crate) fn new(name: impl Into<String>, repeat: impl FnMut() -> f64 + 'a) -> Rival<'a> {
        Rival {
            name: name.into(),
            repeat: Box::new(repeat),
        }
    }

    /// Creates a rival measured by this thread's processor time, which a busy machine changes little.
    pub(crate) fn work(name: impl Into<String>, mut work: impl FnMut() + 'a) -> Rival<'a> {
        Rival::new(name, move || worked(&mut work))
    }

    /// Creates a rival measured by wall-clock time.
    pub(crate) fn whole(name: impl Into<String>, mut work: impl FnMut() + 'a) -> Rival<'a> {
        Rival::new(name, move || {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
    }
}

/// Returns the processor time that this thread needs for some work, in seconds.
pub(crate) fn worked(work: impl FnOnce()) -> f64 {
    spent(work).1.as_secs_f64()
}

/// The times of one rival's repetitions, in seconds, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures(pub(crate) Vec<f64>);

impl Figures {
    pub(crate) fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn max(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }

    /// Returns the median; of an even number of times, the lower of the two in the middle.
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
            .get(sorted.len().saturating_sub(1) / 2)
            .copied()
            .unwrap_or(f64::NAN)
    }

    /// Returns the ratio of each time to the time of `other` that was measured in the same round.
    pub(crate) fn over(&self, other: &Figures) -> Figures {
        Figures(self.0.iter().zip(&other.0).map(|(a, b)| a / b).collect())
    }
}

/// Runs each rival once unmeasured, then `rounds` times alternately: A B, B A, A B.
pub(crate) fn in_turn(rounds: usize, rivals: &mut [Rival<'_>]) -> Vec<Figures> {
    let mut figures = vec![Figures::default(); rivals.len()];
    for rival in rivals.iter_mut() {
        (rival.repeat)();
    }
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..rivals.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            let took = (rivals[at].repeat)();
            figures[at].0.push(took);
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rivals_take_turns_and_their_order_changes() {
        let log = std::cell::RefCell::new(String::new());
        let rival = |name: &'static str, took: f64| {
            let log = &log;
            Rival::new(name, move || {
                log.borrow_mut().push_str(name);
                took
            })
        };
        let figures = in_turn(2, &mut [rival("a", 1.0), rival("b", 2.0)]);
        assert_eq!(*log.borrow(), "ababba");
        assert_eq!(figures[1].over(&figures[0]).0, [2.0, 2.0]);
    }

    #[test]
    fn the_median_is_one_of_the_figures() {
        let figures = Figures(vec![9.0, 1.0, 3.0, 2.0]);
        assert_eq!(
            (figures.min(), figures.median(), figures.max()),
            (1.0, 2.0, 9.0)
        );
    }
}
