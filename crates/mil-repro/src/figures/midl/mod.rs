//! MIDL on digits: its table, its atoms as pictures, damaged images, and how its cost falls.

mod atoms;
mod cost;
mod damage;
mod digits;
mod table;

use crate::figure::Figure;

pub(super) fn figures() -> Vec<Figure> {
    vec![table::figure(), atoms::figure(), damage::figure(), cost::figure()]
}
