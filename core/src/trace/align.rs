//! Decides which statement each of several ordered observations, such as the lines of a log, belongs to. The decision
//! is the cheapest path through the program.
//!
//! Evidence against a statement, and the distance in the program from one statement to the next, are costs. The path
//! with the smallest total is chosen. A tie (the assignment of an observation to a statement) is a guess if a path
//! with another tie of that observation costs only little more.

use std::collections::BTreeMap;

use crate::program::{Tie, TiedBy};

/// A number that measures the evidence against tying observations to statements; lower is better.
pub(super) type Cost = u32;

/// The minimum by which the best alternative path must cost more, so that a tie is certain. Otherwise the tie is a
/// guess.
const GAP: Cost = 5;

/// Maximum number of paths through the program that are followed at the same time.
const BEAM: usize = 8;

/// A statement to which an observation may be tied.
#[derive(Clone, Copy)]
pub(super) struct TieCandidate {
    pub(super) statement: u32,
    pub(super) cost: Cost,
    pub(super) by: TiedBy,
    /// Whether the statement is outside of the block whose lines are aligned. Such a tie leaves the path at its place.
    pub(super) elsewhere: bool,
}

/// A place on a path: a statement, and the index of the observation tied to it. `None` before the first tie.
pub(super) type PathPoint = Option<(u32, usize)>;

/// Ordered observations, and the costs of their ties to the program.
pub(super) trait Course {
    /// Returns the number of observations.
    fn len(&self) -> usize;
    /// Returns the statements to which an observation may be tied, given the place of the path before that observation.
    fn candidates(&self, at: usize, from: PathPoint) -> Vec<TieCandidate>;
    /// Returns the cost of leaving an observation without a tie.
    fn untied(&self, at: usize) -> Cost;
    /// Returns the cost of going from a place to a statement.
    fn step(&self, from: PathPoint, at: usize, to: u32) -> Cost;
}

/// A path up to one observation.
#[derive(Clone, Copy)]
struct Path {
    tied: Option<TieCandidate>,
    place: PathPoint,
    cost: Cost,
    before: usize,
}

/// Returns the tie of each observation.
pub(super) fn align(course: &impl Course) -> Vec<Option<Tie>> {
    let mut layers: Vec<Vec<Path>> = vec![vec![Path {
        tied: None,
        place: None,
        cost: 0,
        before: 0,
    }]];
    for at in 0..course.len() {
        let before = layers.last().map_or(&[][..], Vec::as_slice);
        layers.push(next(course, at, before));
    }
    chosen(course, &layers)
}

/// Extends paths by one observation, and returns the cheapest of the extended paths.
fn next(course: &impl Course, at: usize, before: &[Path]) -> Vec<Path> {
    let mut may_be: BTreeMap<u32, TieCandidate> = BTreeMap::new();
    let mut untied: BTreeMap<PathPoint, Path> = BTreeMap::new();
    for (from, path) in before.iter().enumerate() {
        for candidate in course.candidates(at, path.place) {
            may_be.entry(candidate.statement).or_insert(candidate);
        }
        // Paths are sorted by cost, so the first path to a place is the cheapest.
        untied.entry(path.place).or_insert(Path {
            tied: None,
            cost: path.cost + course.untied(at),
            before: from,
            ..*path
        });
    }
    let tied = may_be.into_values().filter_map(|candidate| {
        let costs = before.iter().enumerate();
        let costs = costs.map(|(from, path)| {
            let step = course.step(path.place, at, candidate.statement);
            (path.cost + step + candidate.cost, from)
        });
        let (cost, from) = costs.min()?;
        Some(Path {
            tied: Some(candidate),
            place: if candidate.elsewhere {
                before.get(from)?.place
            } else {
                Some((candidate.statement, at))
            },
            cost,
            before: from,
        })
    });
    // The sort is stable: among equal costs, the earlier tie comes first.
    let mut paths: Vec<Path> = untied.into_values().chain(tied).collect();
    paths.sort_by_key(|path| path.cost);
    paths.truncate(BEAM);
    paths
}

/// Returns the ties of the best path, each compared with the best path that has another tie for the same observation.
fn chosen(course: &impl Course, layers: &[Vec<Path>]) -> Vec<Option<Tie>> {
    let mut ties = vec![None; course.len()];
    // For each path of a layer, the lowest cost from the path's end to the last observation.
    let mut ahead: Vec<Cost> = layers.last().map_or(Vec::new(), |last| vec![0; last.len()]);
    let mut own = 0;
    for at in (0..course.len()).rev() {
        let (Some(layer), Some(before)) = (layers.get(at + 1), layers.get(at)) else {
            break;
        };
        let whole = |(path, ahead): (&Path, &Cost)| path.cost.saturating_add(*ahead);
        let Some(path) = layer.get(own) else { break };
        let best = layer.iter().zip(&ahead).map(whole).min().unwrap_or(0);
        let statement = |path: &Path| path.tied.map(|tied| tied.statement);
        let others = layer.iter().zip(&ahead);
        let others = others.filter(|(other, _)| statement(other) != statement(path));
        let second = others.map(whole).min().unwrap_or(Cost::MAX);
        if let (Some(tied), Some(slot)) = (path.tied, ties.get_mut(at)) {
            *slot = Some(Tie {
                statement: tied.statement,
                guessed: second.saturating_sub(best) < GAP,
                by: tied.by,
            });
        }
        own = path.before;
        ahead = before
            .iter()
            .map(|from| {
                let costs = layer.iter().zip(&ahead).filter_map(|(to, ahead)| {
                    let step = match to.tied {
                        Some(tied) => tied.cost + course.step(from.place, at, tied.statement),
                        None if to.place == from.place => course.untied(at),
                        None => return None,
                    };
                    Some(ahead.saturating_add(step))
                });
                costs.min().unwrap_or(Cost::MAX)
            })
            .collect();
    }
    ties
}
