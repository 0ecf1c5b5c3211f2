//! Prints figures as an aligned table.

use crate::figures::{Figures, Rival};

/// The rows of a table, each with its cells; the first row is the head. The first column is left-aligned, the others
/// right-aligned.
pub(crate) struct Table(Vec<Vec<String>>);

impl Table {
    pub(crate) fn new(head: &[&str]) -> Table {
        Table(vec![head.iter().map(|cell| (*cell).to_owned()).collect()])
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.0.push(cells);
    }

    pub(crate) fn print(&self) {
        let columns = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let width = |n: usize| {
            self.0
                .iter()
                .filter_map(|row| row.get(n))
                .map(|cell| cell.chars().count())
                .max()
        };
        let widths: Vec<usize> = (0..columns).map(|n| width(n).unwrap_or(0)).collect();
        for row in &self.0 {
            let mut line = String::new();
            for (n, (cell, width)) in row.iter().zip(&widths).enumerate() {
                if n == 0 {
                    line.push_str(&format!("{cell:<width$}"));
                } else {
                    line.push_str(&format!("  {cell:>width$}"));
                }
            }
            println!("  {}", line.trim_end());
        }
    }
}

/// Returns a table of the rivals' figures. The ratio compares each repetition with that of the last rival.
pub(crate) fn beside(rivals: &[Rival<'_>], figures: &[Figures]) -> Table {
    let mut table = Table::new(&["", "min", "median", "max", "ratio", "(min … max)"]);
    let Some(last) = figures.last() else {
        return table;
    };
    for (rival, own) in rivals.iter().zip(figures) {
        let ratio = own.over(last);
        table.row(vec![
            rival.name.clone(),
            time(own.min()),
            time(own.median()),
            time(own.max()),
            times(ratio.median()),
            format!("{} … {}", times(ratio.min()), times(ratio.max())),
        ]);
    }
    table
}

/// Formats a duration that is given in seconds: `2.50 s`, `1.25 ms`.
pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        s if s.is_nan() => "-".to_owned(),
        s if s >= 10.0 => format!("{s:.1} s"),
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 0.1 => format!("{:.0} ms", s * 1e3),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s if s >= 1e-6 => format!("{:.1} µs", s * 1e6),
        s => format!("{:.0} ns", s * 1e9),
    }
}

/// Formats a ratio: `12.5 ×`.
pub(crate) fn times(ratio: f64) -> String {
    match ratio {
        r if r.is_nan() => "-".to_owned(),
        r if r >= 100.0 => format!("{r:.0} ×"),
        r if r >= 10.0 => format!("{r:.1} ×"),
        r if r >= 0.1 => format!("{r:.2} ×"),
        r => format!("{r:.4} ×"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_as_people_say_them() {
        for (seconds, said) in [
            (f64::NAN, "-"),
            (12.34, "12.3 s"),
            (0.3, "300 ms"),
            (0.0123, "12.30 ms"),
            (0.000_05, "50.0 µs"),
            (0.000_000_2, "200 ns"),
        ] {
            assert_eq!(time(seconds), said);
        }
        assert_eq!([1.3, 52.0, 640.0].map(times), ["1.30 ×", "52.0 ×", "640 ×"]);
    }
}
