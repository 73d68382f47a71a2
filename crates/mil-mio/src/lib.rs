//! MIO and MILES.

mod distances;
mod error;
mod game;
mod line_search;
mod miles;
mod mio;
mod model;
mod params;
mod regret;
mod stream;

pub use distances::Distances;
pub use error::MioError;
pub use game::Round;
pub use miles::{Miles, Selection};
pub use mio::{Mio, MioTrace, PassFigures};
pub use model::{Contributions, EmbeddingModel};
pub use params::{Budget, Order, Revisit, Schedule, Width};
pub use regret::Account;
pub use stream::MioStream;
