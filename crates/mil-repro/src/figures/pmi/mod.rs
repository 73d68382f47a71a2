//! PMI: what its data hold, its pictures of the plane, its count of queries, and how accuracy hangs on two parameters that it leaves open.

mod contour;
mod facts;
mod grid;
mod pictures;
mod queries;

use crate::figure::Figure;

pub(super) fn figures() -> Vec<Figure> {
    let mut figures = vec![facts::figure()];
    figures.extend(pictures::figures());
    figures.push(queries::figure());
    figures.extend(grid::figures());
    figures
}
