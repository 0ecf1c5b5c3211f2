//! Which statement each of several observations speaks of, told in order: the cheapest path through the program along them.
//!
//! What an observation says of a statement, and how far the program goes from one to the next, are costs. The path of the
//! least sum is believed; a tie is a guess where a path that ties the observation elsewhere costs little more.

use std::collections::BTreeMap;

use crate::program::{Tie, TiedBy};

/// What speaks against a statement.
pub(super) type Cost = u32;

/// A tie is a guess where the next best path is nearer than this.
const GAP: Cost = 5;

/// Paths that are followed at a time.
const BEAM: usize = 8;

/// A statement that an observation may speak of.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub(super) statement: u32,
    pub(super) cost: Cost,
    pub(super) by: TiedBy,
    /// It runs elsewhere: the path goes on where it was.
    pub(super) elsewhere: bool,
}

/// A place on a path: a statement, and the observation that was tied to it.
pub(super) type Place = Option<(u32, usize)>;

/// Observations in order, and the program that they go through.
pub(super) trait Course {
    /// How many observations there are.
    fn len(&self) -> usize;
    /// What an observation may speak of, coming from a place.
    fn candidates(&self, at: usize, from: Place) -> Vec<Candidate>;
    /// What it costs that an observation is tied to nothing.
    fn untied(&self, at: usize) -> Cost;
    /// What it costs to come from a place to a statement.
    fn step(&self, from: Place, at: usize, to: u32) -> Cost;
}

/// A path as far as an observation.
#[derive(Clone, Copy)]
struct Path {
    tied: Option<Candidate>,
    place: Place,
    cost: Cost,
    before: usize,
}

/// Ties each observation.
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

/// The best paths that go on from others along an observation.
fn next(course: &impl Course, at: usize, before: &[Path]) -> Vec<Path> {
    let mut may_be: BTreeMap<u32, Candidate> = BTreeMap::new();
    let mut untied: BTreeMap<Place, Path> = BTreeMap::new();
    for (from, path) in before.iter().enumerate() {
        for candidate in course.candidates(at, path.place) {
            may_be.entry(candidate.statement).or_insert(candidate);
        }
        // The best come first.
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
            place: match candidate.elsewhere {
                true => before.get(from)?.place,
                false => Some((candidate.statement, at)),
            },
            cost,
            before: from,
        })
    });
    // Of equals, what was tied earlier.
    let mut paths: Vec<Path> = untied.into_values().chain(tied).collect();
    paths.sort_by_key(|path| path.cost);
    paths.truncate(BEAM);
    paths
}

/// The ties of the best path, each compared with the best that ties its observation elsewhere.
fn chosen(course: &impl Course, layers: &[Vec<Path>]) -> Vec<Option<Tie>> {
    let mut ties = vec![None; course.len()];
    // What it costs to go on from each path of a layer to the end.
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
