//! Strategies of random problems, for property tests of solvers (feature `proptest`).
//!
//! Each problem comes with its flavour, so that a test can ask for the ending it must have. All are small enough, up to 12 variables, for a
//! brute-force reference. Most numbers are multiples of 1/8, so that ties are common and what is said to be exact is exact: null
//! directions, sums of bounds.
//!
//! ```
//! use mil_qp::strategies::svm_cases;
//! use mil_qp::{Problem, SvmDual};
//! use proptest::prelude::*;
//!
//! proptest!(|(case in svm_cases())| {
//!     let dual = SvmDual::new(&case.gram, case.signs.clone(), case.linear.clone(), case.upper.clone(), case.total)?;
//!     let program = case.program();
//!     prop_assert_eq!(dual.row_bounds(), program.row_bounds());
//! });
//! ```

use nalgebra::DMatrix;
use proptest::prelude::*;

use crate::{QuadraticProgram, SparseMatrix};

/// A corner of the space of quadratic programs. All have an optimum but [`Infeasible`](Self::Infeasible) and [`Unbounded`](Self::Unbounded).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// $P$ positive definite, rows of any kind, some bounds infinite: one optimum.
    WellPosed,
    /// Built around a known optimum with rows at a bound and no multiplier, and with repeated rows: multipliers are not unique.
    Degenerate,
    /// $P$ of low rank, 0 at times, over finite boxes: optima are not unique.
    RankDeficient,
    /// The dual of a support vector machine with repeated points, of both signs.
    DuplicatedPoints,
    /// Most boxes have no width, or one of 1e-6.
    TightBoxes,
    /// No feasible point: a lower bound above an upper, in a row or between two rows, or an equality that the boxes cannot reach.
    Infeasible,
    /// A feasible point, and a direction along which the objective falls for ever.
    Unbounded,
    /// As well posed, but variables and rows in units from 1e-3 to 1e3, so that entries differ by up to 1e12.
    BadlyScaled,
}

/// All corners.
pub const FLAVOURS: [Flavour; 8] = [
    Flavour::WellPosed,
    Flavour::Degenerate,
    Flavour::RankDeficient,
    Flavour::DuplicatedPoints,
    Flavour::TightBoxes,
    Flavour::Infeasible,
    Flavour::Unbounded,
    Flavour::BadlyScaled,
];

/// A quadratic program and the corner it is from.
#[derive(Debug, Clone)]
pub struct QuadraticCase {
    /// The corner, which determines how a solve ends.
    pub flavour: Flavour,
    /// The program.
    pub program: QuadraticProgram,
}

/// Quadratic programs of any flavour.
pub fn quadratic_programs() -> impl Strategy<Value = QuadraticCase> {
    prop::sample::select(FLAVOURS.to_vec()).prop_flat_map(quadratic_programs_of)
}

/// Quadratic programs of one flavour: 1 to 12 variables, 0 to 8 rows beside the boxes.
pub fn quadratic_programs_of(flavour: Flavour) -> BoxedStrategy<QuadraticCase> {
    let programs = match flavour {
        Flavour::WellPosed => parts(1).prop_map(|parts| parts.well_posed().program()).boxed(),
        Flavour::Degenerate => parts(1).prop_map(|parts| parts.degenerate().program()).boxed(),
        Flavour::RankDeficient => {
            (parts(2), 0usize..=2).prop_map(|(parts, rank)| parts.rank_deficient(rank).program()).boxed()
        }
        Flavour::DuplicatedPoints => {
            svm_cases_of(GramFlavour::DuplicatedPoints, Just(true)).prop_map(|case| case.program()).boxed()
        }
        Flavour::TightBoxes => parts(1).prop_map(|parts| parts.tight_boxes().program()).boxed(),
        Flavour::Infeasible => prop_oneof![
            parts(1).prop_map(|parts| parts.crossed_bounds().program()),
            parts(1).prop_map(|parts| parts.opposed_rows().program()),
            gram_flavours().prop_flat_map(|of| svm_cases_of(of, Just(false))).prop_map(|case| case.program()),
        ]
        .boxed(),
        Flavour::Unbounded => parts(1).prop_map(|parts| parts.unbounded().program()).boxed(),
        Flavour::BadlyScaled => (parts(1), prop::collection::vec(-3i32..=3, 20))
            .prop_map(|(parts, exponents)| parts.well_posed().rescaled(&exponents).program())
            .boxed(),
    };
    programs.prop_map(move |program| QuadraticCase { flavour, program }).boxed()
}

/// A corner of the space of Gram matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GramFlavour {
    /// Inner products of points in three dimensions: of rank at most 3.
    Linear,
    /// $\exp(-\lVert x-z\rVert^2/2)$.
    Gaussian,
    /// As `Gaussian`, over points of which many are the same.
    DuplicatedPoints,
    /// $vv^\top$.
    RankOne,
    /// Nothing but zeros.
    Zero,
    /// Inner products of points of lengths from 1e-3 to 1e3.
    WideRange,
}

/// All corners.
pub const GRAM_FLAVOURS: [GramFlavour; 6] = [
    GramFlavour::Linear,
    GramFlavour::Gaussian,
    GramFlavour::DuplicatedPoints,
    GramFlavour::RankOne,
    GramFlavour::Zero,
    GramFlavour::WideRange,
];

/// Positive semidefinite matrices of order 1 to 12, of any flavour.
pub fn grams() -> impl Strategy<Value = DMatrix<f64>> {
    gram_flavours().prop_flat_map(grams_of)
}

/// Positive semidefinite matrices of one flavour.
pub fn grams_of(flavour: GramFlavour) -> BoxedStrategy<DMatrix<f64>> {
    let point = (prop::collection::vec(eighths(), 3), -3i32..=3, 0usize..3);
    prop::collection::vec(point, 1..=12)
        .prop_map(move |points| {
            let n = points.len();
            let linear = |i: usize, j: usize| -> f64 { points[i].0.iter().zip(&points[j].0).map(|(a, b)| a * b).sum() };
            let gaussian = |i: usize, j: usize| {
                let distance: f64 = points[i].0.iter().zip(&points[j].0).map(|(a, b)| (a - b) * (a - b)).sum();
                (-0.5 * distance).exp()
            };
            // The first three points stand for all.
            let stand_in = |i: usize| points[i].2.min(n - 1);
            let length = |i: usize| 10f64.powi(points[i].1);
            DMatrix::from_fn(n, n, |i, j| match flavour {
                GramFlavour::Linear => linear(i, j),
                GramFlavour::Gaussian => gaussian(i, j),
                GramFlavour::DuplicatedPoints => gaussian(stand_in(i), stand_in(j)),
                GramFlavour::RankOne => points[i].0[0] * points[j].0[0],
                GramFlavour::Zero => 0.0,
                GramFlavour::WideRange => linear(i, j) * (length(i) * length(j)),
            })
        })
        .boxed()
}

/// The ingredients of an [`SvmDual`](crate::SvmDual).
#[derive(Debug, Clone)]
pub struct SvmCase {
    /// The kernel matrix.
    pub gram: DMatrix<f64>,
    /// The signs, perhaps all the same.
    pub signs: Vec<f64>,
    /// The linear term: all −1, all 0, or any.
    pub linear: Vec<f64>,
    /// The upper bounds, some 0, at times very unequal.
    pub upper: Vec<f64>,
    /// The total.
    pub total: f64,
    /// Whether the boxes reach the total. Sums of bounds are exact, and a total out of reach is so by at least 1/8.
    pub feasible: bool,
}

impl SvmCase {
    /// The same problem in the general form, rows in the order of [`SvmDual`](crate::SvmDual).
    #[must_use]
    pub fn program(&self) -> QuadraticProgram {
        let n = self.signs.len();
        let signed_gram = DMatrix::from_fn(n, n, |i, j| self.signs[i] * self.signs[j] * self.gram[(i, j)]);
        let mut entries: Vec<(usize, usize, f64)> = (0..n).map(|i| (i, i, 1.0)).collect();
        entries.extend(self.signs.iter().enumerate().map(|(i, &sign)| (n, i, sign)));
        let rows = SparseMatrix::from_entries(n + 1, n, &entries).expect("finite entries in range");
        let lower = [vec![0.0; n], vec![self.total]].concat();
        let upper = [self.upper.clone(), vec![self.total]].concat();
        QuadraticProgram::new(signed_gram, self.linear.clone(), rows, lower, upper).expect("finite and symmetric")
    }
}

/// Support vector duals of any flavour, one in five of them infeasible.
pub fn svm_cases() -> impl Strategy<Value = SvmCase> {
    gram_flavours().prop_flat_map(|flavour| svm_cases_of(flavour, prop::bool::weighted(0.8)))
}

/// Support vector duals over Gram matrices of one flavour, feasible or not.
pub fn svm_cases_of(
    flavour: GramFlavour,
    feasible: impl Strategy<Value = bool> + Clone + 'static,
) -> BoxedStrategy<SvmCase> {
    grams_of(flavour)
        .prop_flat_map(move |gram| {
            let n = gram.ncols();
            let linear = prop_oneof![Just(vec![-1.0; n]), Just(vec![0.0; n]), prop::collection::vec(eighths(), n),];
            let equal = prop::sample::select(vec![0.125, 1.0, 64.0]).prop_map(move |bound| vec![bound; n]);
            let unequal = prop::collection::vec(prop::sample::select(vec![0.0, 1.0 / 1024.0, 0.25, 1.0, 1024.0]), n);
            let upper = prop_oneof![equal, unequal];
            // Where between 0 and its bound each variable of a feasible point is, in quarters.
            let places = prop::collection::vec(0u8..=4, n);
            let signs = prop_oneof![3 => prop::collection::vec(signs(), n), 1 => signs().prop_map(move |s| vec![s; n])];
            (Just(gram), signs, linear, upper, places, feasible.clone(), 1u8..=32, any::<bool>())
        })
        .prop_map(|(gram, signs, linear, upper, places, feasible, excess, above)| {
            let reach = |sign: f64| -> f64 {
                signs.iter().zip(&upper).filter(|&(&s, _)| s == sign).map(|(s, bound)| s * bound).sum()
            };
            let total = match (feasible, above) {
                (true, _) => {
                    let shares = signs.iter().zip(&upper).zip(&places);
                    shares.map(|((sign, bound), &place)| sign * bound * f64::from(place) / 4.0).sum()
                }
                (false, true) => reach(1.0) + f64::from(excess) / 8.0,
                (false, false) => reach(-1.0) - f64::from(excess) / 8.0,
            };
            SvmCase { gram, signs, linear, upper, total, feasible }
        })
        .boxed()
}

/// A corner of the space of labelled points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointFlavour {
    /// The first feature tells the signs apart, with a margin of at least 1/2 on either side of 0.
    Separable,
    /// Signs have nothing to do with the points.
    Overlapping,
    /// Points drawn from the first two, of either sign.
    Duplicates,
    /// About half of the points are 0.
    ZeroColumns,
    /// The last feature is 1 everywhere.
    ConstantFeature,
}

/// All corners.
pub const POINT_FLAVOURS: [PointFlavour; 5] = [
    PointFlavour::Separable,
    PointFlavour::Overlapping,
    PointFlavour::Duplicates,
    PointFlavour::ZeroColumns,
    PointFlavour::ConstantFeature,
];

/// Points with signs and penalties, as a linear classifier is trained on.
#[derive(Debug, Clone)]
pub struct LabelledPoints {
    /// The corner.
    pub flavour: PointFlavour,
    /// One point a column: 1 to 4 features, 1 to 12 points.
    pub points: DMatrix<f64>,
    /// Signs, perhaps all the same.
    pub signs: Vec<f64>,
    /// Penalties above 0, from 1/64 to 64.
    pub penalties: Vec<f64>,
}

/// Labelled points of any flavour.
pub fn labelled_points() -> impl Strategy<Value = LabelledPoints> {
    prop::sample::select(POINT_FLAVOURS.to_vec()).prop_flat_map(labelled_points_of)
}

/// Labelled points of one flavour.
pub fn labelled_points_of(flavour: PointFlavour) -> BoxedStrategy<LabelledPoints> {
    let penalty = prop::sample::select(vec![1.0 / 64.0, 0.5, 1.0, 64.0]);
    (1usize..=4)
        .prop_flat_map(move |d| {
            let point = (prop::collection::vec(eighths(), d), signs(), penalty.clone(), any::<bool>());
            prop::collection::vec(point, 1..=12)
        })
        .prop_map(move |drawn| {
            let (d, n) = (drawn[0].0.len(), drawn.len());
            let points = DMatrix::from_fn(d, n, |feature, idx| {
                let (point, sign, _, coin) = &drawn[idx];
                match flavour {
                    PointFlavour::Separable if feature == 0 => sign * (0.5 + point[0].abs()),
                    PointFlavour::Duplicates => drawn[usize::from(*coin).min(n - 1)].0[feature],
                    PointFlavour::ZeroColumns if *coin => 0.0,
                    PointFlavour::ConstantFeature if feature == d - 1 => 1.0,
                    _ => point[feature],
                }
            });
            let signs = drawn.iter().map(|(_, sign, ..)| *sign).collect();
            let penalties = drawn.iter().map(|(_, _, penalty, _)| *penalty).collect();
            LabelledPoints { flavour, points, signs, penalties }
        })
        .boxed()
}

fn gram_flavours() -> impl Strategy<Value = GramFlavour> {
    prop::sample::select(GRAM_FLAVOURS.to_vec())
}

/// From −4 to 4.
fn eighths() -> impl Strategy<Value = f64> + Clone {
    (-32i32..=32).prop_map(|k| f64::from(k) / 8.0)
}

fn signs() -> impl Strategy<Value = f64> + Clone {
    any::<bool>().prop_map(|positive| if positive { 1.0 } else { -1.0 })
}

/// What a bound of a random row is.
#[derive(Debug, Clone, Copy)]
enum Side {
    Infinite,
    /// At the known point.
    Tight,
    /// One away from it.
    Loose,
}

/// Raw material: a factor of $P$, a point, and rows around it.
#[derive(Debug, Clone)]
struct Parts {
    /// $P = FF^\top$ and something on the diagonal.
    factor: DMatrix<f64>,
    ridge: f64,
    linear: Vec<f64>,
    /// A feasible point.
    point: Vec<f64>,
    rows: Vec<Vec<f64>>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

fn parts(min_variables: usize) -> impl Strategy<Value = Parts> {
    (min_variables..=12, 0usize..=8).prop_flat_map(|(n, n_rows)| {
        let side = prop::sample::select(vec![Side::Infinite, Side::Tight, Side::Loose]);
        let coefficient = prop_oneof![Just(0.0), eighths()];
        let factor = prop::collection::vec(eighths(), n * n).prop_map(move |values| DMatrix::from_vec(n, n, values));
        let vector = || prop::collection::vec(eighths(), n);
        let rows = prop::collection::vec((prop::collection::vec(coefficient, n), side.clone(), side), n_rows);
        (factor, vector(), vector(), rows).prop_map(|(factor, linear, point, rows)| {
            let mut parts = Parts { factor, ridge: 0.0, linear, point, rows: vec![], lower: vec![], upper: vec![] };
            for (row, below, above) in rows {
                let away = |side| match side {
                    Side::Infinite => f64::INFINITY,
                    Side::Tight => 0.0,
                    Side::Loose => 1.0,
                };
                parts.add_row(row, away(below), away(above));
            }
            parts
        })
    })
}

impl Parts {
    /// A row whose bounds are so far from its value at the point.
    fn add_row(&mut self, row: Vec<f64>, below: f64, above: f64) {
        let value: f64 = row.iter().zip(&self.point).map(|(a, x)| a * x).sum();
        self.lower.push(value - below);
        self.upper.push(value + above);
        self.rows.push(row);
    }

    fn add_boxes(&mut self, mut widths: impl FnMut(usize) -> (f64, f64)) {
        for i in 0..self.point.len() {
            let (below, above) = widths(i);
            let unit = (0..self.point.len()).map(|j| f64::from(u8::from(i == j))).collect();
            self.add_row(unit, below, above);
        }
    }

    fn well_posed(mut self) -> Parts {
        self.ridge = 1.0;
        self
    }

    /// $q = -Px - A^\top y$ makes the point optimal, with multipliers at some of the tight bounds and 0 at the others.
    fn degenerate(mut self) -> Parts {
        if let Some(first) = self.rows.first().cloned() {
            self.add_row(first.clone(), 0.0, 1.0);
            self.add_row(first, 0.0, 0.0);
        }
        self.add_boxes(|i| if i % 2 == 0 { (0.0, 2.0) } else { (1.0, f64::INFINITY) });
        let half = self.factor.ncols().div_ceil(2);
        self.factor.columns_mut(half, self.point.len() - half).fill(0.0);
        let factor_times_point = self.factor.tr_mul(&nalgebra::DVector::from_column_slice(&self.point));
        let mut gradient = &self.factor * factor_times_point;
        for (r, row) in self.rows.iter().enumerate() {
            let value: f64 = row.iter().zip(&self.point).map(|(a, x)| a * x).sum();
            let pull = if r % 3 == 0 { 0.0 } else { 1.0 };
            let multiplier =
                pull * (f64::from(u8::from(self.upper[r] == value)) - f64::from(u8::from(self.lower[r] == value)));
            gradient.iter_mut().zip(row).for_each(|(g, a)| *g += a * multiplier);
        }
        self.linear = gradient.iter().map(|g| -g).collect();
        self
    }

    fn rank_deficient(mut self, rank: usize) -> Parts {
        let rank = rank.min(self.point.len() - 1);
        self.factor.columns_mut(rank, self.point.len() - rank).fill(0.0);
        self.add_boxes(|i| (1.0, (i % 3) as f64));
        self
    }

    fn tight_boxes(mut self) -> Parts {
        self.add_boxes(|i| [(0.0, 0.0), (0.0, 1e-6), (1e-6, 0.0), (1.0, 1.0)][i % 4]);
        self
    }

    fn crossed_bounds(mut self) -> Parts {
        self.ridge = 1.0;
        self.add_boxes(|_| (2.0, 2.0));
        let last = self.lower.len() - 1;
        self.lower[last] = self.upper[last] + 1.0;
        self
    }

    /// Two rows that pull apart: the second asks for at least what the first forbids.
    fn opposed_rows(mut self) -> Parts {
        let mut row: Vec<f64> = self.linear.clone();
        row[0] = 1.0;
        self.add_row(row.clone(), f64::INFINITY, 0.0);
        self.add_row(row.iter().map(|a| -2.0 * a).collect(), f64::INFINITY, -1.0);
        self
    }

    /// With $d$ of one or two entries $\pm1$: the factor and half of the rows are made orthogonal to $d$, the others may only gain along it, and
    /// the objective falls along it.
    fn unbounded(mut self) -> Parts {
        let n = self.point.len();
        let mut direction = vec![0.0; n];
        direction[0] = 1.0;
        direction[n - 1] = if self.linear[0] > 0.0 { 1.0 } else { -1.0 };
        let length: f64 = direction.iter().map(|d| d * d).sum();
        let along = |vector: &[f64]| vector.iter().zip(&direction).map(|(a, d)| a * d).sum::<f64>() / length;
        let set = |vector: &mut [f64], wanted: f64| {
            let change = wanted - along(vector);
            vector.iter_mut().zip(&direction).for_each(|(a, d)| *a += change * d);
        };
        for mut column in self.factor.column_iter_mut() {
            let mut values: Vec<f64> = column.iter().copied().collect();
            set(&mut values, 0.0);
            column.copy_from_slice(&values);
        }
        set(&mut self.linear, -1.0);
        for (r, row) in self.rows.iter_mut().enumerate() {
            set(row, if r % 2 == 0 { 0.0 } else { 0.5 });
            let value: f64 = row.iter().zip(&self.point).map(|(a, x)| a * x).sum();
            self.lower[r] = if self.lower[r].is_finite() { value - 1.0 } else { self.lower[r] };
            self.upper[r] = if r % 2 == 0 && self.upper[r].is_finite() { value + 1.0 } else { f64::INFINITY };
        }
        self
    }

    /// Variable $i$ in units of $10^{e_i}$, row $r$ in units of $10^{e_r}$.
    fn rescaled(mut self, exponents: &[i32]) -> Parts {
        let unit = |idx: usize| 10f64.powi(exponents[idx % exponents.len()]);
        let n = self.point.len();
        // The ridge is scaled as the factor is: it becomes columns of its own.
        let ridge = DMatrix::from_fn(n, n, |r, c| if r == c { unit(r) * self.ridge.sqrt() } else { 0.0 });
        self.ridge = 0.0;
        let scaled = DMatrix::from_fn(n, n, |r, c| unit(r) * self.factor[(r, c)]);
        self.factor = DMatrix::from_fn(n, 2 * n, |r, c| if c < n { scaled[(r, c)] } else { ridge[(r, c - n)] });
        self.linear.iter_mut().enumerate().for_each(|(i, q)| *q *= unit(i));
        for (r, row) in self.rows.iter_mut().enumerate() {
            row.iter_mut().enumerate().for_each(|(i, a)| *a *= unit(i) * unit(n + r));
            self.lower[r] *= unit(n + r);
            self.upper[r] *= unit(n + r);
        }
        self
    }

    fn program(self) -> QuadraticProgram {
        let n = self.point.len();
        let quadratic = &self.factor * self.factor.transpose() + DMatrix::identity(n, n) * self.ridge;
        let entries: Vec<(usize, usize, f64)> = self
            .rows
            .iter()
            .enumerate()
            .flat_map(|(r, row)| row.iter().enumerate().map(move |(i, &a)| (r, i, a)))
            .filter(|&(_, _, a)| a != 0.0)
            .collect();
        let rows = SparseMatrix::from_entries(self.rows.len(), n, &entries).expect("finite entries in range");
        if self.rows.len().is_multiple_of(2) {
            QuadraticProgram::new(quadratic, self.linear, rows, self.lower, self.upper)
        } else {
            let sparse = SparseMatrix::from_dense(&quadratic).expect("finite entries");
            QuadraticProgram::new(sparse, self.linear, rows, self.lower, self.upper)
        }
        .expect("finite and symmetric")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    /// 200 draws, the same each time.
    fn samples<T: std::fmt::Debug>(strategy: impl Strategy<Value = T>) -> Vec<T> {
        let mut runner = TestRunner::deterministic();
        (0..200).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
    }

    fn share<T>(samples: &[T], holds: impl Fn(&T) -> bool) -> f64 {
        samples.iter().filter(|sample| holds(sample)).count() as f64 / samples.len() as f64
    }

    fn dense(program: &QuadraticProgram) -> DMatrix<f64> {
        let n = program.n_variables();
        let columns: Vec<f64> = (0..n)
            .flat_map(|i| {
                let unit: Vec<f64> = (0..n).map(|j| f64::from(u8::from(i == j))).collect();
                program.quadratic_product(&unit).unwrap()
            })
            .collect();
        DMatrix::from_vec(n, n, columns)
    }

    fn rank(matrix: &DMatrix<f64>) -> usize {
        let eigenvalues = matrix.clone().symmetric_eigenvalues();
        eigenvalues.iter().filter(|value| value.abs() > 1e-9 * matrix.amax()).count()
    }

    #[test]
    fn every_flavour_of_program_is_drawn_and_is_convex() {
        let cases = samples(quadratic_programs());
        for flavour in FLAVOURS {
            assert!(cases.iter().any(|case| case.flavour == flavour), "{flavour:?}");
        }
        for case in cases {
            let quadratic = dense(&case.program);
            let least = quadratic.clone().symmetric_eigenvalues().min();
            assert!(least >= -1e-12 * (1.0 + quadratic.amax()), "{:?}: {least}", case.flavour);
        }
    }

    #[test]
    fn programs_reach_what_their_flavour_claims() {
        let of = |flavour| samples(quadratic_programs_of(flavour).prop_map(|case| case.program));
        let no_rows = |program: &QuadraticProgram| program.n_rows() == 0;
        assert!(share(&of(Flavour::WellPosed), no_rows) > 0.05);
        assert!(share(&of(Flavour::WellPosed), |program| program.n_variables() == 12) > 0.02);
        let unbounded_row = |program: &QuadraticProgram| {
            let (lower, upper) = program.row_bounds();
            lower.iter().zip(upper.iter()).any(|(l, u)| l.is_infinite() && u.is_infinite())
        };
        assert!(share(&of(Flavour::WellPosed), unbounded_row) > 0.2);
        let singular = |program: &QuadraticProgram| rank(&dense(program)) < program.n_variables();
        assert_eq!(share(&of(Flavour::RankDeficient), singular), 1.0);
        assert!(share(&of(Flavour::RankDeficient), |program| dense(program).amax() == 0.0) > 0.2);
        assert!(share(&of(Flavour::DuplicatedPoints), singular) > 0.7);
        let widths = |program: &QuadraticProgram| -> Vec<f64> {
            let (lower, upper) = program.row_bounds();
            lower.iter().zip(upper.iter()).map(|(l, u)| u - l).collect()
        };
        assert_eq!(share(&of(Flavour::TightBoxes), |program| widths(program).contains(&0.0)), 1.0);
        let crossed = share(&of(Flavour::Infeasible), |program| widths(program).iter().any(|&width| width < 0.0));
        assert!((0.15..0.6).contains(&crossed), "{crossed}");
        let spread = |program: &QuadraticProgram| {
            let diagonal = dense(program).diagonal();
            diagonal.max() / diagonal.min() > 1e9
        };
        assert!(share(&of(Flavour::BadlyScaled), spread) > 0.3);
        assert!(share(&of(Flavour::Degenerate), |program| program.n_rows() > program.n_variables()) > 0.5);
    }

    #[test]
    fn an_unbounded_program_falls_along_its_direction_and_is_feasible_there() {
        for case in samples(quadratic_programs_of(Flavour::Unbounded)) {
            let program = case.program;
            let n = program.n_variables();
            let falls = [1.0, -1.0].iter().any(|&last| {
                let mut direction = vec![0.0; n];
                direction[0] = 1.0;
                direction[n - 1] = last;
                let proof = crate::UnboundednessProof { direction };
                proof.holds(&program, 0.0).unwrap()
            });
            assert!(falls, "{program:?}");
        }
    }

    #[test]
    fn grams_reach_ranks_from_zero_to_full_and_twelve_orders_of_magnitude() {
        assert_eq!(share(&samples(grams_of(GramFlavour::Zero)), |gram| rank(gram) == 0), 1.0);
        assert_eq!(share(&samples(grams_of(GramFlavour::RankOne)), |gram| rank(gram) <= 1), 1.0);
        assert!(share(&samples(grams_of(GramFlavour::Linear)), |gram| rank(gram) == 3) > 0.5);
        assert!(share(&samples(grams_of(GramFlavour::Gaussian)), |gram| rank(gram) == gram.ncols()) > 0.8);
        let repeated = |gram: &DMatrix<f64>| gram.ncols() > 1 && rank(gram) < gram.ncols();
        assert!(share(&samples(grams_of(GramFlavour::DuplicatedPoints)), repeated) > 0.7);
        let wide = |gram: &DMatrix<f64>| gram.diagonal().max() > 1e9 * gram.diagonal().min();
        assert!(share(&samples(grams_of(GramFlavour::WideRange)), wide) > 0.3);
    }

    #[test]
    fn support_vector_duals_reach_the_corners_of_their_boxes() {
        let cases = samples(svm_cases());
        assert!((0.1..0.35).contains(&share(&cases, |case| !case.feasible)));
        assert!(share(&cases, |case| case.upper.contains(&0.0)) > 0.2);
        assert!(share(&cases, |case| case.upper.contains(&1024.0) && case.upper.contains(&(1.0 / 1024.0))) > 0.1);
        assert!(share(&cases, |case| case.signs.len() > 2 && case.signs.iter().all(|&s| s == case.signs[0])) > 0.1);
        assert!(share(&cases, |case| case.linear.iter().all(|&p| p == -1.0)) > 0.2);
        for case in &cases {
            let reach = |sign: f64| -> f64 {
                case.signs.iter().zip(&case.upper).map(|(s, bound)| if *s == sign { s * bound } else { 0.0 }).sum()
            };
            assert_eq!(reach(-1.0) <= case.total && case.total <= reach(1.0), case.feasible, "{case:?}");
        }
        let at_the_edge = |case: &SvmCase| {
            let reach: f64 = case.signs.iter().zip(&case.upper).map(|(s, bound)| s.max(0.0) * bound).sum();
            case.feasible && case.total == reach
        };
        assert!(cases.iter().any(at_the_edge), "a single feasible point");
    }

    #[test]
    fn labelled_points_reach_duplicates_of_both_signs_zeros_and_constants() {
        let cases = samples(labelled_points());
        for flavour in POINT_FLAVOURS {
            assert!(cases.iter().any(|case| case.flavour == flavour), "{flavour:?}");
        }
        let contradicts = |case: &LabelledPoints| {
            let columns: Vec<_> = case.points.column_iter().collect();
            (0..columns.len()).any(|i| (0..i).any(|j| columns[i] == columns[j] && case.signs[i] != case.signs[j]))
        };
        assert!(share(&samples(labelled_points_of(PointFlavour::Duplicates)), contradicts) > 0.6);
        let zero = |case: &LabelledPoints| case.points.column_iter().any(|column| column.amax() == 0.0);
        assert!(share(&samples(labelled_points_of(PointFlavour::ZeroColumns)), zero) > 0.6);
        let constant = |case: &LabelledPoints| case.points.row(case.points.nrows() - 1).iter().all(|&x| x == 1.0);
        assert_eq!(share(&samples(labelled_points_of(PointFlavour::ConstantFeature)), constant), 1.0);
        let separated =
            |case: &LabelledPoints| case.signs.iter().enumerate().all(|(i, s)| s * case.points[(0, i)] >= 0.5);
        assert_eq!(share(&samples(labelled_points_of(PointFlavour::Separable)), separated), 1.0);
        assert!(share(&samples(labelled_points_of(PointFlavour::Overlapping)), |case| !separated(case)) > 0.8);
        assert!(share(&cases, |case| case.signs.iter().all(|&s| s == case.signs[0])) > 0.05, "one class alone");
    }
}
