//! MIO, online multiple-instance learning with no regret, and MILES, its batch sibling.
//!
//! Both describe a bag by how similar it is to each of a number of candidate instances $x_k$, all instances that were ever seen,
//!
//! $$ z_k(B) = \max_{x\in B}\exp(-\lVert x_k-x\rVert^2/\sigma^2), $$
//!
//! and learn a linear machine $f(B)=w^\top z(B)+b$ whose weights are mostly 0: few instances are concepts that speak for or against a bag.
//!
//! | | learns from | regulariser | solved by |
//! |---|---|---|---|
//! | [`Mio`], [`MioStream`] | one bag at a time, or several passes over a set | elastic net, growing as $\sqrt T$ | one exact line search a bag |
//! | [`Miles`] | all bags at once | $\lambda\lVert w\rVert_1$ | a linear program, certified |
//!
//! A stream predicts a bag, is told its label, and learns from it:
//!
//! ```
//! use mil_core::{Bag, BagModel, Label, OnlineLearner};
//! use mil_mio::{Mio, Width};
//!
//! let mio = Mio { width: Width::Squared(1.0), ..Mio::default() };
//! let mut stream = mio.stream(2, None)?; // two features, an unknown number of rounds
//! for t in 0..20 {
//!     let x = 0.01 * f64::from(t);
//!     stream.update(Bag::new("a concept at (3, 3)", 2, &[x, x, 3.0 - x, 3.0])?, Label::Positive)?;
//!     stream.update(Bag::new("none", 2, &[x, -x, 0.3, x])?, Label::Negative)?;
//! }
//! let bag = Bag::new("new", 2, &[0.1, 0.1, 2.9, 3.1])?;
//! assert_eq!(stream.predict(bag)?, Label::Positive);
//! let model = stream.model(); // only what has a weight
//! assert!(model.n_concepts() < stream.n_candidates());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is here
//!
//! - **Streams** ([`MioStream`]) are kept in a file and resumed to the bit; a [`Budget`] bounds the memory of endless ones.
//! - **Fits** over a set present the bags several times, with similarities computed once for all passes.
//! - **The line search** of a round takes $O(N)$ expected time in the number $N$ of candidates, and is exact.
//! - **Books** ([`Mio::account`]) on cumulative loss and regret against any comparator, with the bound that is proved.
//! - **MILES** proves its selection optimal over all candidates ([`Selection::certificate`]), and tells what each instance of a bag contributes ([`EmbeddingModel::contributions`]).
//! - **Tuning**: both are [`Tunable`](mil_core::Tunable); [`Tuned`](mil_core::Tuned) chooses among settings inside the training bags over distances that are computed once for all widths, settings and folds.

mod distances;
mod error;
mod game;
mod line_search;
mod miles;
mod mio;
mod model;
mod params;
mod passes;
mod regret;
mod stream;

pub use distances::Distances;
pub use error::MioError;
pub use game::Round;
pub use miles::{Miles, Selection};
pub use mio::{Mio, MioTrace};
pub use model::{Contributions, EmbeddingModel};
pub use params::{Budget, Order, Revisit, Schedule, Width};
pub use passes::PassFigures;
pub use regret::Account;
pub use stream::MioStream;

/// The README's examples, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
