//! Forests.
mod annealing;
mod columns;
mod descent;
mod error;
mod forest;
mod grow;
mod mi_forest;
mod model;
mod params;
mod random_forest;
mod task;
mod tree;

pub use annealing::{Loss, annealed, temperatures};
pub use columns::{Columns, Resolution};
pub use error::ForestError;
pub use forest::{Drawn, Forest, Sample};
pub use mi_forest::{Epoch, MiForest, MiForestTrace, Stop};
pub use model::ForestModel;
pub use params::{Criterion, Growth, Sampling, TestCount, Tests, Weighting};
pub use random_forest::RandomForest;
pub use task::ForestLabel;
pub use tree::Tree;
