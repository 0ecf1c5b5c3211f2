//! Measures how long it takes to fold rows into a trace and to render state.md, for runs of 1,000 to 100,000
//! statements.

use std::hint::black_box;

use prosescope_core::program::{self, Listing};
use prosescope_core::record::render::state_md::{RenderOptions, from_run};
use prosescope_core::trace::fold;

use crate::Effort;
use crate::figures::{Figures, Rival, in_turn, worked};
use crate::made::{Shape, run_of};
use crate::table::{Table, time, times};

/// The names of the measured steps.
const STEPS: [&str; 4] = ["scan", "fold", "render", "render the whole program"];

pub(crate) fn measure(effort: Effort) {
    let sizes: &[usize] = effort.pick(&[1_000, 10_000, 100_000], &[100, 1_000]);
    for shape in [Shape::Lines, Shape::Rounds, Shape::Frames] {
        println!("{}, processor time:", shape.words());
        let mut table = Table::new(&[
            "statements",
            "step",
            "min",
            "median",
            "max",
            "each",
            "for ten times the work",
        ]);
        // All steps for runs of all sizes alternate, so that a machine that slows down affects all of them.
        let runs: Vec<_> = sizes
            .iter()
            .map(|size| {
                let run = run_of(shape, *size);
                let listing = run.program.source.as_deref().map(program::scan);
                let trace = fold(&run, listing.as_ref(), None);
                (run, listing, trace)
            })
            .collect();
        let mut rivals = Vec::new();
        for (run, listing, trace) in &runs {
            let scan = || run.program.source.as_deref().map(program::scan);
            rivals.push(Rival::work("scan", move || drop(black_box(scan()))));
            // A listing builds its index of statements at the first use, so each repetition needs a new listing.
            rivals.push(Rival::new("fold", move || {
                let listing = scan();
                worked(|| drop(black_box(fold(run, listing.as_ref(), None))))
            }));
            for whole_program in [false, true] {
                rivals.push(Rival::work("render", move || {
                    let listing: Option<&Listing> = listing.as_ref();
                    black_box(from_run(
                        run,
                        trace,
                        listing,
                        &RenderOptions { whole_program },
                    ));
                }));
            }
        }
        let figures = in_turn(effort.pick(9, 2), &mut rivals);
        for (step, name) in STEPS.iter().enumerate() {
            let mut before: Option<&Figures> = None;
            for (size, figures) in sizes
                .iter()
                .zip(figures.iter().skip(step).step_by(STEPS.len()))
            {
                let growth = before.map(|before| figures.over(before).median());
                table.row(vec![
                    size.to_string(),
                    (*name).to_owned(),
                    time(figures.min()),
                    time(figures.median()),
                    time(figures.max()),
                    time(figures.median() / *size as f64),
                    growth.map(times).unwrap_or_default(),
                ]);
                before = Some(figures);
            }
        }
        table.print();
    }
}
