//! Tests generated runs whose truth is known: a story of nodes is written as folders of contract 1 and 2, as a
//! database of contract 2 and as a reactor, and the reader must tell the same story, also after damage. `PROSE_CASES` sets the number of stories.

mod contract1;
mod contract2;
mod damage;
mod damaged;
mod database;
mod hashes;
mod reactor;
mod same;
mod stories;
mod story;
mod told;
