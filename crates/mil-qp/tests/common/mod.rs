//! References for tests, slow and obvious.

use nalgebra::{DMatrix, DVector};

/// How far outside its box a variable found by a pseudo-inverse may be, against the largest bound.
const SLACK: f64 = 1e-9;

/// The optimum of $\tfrac12 a^\top Q a + p^\top a$, $Q_{ij} = y_iy_jK_{ij}$, over $0\le a_i\le C_i$ and $y^\top a = \Delta$: every choice of variables at 0,
/// at their bound, and free is tried, the free ones solved from the KKT equations with a pseudo-inverse, and the best feasible point
/// kept. None if no point is feasible. For at most 8 variables ($3^8$ systems).
pub(crate) fn best_by_enumeration(
    gram: &DMatrix<f64>,
    signs: &[f64],
    linear: &[f64],
    upper: &[f64],
    total: f64,
) -> Option<(Vec<f64>, f64)> {
    let n = signs.len();
    assert!(n <= 8, "3^{n} systems are too many");
    let signed_gram = DMatrix::from_fn(n, n, |i, j| signs[i] * signs[j] * gram[(i, j)]);
    let linear = DVector::from_column_slice(linear);
    let reach = upper.iter().fold(1.0_f64, |reach, &bound| reach.max(bound));
    let mut best: Option<(Vec<f64>, f64)> = None;
    for choice in 0..3usize.pow(n as u32) {
        let place = |i: usize| choice / 3usize.pow(i as u32) % 3;
        let free: Vec<usize> = (0..n).filter(|&i| place(i) == 2).collect();
        let mut point = DVector::from_fn(n, |i, _| if place(i) == 1 { upper[i] } else { 0.0 });
        let missing = total - signs.iter().zip(&point).map(|(s, a)| s * a).sum::<f64>();
        if free.is_empty() {
            if missing.abs() > SLACK * reach {
                continue;
            }
        } else {
            let Some(found) = solve_free(&signed_gram, signs, &linear, &point, missing, &free) else { continue };
            free.iter().zip(&found).for_each(|(&i, &value)| point[i] = value);
        }
        let feasible =
            point.iter().zip(upper).all(|(&a, &bound)| (-SLACK * reach..=bound + SLACK * reach).contains(&a));
        if !feasible {
            continue;
        }
        let objective = 0.5 * point.dot(&(&signed_gram * &point)) + linear.dot(&point);
        if best.as_ref().is_none_or(|(_, least)| objective < *least) {
            best = Some((point.as_slice().to_vec(), objective));
        }
    }
    best
}

/// The free variables from $Q_{FF}a_F + y_F b = -p_F - Q_{FB}a_B$ and $y_F^\top a_F = $ what is missing; none if these contradict each other.
fn solve_free(
    signed_gram: &DMatrix<f64>,
    signs: &[f64],
    linear: &DVector<f64>,
    point: &DVector<f64>,
    missing: f64,
    free: &[usize],
) -> Option<DVector<f64>> {
    let k = free.len();
    let system = DMatrix::from_fn(k + 1, k + 1, |r, c| match (r < k, c < k) {
        (true, true) => signed_gram[(free[r], free[c])],
        (true, false) => signs[free[r]],
        (false, true) => signs[free[c]],
        (false, false) => 0.0,
    });
    let gradient = signed_gram * point + linear;
    let wanted = DVector::from_fn(k + 1, |r, _| if r < k { -gradient[free[r]] } else { missing });
    // Rows and columns to a like size first, so that small equations are not taken for none.
    let unit: Vec<f64> = (0..k + 1).map(|i| system.row(i).amax().max(f64::MIN_POSITIVE).sqrt().recip()).collect();
    let scaled = DMatrix::from_fn(k + 1, k + 1, |r, c| unit[r] * system[(r, c)] * unit[c]);
    let scaled_wanted = DVector::from_fn(k + 1, |r, _| unit[r] * wanted[r]);
    let decomposition = scaled.clone().svd(true, true);
    let rank_tolerance = 1e-11 * decomposition.singular_values.max();
    let found = decomposition.solve(&scaled_wanted, rank_tolerance).ok()?;
    let contradiction = (&scaled * &found - &scaled_wanted).amax();
    if contradiction > 1e-8 * (1.0 + scaled_wanted.amax()) {
        return None;
    }
    Some(DVector::from_fn(k, |i, _| found[i] * unit[i]))
}
