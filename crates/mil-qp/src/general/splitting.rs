//! The splitting method of OSQP, a few iterations at a time, each answer judged by our own checker.
//!
//! The C program would adapt its step size by the clock, say "infeasible" where nothing is proved, and fail hard where a factorisation does. So
//! it iterates here with a fixed step size, and what surrounds the iterations is ours: a step size is changed by setting up anew, the
//! tolerance is tightened until the certificate holds, and proofs are made from the drift of the iterates.

use nalgebra::DMatrix;
use osqp::{CscMatrix, Problem as Engine, Settings, SetupError, Status};

use super::{GeneralSettings, Polish, QuadraticProgram};
use crate::certificate::dot;
use crate::{Certificate, InfeasibilityProof, Outcome, Problem, ProblemError, Solution, UnboundednessProof};

/// Iterations between two looks at the step size and at the drift.
const STRETCH: usize = 100;
/// The step size to begin with (OSQP's own), and how far from the best guess it may be.
const FIRST_STEP_SIZE: f64 = 0.1;
const STEP_SIZE_SLACK: f64 = 5.0;
/// The first accuracy worth a polish, the factor to the next, and the last, near rounding.
const ROUGHEST: f64 = 1e-4;
const FINER: f64 = 0.1;
const FINEST: f64 = 1e-15;
/// Steps of iterative refinement in a polish.
const REFINEMENTS: u32 = 20;
/// OSQP's infinity. It takes bounds from 1e26 for infinite.
const INFINITE: f64 = 1e30;

pub(super) fn solve(
    program: &QuadraticProgram,
    primal: &[f64],
    dual: &[f64],
    settings: &GeneralSettings,
) -> Result<Outcome, ProblemError> {
    let tolerance = settings.tolerance;
    if let Some(proof) = crossed_row(program, tolerance).or_else(|| row_out_of_reach(program, tolerance)) {
        return Ok(Outcome::Infeasible(proof));
    }
    let mut current = judge(program, primal.to_vec(), dual.to_vec(), 0)?;
    if curves_downwards(program)? {
        return Err(ProblemError::NotConvex);
    }
    let mut best = current.clone();
    let mut accuracy = if settings.polish == Polish::On { ROUGHEST.max(tolerance) } else { tolerance };
    let mut step_size = FIRST_STEP_SIZE;
    let (mut patience, mut changed_at) = (STRETCH, 0);
    let scaled = Scaled::new(program);
    let mut engine = None;
    if !scaled.is_moderate() {
        return Ok(Outcome::judged(best, tolerance));
    }

    while !best.certificate.holds(tolerance) && current.n_steps < settings.max_iterations {
        let running = match engine.take() {
            Some(running) => running,
            None => match scaled.engine(&current, step_size, accuracy, settings.polish) {
                Ok(fresh) => fresh,
                Err(SetupError::NonConvex) => return Err(ProblemError::NotConvex),
                Err(_) => break,
            },
        };
        let running = engine.insert(running);
        running.update_max_iter(STRETCH.min(settings.max_iterations - current.n_steps) as u32);
        // Forgets the status of the last stretch.
        running.update_lin_cost(&scaled.linear);
        let status = running.solve();
        let n_steps = current.n_steps + status.iter() as usize;
        let wanted_step_size = status.rho_estimate();
        let reached = matches!(status, Status::Solved(_));
        let drift = match &status {
            Status::PrimalInfeasible(found) | Status::PrimalInfeasibleInaccurate(found) => {
                Drift { primal: vec![0.0; primal.len()], dual: scaled.dual(found.delta_y()) }
            }
            Status::DualInfeasible(found) | Status::DualInfeasibleInaccurate(found) => {
                Drift { primal: scaled.primal(found.delta_x()), dual: vec![0.0; dual.len()] }
            }
            Status::Solved(point) | Status::SolvedInaccurate(point) | Status::MaxIterationsReached(point) => {
                let next = judge(program, scaled.primal(point.x()), scaled.dual(point.y()), n_steps)?;
                let drift = Drift::between(&current, &next);
                current = next;
                drift
            }
            // Diverged: numbers too large for this method.
            _ => break,
        };
        if let Some(outcome) = drift.proof(program, tolerance)? {
            return Ok(outcome);
        }
        if current.n_steps < n_steps {
            // A proof that is none, for which OSQP forgot its iterates.
            current.n_steps = n_steps;
            scaled.restart(running, &current);
        }
        if !current.certificate.worst().is_finite() {
            break;
        }
        if current.certificate.worst() < best.certificate.worst() || best.certificate.worst().is_nan() {
            best = current.clone();
        }
        let far = wanted_step_size / step_size;
        if reached {
            if accuracy <= FINEST {
                break;
            }
            accuracy = (accuracy * FINER).max(FINEST);
            running.update_eps_abs(accuracy);
            running.update_eps_rel(accuracy);
        } else if n_steps - changed_at >= patience && (far > STEP_SIZE_SLACK || far < STEP_SIZE_SLACK.recip()) {
            // Ever longer between two changes: with a step size that keeps changing the method need not converge.
            (step_size, patience, changed_at) = (wanted_step_size, patience + patience / 2, n_steps);
            engine = None;
        }
    }
    Ok(Outcome::judged(Solution { n_steps: current.n_steps, ..best }, tolerance))
}

fn judge(
    program: &QuadraticProgram,
    primal: Vec<f64>,
    dual: Vec<f64>,
    n_steps: usize,
) -> Result<Solution, ProblemError> {
    let quadratic = program.quadratic_product(&primal)?;
    let certificate = Certificate::of(program, &primal, &dual, &quadratic);
    Ok(Solution { primal, dual, certificate, n_steps })
}

/// The first row whose lower bound is above its upper by more than the tolerance.
fn crossed_row(program: &QuadraticProgram, tolerance: f64) -> Option<InfeasibilityProof> {
    let crosses = |(l, u): (&f64, &f64)| l - u > tolerance * l.abs().max(u.abs()).max(1.0);
    let row = program.lower.iter().zip(&program.upper).position(crosses)?;
    Some(InfeasibilityProof::new((0..program.n_rows()).map(|r| f64::from(u8::from(r == row))).collect()))
}

/// The first row that the bounds of single variables keep from its own: with $a_{ri}$ at the rows that bound the variables, the largest (or least)
/// value of $(Ax)_r$ is below $l_r$ (above $u_r$). The commonest way to be infeasible, and found at once.
fn row_out_of_reach(program: &QuadraticProgram, tolerance: f64) -> Option<InfeasibilityProof> {
    let (n, m) = (program.n_variables(), program.n_rows());
    let mut n_entries = vec![0usize; m];
    for column in 0..n {
        program.rows.column(column).0.iter().for_each(|&row| n_entries[row] += 1);
    }
    // For each row its least and its largest value, and for each variable the rows that bound it and by which coefficient.
    let mut reach = vec![(0.0, 0.0); m];
    let mut bounded_by = Vec::with_capacity(n);
    for column in 0..n {
        let (rows, values) = program.rows.column(column);
        let (mut least, mut largest) = ((f64::NEG_INFINITY, None), (f64::INFINITY, None));
        for (&row, &a) in rows.iter().zip(values).filter(|&(&row, &a)| n_entries[row] == 1 && a != 0.0) {
            let (l, u) = (program.lower[row] / a, program.upper[row] / a);
            if l.min(u) > least.0 {
                least = (l.min(u), Some((row, a)));
            }
            if l.max(u) < largest.0 {
                largest = (l.max(u), Some((row, a)));
            }
        }
        for (&row, &a) in rows.iter().zip(values).filter(|&(_, &a)| a != 0.0) {
            let (at_least, at_largest) = (a * least.0, a * largest.0);
            reach[row].0 += at_least.min(at_largest);
            reach[row].1 += at_least.max(at_largest);
        }
        bounded_by.push((least.1, largest.1));
    }
    (0..m).find_map(|row| {
        let too_high = reach[row].0 > program.upper[row];
        let too_low = reach[row].1 < program.lower[row];
        if !too_high && !too_low {
            return None;
        }
        // $y_r = \pm1$ pulls the row to its bound, and the bounds of the variables pull back.
        let pull = if too_high { 1.0 } else { -1.0 };
        let mut dual = vec![0.0; m];
        dual[row] = pull;
        for (column, (least, largest)) in bounded_by.iter().enumerate() {
            let (rows, values) = program.rows.column(column);
            let Ok(place) = rows.binary_search(&row) else { continue };
            if let Some((bound, a)) = if pull * values[place] > 0.0 { least } else { largest } {
                dual[*bound] -= pull * values[place] / a;
            }
        }
        let proof = InfeasibilityProof::new(dual);
        proof.holds(program, tolerance).then_some(proof)
    })
}

/// The program in other units, $x = D\hat x$ and $y = E\hat y$, in which the largest entry of every row and column of
/// $\begin{pmatrix} P & A^\top \\ A & 0\end{pmatrix}$ is about 1 (Ruiz, *A scaling algorithm to equilibrate both rows and columns norms in
/// matrices*, 2001). OSQP does the same but leaves rows below 1e-4 as they are.
struct Scaled {
    variable_units: Vec<f64>,
    row_units: Vec<f64>,
    upper_triangle: CscMatrix<'static>,
    linear: Vec<f64>,
    rows: CscMatrix<'static>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

/// Rounds of scaling.
const ROUNDS: usize = 10;

impl Scaled {
    fn new(program: &QuadraticProgram) -> Scaled {
        let (n, m) = (program.n_variables(), program.n_rows());
        let mut upper_triangle = Columns::new(n);
        program.quadratic.for_each(|row, column, value| {
            if row <= column && value != 0.0 {
                upper_triangle.push(row, column, value);
            }
        });
        let mut rows = Columns::new(n);
        for column in 0..n {
            let (places, values) = program.rows.column(column);
            places.iter().zip(values).for_each(|(&row, &value)| rows.push(row, column, value));
        }
        let (mut upper_triangle, mut rows) = (upper_triangle.close(), rows.close());
        let (mut variable_units, mut row_units) = (vec![1.0; n], vec![1.0; m]);
        for round in 0..=ROUNDS {
            let (mut of_variables, mut of_rows) = (vec![0.0_f64; n], vec![0.0_f64; m]);
            upper_triangle.for_each(|row, column, value| {
                let size = (*value * variable_units[row] * variable_units[column]).abs();
                of_variables[row] = of_variables[row].max(size);
                of_variables[column] = of_variables[column].max(size);
            });
            rows.for_each(|row, column, value| {
                let size = (*value * row_units[row] * variable_units[column]).abs();
                of_rows[row] = of_rows[row].max(size);
                of_variables[column] = of_variables[column].max(size);
            });
            let units = variable_units.iter_mut().chain(&mut row_units);
            for (unit, size) in units.zip(of_variables.into_iter().chain(of_rows)) {
                if size > 0.0 {
                    *unit /= size.sqrt();
                }
                if round == ROUNDS {
                    // Powers of 2: no rounding.
                    *unit = unit.log2().round().clamp(-250.0, 250.0).exp2();
                }
            }
        }
        upper_triangle.for_each(|row, column, value| *value *= variable_units[row] * variable_units[column]);
        rows.for_each(|row, column, value| *value *= row_units[row] * variable_units[column]);
        // Bounds that cross by less than the tolerance meet halfway.
        let halfway = |l: f64, u: f64| if l > u { 0.5 * l + 0.5 * u } else { l };
        let bounds = || program.lower.iter().zip(&program.upper).zip(&row_units);
        let clamped = |bound: f64| bound.clamp(-INFINITE, INFINITE);
        Scaled {
            upper_triangle: upper_triangle.finish(n),
            linear: program.linear.iter().zip(&variable_units).map(|(q, unit)| q * unit).collect(),
            rows: rows.finish(m),
            lower: bounds().map(|((&l, &u), unit)| clamped(unit * halfway(l, u))).collect(),
            upper: bounds().map(|((&l, &u), unit)| clamped(unit * u.max(halfway(l, u)))).collect(),
            variable_units,
            row_units,
        }
    }

    /// Whether scaling succeeded: rounding is then far below the diagonal that OSQP adds, and a factorisation can fail only for want of convexity.
    fn is_moderate(&self) -> bool {
        self.upper_triangle.data.iter().chain(self.rows.data.iter()).all(|value| value.abs() <= 1e3)
    }

    /// OSQP with these data.
    fn engine(&self, start: &Solution, step_size: f64, accuracy: f64, polish: Polish) -> Result<Engine, SetupError> {
        let settings = Settings::default()
            .verbose(false)
            .rho(step_size)
            .adaptive_rho(false)
            .eps_abs(accuracy)
            .eps_rel(accuracy)
            // Its own verdicts on feasibility are not waited for.
            .eps_prim_inf(INFINITE.recip())
            .eps_dual_inf(INFINITE.recip())
            .polish(polish == Polish::On)
            .polish_refine_iter(REFINEMENTS);
        let (quadratic, rows) = (self.upper_triangle.clone(), self.rows.clone());
        let mut engine = Engine::new(quadratic, &self.linear, rows, &self.lower, &self.upper, &settings)?;
        self.restart(&mut engine, start);
        Ok(engine)
    }

    fn restart(&self, engine: &mut Engine, start: &Solution) {
        let quotient =
            |values: &[f64], units: &[f64]| -> Vec<f64> { values.iter().zip(units).map(|(v, u)| v / u).collect() };
        engine.warm_start(&quotient(&start.primal, &self.variable_units), &quotient(&start.dual, &self.row_units));
    }

    fn primal(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(&self.variable_units).map(|(x, unit)| x * unit).collect()
    }

    fn dual(&self, y: &[f64]) -> Vec<f64> {
        y.iter().zip(&self.row_units).map(|(y, unit)| y * unit).collect()
    }
}

/// A matrix in the making, filled column by column.
struct Columns {
    starts: Vec<usize>,
    row_idxs: Vec<usize>,
    values: Vec<f64>,
}

impl Columns {
    fn new(n_columns: usize) -> Columns {
        Columns { starts: vec![0; n_columns + 1], row_idxs: Vec::new(), values: Vec::new() }
    }

    /// The columns must not descend.
    fn push(&mut self, row: usize, column: usize, value: f64) {
        self.row_idxs.push(row);
        self.values.push(value);
        self.starts[column + 1] = self.values.len();
    }

    /// Where a column without entries begins.
    fn close(mut self) -> Columns {
        for column in 1..self.starts.len() {
            self.starts[column] = self.starts[column].max(self.starts[column - 1]);
        }
        self
    }

    fn for_each(&mut self, mut visit: impl FnMut(usize, usize, &mut f64)) {
        for (column, span) in self.starts.windows(2).enumerate() {
            for entry in span[0]..span[1] {
                visit(self.row_idxs[entry], column, &mut self.values[entry]);
            }
        }
    }

    fn finish(self, n_rows: usize) -> CscMatrix<'static> {
        CscMatrix {
            nrows: n_rows,
            ncols: self.starts.len() - 1,
            indptr: self.starts.into(),
            indices: self.row_idxs.into(),
            data: self.values.into(),
        }
    }
}

/// How far the iterates went in a stretch.
///
/// Where there is no optimum they drift for ever, and the drift tends to a proof (Banjac, Goulart, Stellato & Boyd, *Infeasibility detection in the
/// alternating direction method of multipliers for convex optimization*, 2019): that of $y$ that nothing is feasible, that of $x$ that the
/// objective falls for ever.
struct Drift {
    primal: Vec<f64>,
    dual: Vec<f64>,
}

impl Drift {
    fn between(from: &Solution, to: &Solution) -> Drift {
        let drift = |from: &[f64], to: &[f64]| to.iter().zip(from).map(|(to, from)| to - from).collect();
        Drift { primal: drift(&from.primal, &to.primal), dual: drift(&from.dual, &to.dual) }
    }

    /// A proof, if there is one in it that holds.
    fn proof(mut self, program: &QuadraticProgram, tolerance: f64) -> Result<Option<Outcome>, ProblemError> {
        let rows = program.rows.largest();
        let curvature = rows.max(program.quadratic.largest());
        for ((multiplier, l), u) in self.dual.iter_mut().zip(&program.lower).zip(&program.upper) {
            let bound = if *multiplier > 0.0 { u } else { l };
            if bound.is_infinite() {
                *multiplier = 0.0;
            }
        }
        for dual in cleaned(self.dual) {
            let proof = InfeasibilityProof::new(dual);
            let (residual, support) = proof.measure(program);
            if proof.holds(program, tolerance) && REACH * residual <= -support && residual <= SHARP * rows {
                return Ok(Some(Outcome::Infeasible(proof)));
            }
        }
        for direction in cleaned(self.primal) {
            let proof = UnboundednessProof::new(direction);
            let (residual, slope) = proof.measure(program)?;
            if proof.holds(program, tolerance)? && REACH * residual <= -slope && residual <= SHARP * curvature {
                return Ok(Some(Outcome::Unbounded(proof)));
            }
        }
        Ok(None)
    }
}

/// What should be 0 in a proof must be so much smaller than what should not: a proof to 1e-9 alone says little of points of size 1e9.
const REACH: f64 = 1e9;
/// And what should be 0 must be so against the largest entry of the matrices: a small matrix is not none.
const SHARP: f64 = 1e-9;

/// The vector without its small entries, first as it is, then with ever larger ones gone.
fn cleaned(vector: Vec<f64>) -> impl Iterator<Item = Vec<f64>> {
    let largest = vector.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    [0.0, 1e-6, 1e-3].into_iter().map(move |share| {
        vector.iter().map(|&value| if value.abs() >= share * largest { value } else { 0.0 }).collect()
    })
}

/// Steps of the search for negative curvature, and how negative it must be against the largest curvature met.
const CURVATURE_STEPS: usize = 40;
const CURVATURE: f64 = 1e-9;

/// Up to so many variables all curvatures are computed.
const FEW_VARIABLES: usize = 100;

/// Whether $P$ has a direction of negative curvature: among all directions for few variables, else among those of the Krylov space of a fixed vector (Lanczos'
/// method, orthogonalised in full). What is found is certain.
fn curves_downwards(program: &QuadraticProgram) -> Result<bool, ProblemError> {
    let n = program.n_variables();
    if n <= FEW_VARIABLES {
        let curvatures = program.quadratic.to_dense(n).symmetric_eigenvalues();
        return Ok(curvatures.min() < -1e-13 * n as f64 * curvatures.amax());
    }
    // Irrational steps: a component along every direction.
    let mut vector: Vec<f64> = (0..n).map(|i| 0.5 + (i as f64 * 0.618_033_988_749_895).fract()).collect();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..CURVATURE_STEPS.min(n) {
        let length = dot(&vector, &vector).sqrt();
        vector.iter_mut().for_each(|value| *value /= length);
        let mut image = program.quadratic_product(&vector)?;
        diagonal.push(dot(&vector, &image));
        basis.push(std::mem::take(&mut vector));
        // Twice is enough.
        for direction in basis.iter().chain(&basis) {
            let along = dot(direction, &image);
            image.iter_mut().zip(direction).for_each(|(value, d)| *value -= along * d);
        }
        let rest = dot(&image, &image).sqrt();
        let scale = diagonal.iter().chain(&beside).fold(0.0_f64, |scale, value| scale.max(f64::abs(*value)));
        if rest <= 1e-12 * scale || !rest.is_finite() {
            break;
        }
        beside.push(rest);
        vector = image;
    }
    let order = diagonal.len();
    let tridiagonal = DMatrix::from_fn(order, order, |i, j| match i.abs_diff(j) {
        0 => diagonal[i],
        1 => beside[i.min(j)],
        _ => 0.0,
    });
    if !tridiagonal.iter().all(|value| value.is_finite()) {
        return Ok(false);
    }
    let curvatures = tridiagonal.symmetric_eigenvalues();
    Ok(curvatures.min() < -CURVATURE * curvatures.amax())
}
