//! MIForests: Table 2 (`corel`), and what the labels of instances do while they cool (`annealing`), which the paper does not show.

mod annealing;
mod corel;

use crate::figure::Figure;

pub(super) fn figures() -> Vec<Figure> {
    std::iter::once(corel::figure()).chain(annealing::figures()).collect()
}
