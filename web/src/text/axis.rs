//! Computes the axis of a timeline: its visible part when the user zooms or moves, and the labels along it.

use prosescope_core::model::time::{Stamp, human_duration};
use prosescope_core::pages::view::Timeline;

use super::words::{clock, minute};

/// The factor by which one zoom step changes the length of the visible part.
pub(crate) const CLOSER: f64 = 2.0 / 3.0;

/// The smallest visible part of an axis, as a fraction of its length.
const CLOSEST: f64 = 0.0005;

/// The approximate number of labels along an axis.
const TICKS: u64 = 5;

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The possible steps between labels, in milliseconds. Longer steps are whole days.
const STEPS: [u64; 25] = [
    1,
    2,
    5,
    10,
    20,
    50,
    100,
    200,
    500,
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    15 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    6 * HOUR,
    12 * HOUR,
];

/// The visible part of an axis, as fractions of its length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct VisiblePart {
    /// The beginning of the part.
    pub(crate) from: f64,
    /// The length of the part.
    pub(crate) len: f64,
}

impl VisiblePart {
    /// The whole axis.
    pub(crate) const ALL: VisiblePart = VisiblePart {
        from: 0.0,
        len: 1.0,
    };

    /// Zooms in (`factor` below 1) or out (above 1). The point at `at`, a fraction of the visible part, stays fixed.
    pub(crate) fn zoomed(self, factor: f64, at: f64) -> VisiblePart {
        let len = (self.len * factor).clamp(CLOSEST, 1.0);
        let from = self.from + at * (self.len - len);
        VisiblePart { from, len }.inside()
    }

    /// Returns the part that shows a range of an axis of length `of`, with a small margin.
    pub(crate) fn around(from: u64, until: u64, of: u64) -> VisiblePart {
        let of = of.max(1) as f64;
        let len = (until.saturating_sub(from) as f64 / of * 1.1).clamp(CLOSEST, 1.0);
        let middle = (from as f64 + until as f64) / 2.0 / of;
        let from = middle - len / 2.0;
        VisiblePart { from, len }.inside()
    }

    /// Returns the part between two fractions of the axis, given in either order.
    pub(crate) fn between(a: f64, b: f64) -> VisiblePart {
        let (from, len) = (a.min(b), (a - b).abs().clamp(CLOSEST, 1.0));
        VisiblePart { from, len }.inside()
    }

    /// Moves the visible part along the axis. `by` is a fraction of the part's length; negative values move back.
    pub(crate) fn moved(self, by: f64) -> VisiblePart {
        let from = self.from + by * self.len;
        VisiblePart { from, ..self }.inside()
    }

    fn inside(self) -> VisiblePart {
        let from = self.from.clamp(0.0, 1.0 - self.len);
        VisiblePart { from, ..self }
    }

    /// Converts a position on an axis of length `of` to percent of the visible part.
    pub(crate) fn percent(self, place: u64, of: u64) -> f64 {
        (place as f64 / of.max(1) as f64 - self.from) / self.len * 100.0
    }
}

/// A label with a time along an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    /// The position of the time, in percent of the visible part.
    pub(crate) at: f64,
    /// The text of the label: the time of day in UTC at the beginning of the axis (`20:15`), later the time since then
    /// (`+5m`).
    pub(crate) words: String,
}

/// Returns labels with round times for the visible part of an axis, whose length is `len`. No label is within an idle
/// time, because idle times are drawn shortened.
pub(crate) fn ticks(timeline: &Timeline, len: u64, seen: VisiblePart) -> Vec<Tick> {
    let at = |part: f64| (part * len as f64) as u64;
    let (mut place, end) = (at(seen.from), at(seen.from + seen.len));
    let least = end.saturating_sub(place).div_ceil(TICKS).max(1);
    let step = STEPS.into_iter().find(|step| *step >= least);
    let step = step.unwrap_or_else(|| least.div_ceil(DAY) * DAY);
    let mut ticks = Vec::new();
    while place < end {
        let time = timeline.passed(place).div_ceil(step) * step;
        let at = place_of(timeline, time);
        let gap = timeline
            .gaps
            .iter()
            .find(|gap| gap.at < at && at < gap.at + gap.drawn);
        if let Some(gap) = gap {
            place = gap.at + gap.drawn;
            continue;
        }
        if at < end && seen.percent(at, len) < 92.0 {
            // The first label is a time of day. Later labels are the time since the beginning, or times of day if the
            // step is much smaller than that time.
            let from = timeline.from.as_ref();
            let is_fine = step < MINUTE && time >= HOUR || step < HOUR && time >= DAY;
            let words = match from.and_then(Stamp::millis) {
                Some(_) if time == 0 => from.map_or_else(String::new, minute),
                Some(from) if is_fine => clock(&Stamp::At(from.saturating_add_unsigned(time))),
                _ => words(time, step),
            };
            ticks.push(Tick {
                at: seen.percent(at, len),
                words,
            });
        }
        // The search continues half a step after this label, because the next round time may be near after an idle gap.
        place = at + step / 2 + 1;
    }
    ticks
}

/// Returns the position on an axis of a time in milliseconds since the axis began. The position is smaller than the
/// time if idle gaps before it are drawn shortened.
fn place_of(timeline: &Timeline, time: u64) -> u64 {
    // The idle time before the wanted time that is not drawn, in milliseconds.
    let mut left_out = 0;
    for gap in &timeline.gaps {
        let begun = gap.at + left_out;
        if time <= begun {
            break;
        }
        if time < begun + gap.len_ms {
            let share = u128::from(time - begun) * u128::from(gap.drawn) / u128::from(gap.len_ms);
            return gap.at + share as u64;
        }
        left_out += gap.len_ms.saturating_sub(gap.drawn);
    }
    time.saturating_sub(left_out)
}

fn words(time: u64, step: u64) -> String {
    match time {
        0 => "0".to_owned(),
        // A small step needs fractions of a second.
        _ if step < SECOND => format!("+{}s", time as f64 / SECOND as f64),
        _ => format!(
            "+{}",
            human_duration(i64::try_from(time).unwrap_or(i64::MAX))
        ),
    }
}

#[cfg(test)]
mod tests {
    use prosescope_core::pages::view::Gap;

    use super::*;

    #[test]
    fn zooming_keeps_what_the_pointer_is_at_and_stays_inside() {
        let half = VisiblePart::ALL.zoomed(0.5, 1.0);
        assert_eq!(
            half,
            VisiblePart {
                from: 0.5,
                len: 0.5
            }
        );
        assert_eq!(half.percent(75, 100), 50.0);
        assert_eq!(half.moved(1.0), half, "nothing lies behind the end");
        assert_eq!(
            half.moved(-1.0),
            VisiblePart {
                from: 0.0,
                len: 0.5
            }
        );
        assert_eq!(half.zoomed(8.0, 0.0), VisiblePart::ALL);
        let closest = (0..100).fold(VisiblePart::ALL, |seen, _| seen.zoomed(0.5, 0.3));
        assert_eq!(closest.len, CLOSEST);
    }

    fn axis(len: u64, gaps: &[(u64, u64, u64)]) -> Timeline {
        let gap = |&(at, drawn, len_ms): &(u64, u64, u64)| Gap {
            at,
            drawn,
            len_ms,
            from: Stamp::At(0),
            len: String::new(),
        };
        Timeline {
            len,
            gaps: gaps.iter().map(gap).collect(),
            ..Timeline::default()
        }
    }

    #[track_caller]
    fn check(timeline: &Timeline, seen: VisiblePart, expected: &[(u32, &str)]) {
        let ticks = ticks(timeline, timeline.len, seen);
        let ticks: Vec<(u32, &str)> = ticks
            .iter()
            .map(|tick| (tick.at.round() as u32, tick.words.as_str()))
            .collect();
        assert_eq!(ticks, expected);
    }

    #[test]
    fn times_along_the_axis_are_round() {
        let hour = axis(50 * MINUTE, &[]);
        let tens = [
            (0, "0"),
            (20, "+10m"),
            (40, "+20m"),
            (60, "+30m"),
            (80, "+40m"),
        ];
        check(&hour, VisiblePart::ALL, &tens);
        let middle = VisiblePart {
            from: 0.5,
            len: 0.1,
        };
        check(
            &hour,
            middle,
            &[
                (0, "+25m"),
                (20, "+26m"),
                (40, "+27m"),
                (60, "+28m"),
                (80, "+29m"),
            ],
        );
        check(
            &axis(1_000, &[]),
            VisiblePart::ALL,
            &[
                (0, "0"),
                (20, "+0.2s"),
                (40, "+0.4s"),
                (60, "+0.6s"),
                (80, "+0.8s"),
            ],
        );
        check(&axis(0, &[]), VisiblePart::ALL, &[]);
    }

    #[test]
    fn no_time_is_written_in_an_idle_one() {
        // After the first ten minutes come ten idle hours, which are drawn as two minutes.
        let timeline = axis(22 * MINUTE, &[(10 * MINUTE, 2 * MINUTE, 10 * HOUR)]);
        check(
            &timeline,
            VisiblePart::ALL,
            &[(0, "0"), (23, "+5m"), (45, "+10m"), (77, "+10h 15m")],
        );
        for (place, time) in [(5, 5), (12, 610), (20, 618)] {
            assert_eq!(place_of(&timeline, time * MINUTE), place * MINUTE);
            assert_eq!(timeline.passed(place * MINUTE), time * MINUTE);
        }
    }
}
