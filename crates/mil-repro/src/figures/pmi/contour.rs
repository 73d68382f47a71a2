//! Where a function of the plane is 0: marching squares.

use std::collections::BTreeMap;

use crate::figure::Point;

/// Cells along each side of the square.
const N_CELLS: usize = 160;

/// A crossing of the contour with the grid, named by the edge that it is on: from this corner to the right, or upwards.
type Edge = (usize, usize, bool);

/// The curves on which a function is 0 within $[-h, h]^2$, closed ones with their first point repeated.
///
/// The function is called for many points at a time and answers in their order.
pub(super) fn zero_curves<E>(
    half_width: f64,
    values: impl FnOnce(&[[f64; 2]]) -> Result<Vec<f64>, E>,
) -> Result<Vec<Vec<Point>>, E> {
    let n_corners = N_CELLS + 1;
    let at = |idx: usize| half_width * (2.0 * idx as f64 / N_CELLS as f64 - 1.0);
    let corners: Vec<[f64; 2]> = (0..n_corners * n_corners).map(|c| [at(c % n_corners), at(c / n_corners)]).collect();
    let values = values(&corners)?;
    let value = |x: usize, y: usize| values[y * n_corners + x];
    let crossing = |(x, y, is_up): Edge| {
        let (a, b) = (value(x, y), if is_up { value(x, y + 1) } else { value(x + 1, y) });
        let part = a / (a - b) * 2.0 * half_width / N_CELLS as f64;
        if is_up { Point::at(at(x), at(y) + part) } else { Point::at(at(x) + part, at(y)) }
    };
    let curves = chains(&neighbours(&|x, y| value(x, y) >= 0.0));
    Ok(curves.into_iter().map(|edges| edges.into_iter().map(crossing).collect()).collect())
}

/// For each crossing the one or two that it is joined to, cell by cell.
fn neighbours(is_inside: &dyn Fn(usize, usize) -> bool) -> BTreeMap<Edge, Vec<Edge>> {
    let mut joined: BTreeMap<Edge, Vec<Edge>> = BTreeMap::new();
    for y in 0..N_CELLS {
        for x in 0..N_CELLS {
            // Around the cell from its lower left corner: below, right, above, left.
            let corners = [(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)].map(|(x, y)| is_inside(x, y));
            let edges = [(x, y, false), (x + 1, y, true), (x, y + 1, false), (x, y, true)];
            let crossed: Vec<Edge> =
                (0..4).filter(|&side| corners[side] != corners[(side + 1) % 4]).map(|side| edges[side]).collect();
            // Of four crossings those around a corner belong together; which corners does not matter on a fine grid.
            for pair in crossed.chunks_exact(2) {
                joined.entry(pair[0]).or_default().push(pair[1]);
                joined.entry(pair[1]).or_default().push(pair[0]);
            }
        }
    }
    joined
}

/// Walks along all crossings, open curves first, from their ends.
fn chains(joined: &BTreeMap<Edge, Vec<Edge>>) -> Vec<Vec<Edge>> {
    let mut is_left: BTreeMap<Edge, bool> = joined.keys().map(|edge| (*edge, true)).collect();
    let ends = joined.iter().filter(|(_, others)| others.len() == 1).map(|(edge, _)| *edge);
    let starts: Vec<Edge> = ends.chain(joined.keys().copied()).collect();
    let mut chains = Vec::new();
    for start in starts {
        if !is_left[&start] {
            continue;
        }
        let mut chain = Vec::new();
        let mut next = Some(start);
        while let Some(edge) = next {
            is_left.insert(edge, false);
            chain.push(edge);
            next = joined[&edge].iter().copied().find(|other| is_left[other]);
        }
        if chain.len() > 2 && joined[&start].contains(&chain[chain.len() - 1]) {
            chain.push(start);
        }
        chains.push(chain);
    }
    chains
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves(f: impl Fn([f64; 2]) -> f64) -> Vec<Vec<Point>> {
        zero_curves(4.0, |points| Ok::<_, ()>(points.iter().map(|point| f(*point)).collect())).unwrap()
    }

    #[test]
    fn a_circle_is_one_closed_curve_at_its_radius() {
        let found = curves(|[x, y]| 1.7 * 1.7 - x * x - y * y);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].first(), found[0].last());
        assert!(found[0].iter().all(|point| (point.x.hypot(point.y) - 1.7).abs() < 1e-3));
    }

    #[test]
    fn two_circles_are_two_curves_and_a_line_is_an_open_one() {
        let two = curves(|[x, y]| 1.0 - ((x.abs() - 2.0).powi(2) + y * y));
        assert_eq!(two.len(), 2);
        let line = curves(|[x, _]| x - 0.33);
        assert_eq!(line.len(), 1);
        assert!(line[0].iter().all(|point| (point.x - 0.33).abs() < 1e-9));
        assert!(line[0].len() > N_CELLS && line[0].first() != line[0].last());
        assert!(curves(|_| 1.0).is_empty());
    }
}
