//! The master problem: a simplex method that walks the vertices of a polyhedral function.
//!
//! Over the columns $c_j$ it was given (an example's sign times its scaled feature), each of cost $\lambda_j$,
//!
//! $$ \min_w\ F(w) = \sum_j\lambda_j|w_j| + \sum_i C_i (r_i)_+, \qquad r = 1 - \sum_j w_jc_j. $$
//!
//! A vertex is a set $S$ of *basic* columns and as many *tight* examples $T$ such that $M = (c_{ij})_{i\in T,\,j\in S}$ is regular: other weights are 0,
//! tight residuals are 0. The multipliers are $a_i = C_i$ where an example is violated ($r_i > 0$), 0 where it is satisfied, and on $T$ what makes
//! $\sum_i a_ic_{ij} = \lambda_j\operatorname{sgn} w_j$ for $j\in S$. The vertex is optimal if $0\le a_i\le C_i$ on $T$ and $|\sum_ia_ic_{ij}|\le\lambda_j$ off $S$.
//! If not, one of the offenders is released, and all of $F$ is minimised along the edge, which is a piecewise linear function of the step: where it is
//! least, a residual or a weight is 0, and takes the place of the one released (the idea of Barrodale & Roberts, *SIAM J. Numer. Anal.* 10, 1973, for
//! least absolute deviations). As $F$ has no constraint, every regular $(S, T)$ is a start and there is no first phase: columns may be added,
//! examples perturbed, and a damaged inverse made anew, all without leaving the method.
//!
//! A step costs $|S|(m + 8|S|)$, and every sixth prices all columns, $m$ for each. Edges are chosen by their slope for their length; on large problems
//! that takes a fifth of the steps that choosing by the slope alone does. Ties are the rule where features repeat: steps that lead nowhere are
//! counted, and after some of them the margins are perturbed until the optimum is found, from which the walk goes on with the true ones.

/// Steps between two computations of the inverse from scratch: at least this many, and at least $|S|$.
const UPDATES: usize = 100;
/// A movement this small beside the largest one of its step is rounding.
const STILL: f64 = 1e-12;
/// A movement this small beside the largest one of its step is no pivot, if there is another.
const PIVOT: f64 = 1e-8;
/// In an elimination of numbers of the order of 1, a pivot this small is rounding.
const SINGULAR: f64 = 1e-12;
/// The least distance from 0 at which a residual or a weight is told from 0; see [`Master::tie`].
const TIE: f64 = 1e-12;
/// How far rounding may take what should be 0, against what is seen of it.
const NOISE: f64 = 4.0;
/// A weight this small beside the largest is 0.
const ZERO: f64 = 1e-13;
/// How far prices and multipliers may pass their bounds, against the bound (of a multiplier: against the sum of all, if that is less).
const OPTIMALITY: f64 = 1e-11;
/// How far they may besides, against the sum of multipliers that they come from.
const ROUNDING: f64 = 1e-14;
/// Steps that lead nowhere before margins are perturbed.
const PATIENCE: usize = 20;
/// The first perturbation of the margins; each later one is [`ABATEMENT`] of the one before.
const PERTURBATION: f64 = 1e-6;
const ABATEMENT: f64 = 0.3;
const MAX_PERTURBATIONS: i32 = 8;
/// How often an optimum may be claimed that a second look does not confirm.
const MAX_CLAIMS: usize = 40;
/// Of all columns priced, the worst offenders are kept in view for some steps, and for the worst of those the length of the edge is computed.
const IN_VIEW: usize = 20;
const STEPS_IN_VIEW: usize = 6;
const MEASURED: usize = 4;

/// A column of the master.
#[derive(Debug, Clone)]
pub(super) struct Column {
    /// The entries $c_{ij}$, the largest of size 1.
    pub(super) values: Vec<f64>,
    /// $\lambda_j$; 0 for the bias.
    pub(super) cost: f64,
    norm: f64,
}

impl Column {
    pub(super) fn new(values: Vec<f64>, cost: f64) -> Column {
        let norm = dot(&values, &values).sqrt();
        Column { values, cost, norm }
    }
}

/// What is released from its place.
#[derive(Debug, Clone, Copy)]
enum Released {
    /// The weight of a column leaves 0.
    Column(usize),
    /// The residual of the tight example at this position of $T$ leaves 0.
    Tight(usize),
}

/// A way out of a vertex.
#[derive(Debug, Clone, Copy)]
struct Edge {
    released: Released,
    /// The sign that the released weight or residual takes.
    sense: f64,
    /// Of $F$ along the edge, at its beginning. Below 0.
    slope: f64,
}

/// What may stop the movement.
#[derive(Debug, Clone, Copy)]
enum Stop {
    /// The residual of an example comes to 0.
    Example(usize),
    /// The weight at this position of $S$ comes to 0.
    Weight(usize),
}

/// A kink of $F$ along an edge.
#[derive(Debug, Clone, Copy)]
struct Kink {
    /// Where it is.
    step: f64,
    /// Of what comes to 0 there.
    speed: f64,
    /// By how much the slope grows.
    rise: f64,
    stop: Stop,
}

/// The columns, the vertex, and what follows from it.
#[derive(Debug)]
pub(super) struct Master {
    penalties: Vec<f64>,
    columns: Vec<Column>,
    /// Residuals at $w = 0$: 1, or near it while perturbed.
    margins: Vec<f64>,
    /// $S$, by position: the column, its weight, and the side of 0 that it counts to.
    basic: Vec<usize>,
    weights: Vec<f64>,
    sides: Vec<f64>,
    /// $\lambda_j\operatorname{sgn}w_j - \sum_{i\notin T}a_ic_{ij}$, by position of $S$.
    owed: Vec<f64>,
    /// $T$, by position.
    tight: Vec<usize>,
    /// $M^{-1}$ by rows: a row for each position of $S$, an entry for each of $T$.
    inverse: Vec<Vec<f64>>,
    is_basic: Vec<bool>,
    is_tight: Vec<bool>,
    residuals: Vec<f64>,
    is_violated: Vec<bool>,
    /// Residuals and weights nearer to 0 than this are on either side of it, and kinks nearer to each other are one.
    tie: f64,
    duals: Vec<f64>,
    /// Offenders among the columns when all were last priced, and when that was.
    in_view: Vec<usize>,
    priced_at: usize,
    n_updates: usize,
    n_stalled: usize,
    is_perturbed: bool,
    n_steps: usize,
}

impl Master {
    /// All weights 0, no column yet. Penalties are above 0.
    pub(super) fn new(penalties: Vec<f64>) -> Master {
        let m = penalties.len();
        Master {
            duals: penalties.clone(),
            penalties,
            columns: Vec::new(),
            margins: vec![1.0; m],
            basic: Vec::new(),
            weights: Vec::new(),
            sides: Vec::new(),
            owed: Vec::new(),
            tight: Vec::new(),
            inverse: Vec::new(),
            is_basic: Vec::new(),
            is_tight: vec![false; m],
            residuals: vec![1.0; m],
            is_violated: vec![true; m],
            tie: TIE,
            in_view: Vec::new(),
            priced_at: 0,
            n_updates: 0,
            n_stalled: 0,
            is_perturbed: false,
            n_steps: 0,
        }
    }

    /// Adds a column, its weight 0.
    pub(super) fn push(&mut self, column: Column) {
        self.columns.push(column);
        self.is_basic.push(false);
    }

    /// The multipliers $a$ of the present vertex.
    pub(super) fn duals(&self) -> &[f64] {
        &self.duals
    }

    /// Steps taken so far.
    pub(super) fn n_steps(&self) -> usize {
        self.n_steps
    }

    /// The columns with a weight other than 0, and the weight.
    pub(super) fn support(&self) -> impl Iterator<Item = (usize, f64)> {
        let least = ZERO * largest(&self.weights);
        self.basic.iter().copied().zip(self.weights.iter().copied()).filter(move |&(_, weight)| weight.abs() > least)
    }

    /// Goes to a vertex where all columns are basic and these examples tight, as far as there is one.
    pub(super) fn start_at(&mut self, examples: &[usize]) {
        self.basic = (0..self.columns.len()).collect();
        self.sides = vec![1.0; self.basic.len()];
        self.tight = examples.to_vec();
        self.refactorise();
    }

    /// Walks to the optimum over the columns, or to where rounding forbids to go on. False at the limit of steps.
    pub(super) fn solve(&mut self, max_steps: usize) -> bool {
        let mut n_perturbations = 0;
        let mut n_claims = 0;
        self.n_stalled = 0;
        self.priced_at = 0;
        self.in_view.clear();
        loop {
            if self.n_updates >= UPDATES.max(self.basic.len()) {
                self.refactorise();
            }
            self.update_duals();
            let edge = self.steepest_edge();
            if edge.is_none() && !self.is_perturbed && self.n_updates == 0 {
                return true;
            }
            if self.n_steps >= max_steps || n_perturbations > MAX_PERTURBATIONS || n_claims > MAX_CLAIMS {
                self.set_margins(0.0, 0);
                self.refactorise();
                self.update_duals();
                return self.n_steps < max_steps;
            }
            let Some(edge) = edge else {
                // Once more in earnest: with the true margins, and an inverse made anew.
                n_claims += 1;
                if self.is_perturbed {
                    self.set_margins(0.0, 0);
                } else {
                    self.refactorise();
                }
                continue;
            };
            if self.n_stalled >= PATIENCE {
                self.set_margins(PERTURBATION * ABATEMENT.powi(n_perturbations), n_perturbations as usize);
                n_perturbations += 1;
                continue;
            }
            self.n_steps += 1;
            if !self.step(edge) {
                // Rounding has spoilt the slope.
                self.n_stalled += 1;
                self.refactorise();
            }
        }
    }

    /// The multipliers on $T$: $a_T^\top M = h^\top$ with $h_j = \lambda_j\operatorname{sgn}w_j - \sum_{i\notin T}a_ic_{ij}$. With a new inverse they are refined
    /// once: what the prices of basic columns still lack is owed anew.
    fn update_duals(&mut self) {
        self.tight.iter().for_each(|&i| self.duals[i] = 0.0);
        self.add_to_tight_duals(&self.owed.clone());
        if self.n_updates == 0 {
            let lacking: Vec<f64> = self
                .basic
                .iter()
                .zip(&self.sides)
                .map(|(&j, side)| self.columns[j].cost * side - dot(&self.columns[j].values, &self.duals))
                .collect();
            self.add_to_tight_duals(&lacking);
        }
    }

    /// $a_T \mathrel{+}= M^{-\top}h$.
    fn add_to_tight_duals(&mut self, owed: &[f64]) {
        let terms: Vec<(f64, &[f64])> = owed.iter().copied().zip(self.inverse.iter().map(Vec::as_slice)).collect();
        let mut of_tight = vec![0.0; self.tight.len()];
        add_multiples(&mut of_tight, &terms);
        self.tight.iter().zip(of_tight).for_each(|(&i, dual)| self.duals[i] += dual);
    }

    /// The edge with the steepest slope of $F$ for its length in $w$. Tight examples are all looked at; of the columns only those in view, until
    /// they are exhausted or of age. `None` at the optimum.
    fn steepest_edge(&mut self) -> Option<Edge> {
        let total: f64 = self.duals.iter().map(|dual| dual.abs()).sum();
        let slope_of = |&i: &usize| {
            let (dual, penalty) = (self.duals[i], self.penalties[i]);
            let slope = dual.min(penalty - dual);
            if slope < -(OPTIMALITY * penalty.min(total) + ROUNDING * total) { slope } else { 0.0 }
        };
        let slopes: Vec<f64> = self.tight.iter().map(slope_of).collect();
        let mut steepest = (0.0, None);
        if slopes.iter().any(|&slope| slope < 0.0) {
            let mut lengths2 = vec![0.0; self.tight.len()];
            for row in &self.inverse {
                lengths2.iter_mut().zip(row).for_each(|(length2, value)| *length2 += value * value);
            }
            for (t, (&slope, length2)) in slopes.iter().zip(lengths2).enumerate() {
                if slope * slope / length2 > steepest.0 {
                    let sense = if self.duals[self.tight[t]] < 0.0 { -1.0 } else { 1.0 };
                    steepest = (slope * slope / length2, Some(Edge { released: Released::Tight(t), sense, slope }));
                }
            }
        }

        let mut offenders = self.offenders(self.in_view.iter().copied(), total);
        let exhausted = offenders.is_empty() && steepest.1.is_none();
        if exhausted || self.n_steps >= self.priced_at + STEPS_IN_VIEW {
            offenders = self.offenders(0..self.columns.len(), total);
            offenders.truncate(IN_VIEW);
            self.priced_at = self.n_steps;
        }
        self.in_view = offenders.iter().map(|&(_, _, j)| j).collect();
        for &(_, price, j) in offenders.iter().take(MEASURED) {
            let column = &self.columns[j];
            let entries: Vec<f64> = self.tight.iter().map(|&i| column.values[i]).collect();
            let length2 = 1.0 + self.inverse.iter().map(|row| dot(row, &entries).powi(2)).sum::<f64>();
            let slope = column.cost - price.abs();
            if slope * slope / length2 > steepest.0 {
                let edge = Edge { released: Released::Column(j), sense: price.signum(), slope };
                steepest = (slope * slope / length2, Some(edge));
            }
        }
        steepest.1
    }

    /// Of the columns named, those that offend, with their score and price, the worst first.
    fn offenders(&self, columns: impl Iterator<Item = usize>, total: f64) -> Vec<(f64, f64, usize)> {
        let mut found: Vec<(f64, f64, usize)> = Vec::new();
        for j in columns.filter(|&j| !self.is_basic[j]) {
            let column = &self.columns[j];
            let price = dot(&column.values, &self.duals);
            let excess = price.abs() - column.cost;
            if excess > OPTIMALITY * column.cost + ROUNDING * total {
                found.push((excess / column.norm, price, j));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.cmp(&b.2)));
        found
    }

    /// Moves along the edge to the least value of $F$ and changes the basis. False if no kink ends the descent.
    fn step(&mut self, edge: Edge) -> bool {
        let (velocities, speeds) = self.direction(edge);
        let mut kinks = self.kinks_ahead(&velocities, &speeds);
        kinks.sort_by(|a, b| a.step.total_cmp(&b.step));
        let Some(least) = descent_end(&kinks, edge.slope) else { return false };
        // Kinks as good as equal may be passed in any order: the fastest, hence the best pivot, last.
        let step = kinks[least].step;
        let apart = |kink: &Kink| (kink.step - step).abs() * kink.speed > self.tie;
        let from = kinks[..least].iter().rposition(apart).map_or(0, |k| k + 1);
        let to = kinks[least..].iter().position(apart).map_or(kinks.len(), |k| least + k);
        kinks[from..to].sort_by(|a, b| a.speed.total_cmp(&b.speed));
        let Some(least) = descent_end(&kinks, edge.slope) else { return false };
        let enough = PIVOT * largest(&speeds).max(largest(&velocities));
        let is_pivot = |kink: &Kink| kink.speed > enough;
        let before = kinks[..=least].iter().rposition(is_pivot);
        let Some(last) = before.or_else(|| kinks.iter().position(is_pivot)) else { return false };

        let step = kinks[last].step;
        add_multiple(&mut self.weights, step, &velocities);
        add_multiple(&mut self.residuals, step, &speeds);
        for kink in &kinks[..last] {
            match kink.stop {
                Stop::Example(i) => {
                    self.is_violated[i] = !self.is_violated[i];
                    self.change_dual(i, if self.is_violated[i] { self.penalties[i] } else { -self.penalties[i] });
                }
                Stop::Weight(s) => {
                    self.sides[s] = -self.sides[s];
                    self.owed[s] += 2.0 * self.sides[s] * self.columns[self.basic[s]].cost;
                }
            }
        }
        self.n_stalled = if step > self.tie { 0 } else { self.n_stalled + 1 };
        self.n_updates += 1;
        self.pivot(edge, kinks[last].stop, step, &velocities);
        true
    }

    /// How fast the basic weights and all residuals move along an edge: $M\dot w_S = -\dot r_T - \dot w_jc_{Tj}$ for a released column $j$.
    fn direction(&self, edge: Edge) -> (Vec<f64>, Vec<f64>) {
        let sense = edge.sense;
        let mut speeds = vec![0.0; self.residuals.len()];
        let velocities: Vec<f64> = match edge.released {
            Released::Column(j) => {
                let values = &self.columns[j].values;
                add_multiple(&mut speeds, -sense, values);
                let entries: Vec<f64> = self.tight.iter().map(|&i| values[i]).collect();
                self.inverse.iter().map(|row| -sense * dot(row, &entries)).collect()
            }
            Released::Tight(t) => self.inverse.iter().map(|row| -sense * row[t]).collect(),
        };
        let terms: Vec<(f64, &[f64])> =
            self.basic.iter().zip(&velocities).map(|(&j, v)| (-v, self.columns[j].values.as_slice())).collect();
        add_multiples(&mut speeds, &terms);
        self.tight.iter().for_each(|&i| speeds[i] = 0.0);
        if let Released::Tight(t) = edge.released {
            speeds[self.tight[t]] = sense;
        }
        (velocities, speeds)
    }

    /// Where residuals and weights that move towards 0 arrive there.
    fn kinks_ahead(&self, velocities: &[f64], speeds: &[f64]) -> Vec<Kink> {
        let still = STILL * largest(speeds).max(largest(velocities));
        let mut kinks = Vec::new();
        for (i, &speed) in speeds.iter().enumerate() {
            let side = if self.is_violated[i] { 1.0 } else { -1.0 };
            if side * speed < -still && !self.is_tight[i] {
                let (distance, speed) = ((side * self.residuals[i]).max(0.0), speed.abs());
                let rise = self.penalties[i] * speed;
                kinks.push(Kink { step: distance / speed, speed, rise, stop: Stop::Example(i) });
            }
        }
        for (s, (&velocity, &side)) in velocities.iter().zip(&self.sides).enumerate() {
            let cost = self.columns[self.basic[s]].cost;
            if side * velocity < -still && cost > 0.0 {
                let (distance, speed) = ((side * self.weights[s]).max(0.0), velocity.abs());
                kinks.push(Kink { step: distance / speed, speed, rise: 2.0 * cost * speed, stop: Stop::Weight(s) });
            }
        }
        kinks
    }

    /// Exchanges what was released for what has come to 0, and updates the inverse.
    fn pivot(&mut self, edge: Edge, stop: Stop, step: f64, velocities: &[f64]) {
        let sense = edge.sense;
        match (edge.released, stop) {
            (Released::Column(j), Stop::Example(i)) => {
                // M grows to [M v; r x]; with M^-1 v = -sense * velocities and u = r M^-1 the Schur complement is x - r M^-1 v.
                let u = self.row_times_inverse(i);
                let along: f64 = self.basic.iter().zip(velocities).map(|(&j, v)| self.columns[j].values[i] * v).sum();
                let complement = self.columns[j].values[i] + sense * along;
                for (row, velocity) in self.inverse.iter_mut().zip(velocities) {
                    let factor = sense * velocity / complement;
                    add_multiple(row, -factor, &u);
                    row.push(factor);
                }
                self.inverse.push(u.iter().map(|u| -u / complement).chain([1.0 / complement]).collect());
                self.tight.push(i);
                self.tighten(i);
                self.basic.push(j);
                self.weights.push(sense * step);
                self.sides.push(sense);
                self.owed.push(0.0);
                self.is_basic[j] = true;
                self.owe(self.basic.len() - 1);
            }
            (Released::Column(j), Stop::Weight(s)) => {
                let factor = -sense / velocities[s];
                let row: Vec<f64> = self.inverse[s].iter().map(|value| factor * value).collect();
                for (other, velocity) in self.inverse.iter_mut().zip(velocities) {
                    add_multiple(other, sense * velocity, &row);
                }
                self.inverse[s] = row;
                self.is_basic[self.basic[s]] = false;
                self.is_basic[j] = true;
                self.basic[s] = j;
                self.weights[s] = sense * step;
                self.sides[s] = sense;
                self.owe(s);
            }
            (Released::Tight(t), Stop::Example(i)) => {
                let mut u = self.row_times_inverse(i);
                let pivot = u[t];
                u[t] = 0.0;
                for row in &mut self.inverse {
                    let factor = row[t] / pivot;
                    add_multiple(row, -factor, &u);
                    row[t] = factor;
                }
                self.loosen(self.tight[t], sense);
                self.tight[t] = i;
                self.tighten(i);
            }
            (Released::Tight(t), Stop::Weight(s)) => {
                let mut row = self.inverse.swap_remove(s);
                let pivot = row.swap_remove(t);
                for other in &mut self.inverse {
                    let factor = other.swap_remove(t) / pivot;
                    add_multiple(other, -factor, &row);
                }
                self.is_basic[self.basic.swap_remove(s)] = false;
                self.weights.swap_remove(s);
                self.sides.swap_remove(s);
                self.owed.swap_remove(s);
                let i = self.tight.swap_remove(t);
                self.loosen(i, sense);
            }
        }
    }

    /// An example becomes tight: its multiplier is no longer known by its side.
    fn tighten(&mut self, i: usize) {
        self.is_tight[i] = true;
        self.residuals[i] = 0.0;
        if self.is_violated[i] {
            self.change_dual(i, -self.penalties[i]);
        }
    }

    /// A tight example goes to a side.
    fn loosen(&mut self, i: usize, sense: f64) {
        self.is_tight[i] = false;
        self.is_violated[i] = sense > 0.0;
        self.duals[i] = 0.0;
        if self.is_violated[i] {
            self.change_dual(i, self.penalties[i]);
        }
    }

    /// Changes the multiplier of an example, and what the basic columns owe to it.
    fn change_dual(&mut self, i: usize, change: f64) {
        self.duals[i] += change;
        for (owed, &j) in self.owed.iter_mut().zip(&self.basic) {
            *owed -= change * self.columns[j].values[i];
        }
    }

    /// What the column at this position of $S$ owes, multipliers on $T$ aside.
    fn owe(&mut self, s: usize) {
        let column = &self.columns[self.basic[s]];
        let of_tight: f64 = self.tight.iter().map(|&i| column.values[i] * self.duals[i]).sum();
        self.owed[s] = column.cost * self.sides[s] - (dot(&column.values, &self.duals) - of_tight);
    }

    /// $(c_{ij})_{j\in S}M^{-1}$.
    fn row_times_inverse(&self, i: usize) -> Vec<f64> {
        let mut product = vec![0.0; self.tight.len()];
        let terms: Vec<(f64, &[f64])> =
            self.basic.iter().zip(&self.inverse).map(|(&j, row)| (self.columns[j].values[i], row.as_slice())).collect();
        add_multiples(&mut product, &terms);
        product
    }

    /// Margins $1 + \varepsilon\nu_i$ with fixed irregular $\nu_i$ in $[\tfrac12, 1)$, other ones in each round, which tells ties apart; or 1, if $\varepsilon$ is 0.
    fn set_margins(&mut self, perturbation: f64, round: usize) {
        let m = self.margins.len();
        for (i, margin) in self.margins.iter_mut().enumerate() {
            *margin = 1.0 + perturbation * irregular(round * m + i);
        }
        self.is_perturbed = perturbation > 0.0;
        self.n_stalled = 0;
        self.place();
    }

    /// Weights and residuals anew from the inverse, refined once; each counts to the side of 0 it is on, if that can be told. Then the multipliers
    /// off $T$.
    fn place(&mut self) {
        self.weights.fill(0.0);
        self.residuals.copy_from_slice(&self.margins);
        for _ in 0..2 {
            let lacking: Vec<f64> = self.tight.iter().map(|&i| self.residuals[i]).collect();
            let changes: Vec<f64> = self.inverse.iter().map(|row| dot(row, &lacking)).collect();
            self.weights.iter_mut().zip(changes).for_each(|(weight, change)| *weight += change);
            self.residuals.copy_from_slice(&self.margins);
            for (&j, &weight) in self.basic.iter().zip(&self.weights) {
                add_multiple(&mut self.residuals, -weight, &self.columns[j].values);
            }
        }
        let off = self.tight.iter().fold(0.0_f64, |off, &i| off.max(self.residuals[i].abs()));
        let size: f64 = self.weights.iter().map(|weight| weight.abs()).sum();
        self.tie = TIE.max(NOISE * off.max(f64::EPSILON * size));
        self.tight.iter().for_each(|&i| self.residuals[i] = 0.0);
        for (weight, side) in self.weights.iter().zip(&mut self.sides) {
            if weight.abs() > self.tie {
                *side = weight.signum();
            }
        }
        for (residual, is_violated) in self.residuals.iter().zip(&mut self.is_violated) {
            if residual.abs() > self.tie {
                *is_violated = *residual > 0.0;
            }
        }
        for (i, dual) in self.duals.iter_mut().enumerate() {
            *dual = if self.is_violated[i] && !self.is_tight[i] { self.penalties[i] } else { 0.0 };
        }
        (0..self.basic.len()).for_each(|s| self.owe(s));
    }

    /// The inverse from scratch, by Gauss-Jordan elimination with the largest pivot of each column. A column that depends on those before it ceases to
    /// be basic, an example left without a column ceases to be tight: so $M$ is regular and square, whatever the sets were.
    fn refactorise(&mut self) {
        let (n_columns, n_examples) = (self.basic.len(), self.tight.len());
        // The rows of [M | 1] turn into those of the inverse, in another order.
        let mut left: Vec<Vec<f64>> =
            self.tight.iter().map(|&i| self.basic.iter().map(|&j| self.columns[j].values[i]).collect()).collect();
        let mut right = vec![vec![0.0; n_examples]; n_examples];
        (0..n_examples).for_each(|t| right[t][t] = 1.0);
        let mut free: Vec<usize> = (0..n_examples).collect();
        let mut pivots: Vec<(usize, usize)> = Vec::new();
        for s in 0..n_columns {
            let mut best = (SINGULAR, None);
            for (k, &t) in free.iter().enumerate() {
                if left[t][s].abs() > best.0 {
                    best = (left[t][s].abs(), Some(k));
                }
            }
            let Some(k) = best.1 else { continue };
            let t = free.remove(k);
            pivots.push((s, t));
            let factor = 1.0 / left[t][s];
            let (mut pivot_left, mut pivot_right) = (std::mem::take(&mut left[t]), std::mem::take(&mut right[t]));
            pivot_left[s..].iter_mut().chain(&mut pivot_right).for_each(|value| *value *= factor);
            for other in (0..n_examples).filter(|&other| other != t) {
                let factor = left[other][s];
                if factor != 0.0 {
                    add_multiple(&mut left[other][s..], -factor, &pivot_left[s..]);
                    add_multiple(&mut right[other], -factor, &pivot_right);
                }
            }
            (left[t], right[t]) = (pivot_left, pivot_right);
        }
        self.inverse =
            pivots.iter().map(|&(_, t)| pivots.iter().map(|&(_, other)| right[t][other]).collect()).collect();
        self.sides = pivots.iter().map(|&(s, _)| self.sides[s]).collect();
        self.basic = pivots.iter().map(|&(s, _)| self.basic[s]).collect();
        self.tight = pivots.iter().map(|&(_, t)| self.tight[t]).collect();
        self.weights = vec![0.0; pivots.len()];
        self.owed = vec![0.0; pivots.len()];
        self.is_basic.fill(false);
        self.is_tight.fill(false);
        self.basic.iter().for_each(|&j| self.is_basic[j] = true);
        self.tight.iter().for_each(|&i| self.is_tight[i] = true);
        self.n_updates = 0;
        self.place();
    }
}

/// The kink where the slope ceases to be negative. $F$ is bounded below: if rounding hides that, it is the last one.
fn descent_end(kinks: &[Kink], mut slope: f64) -> Option<usize> {
    let end = kinks.iter().position(|kink| {
        slope += kink.rise;
        slope >= 0.0
    });
    end.or(kinks.len().checked_sub(1))
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| largest.max(value.abs()))
}

/// Sums in eight lanes, which the compiler can keep in vector registers.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f64>() + rest
}

/// $y \mathrel{+}= a x$.
fn add_multiple(y: &mut [f64], a: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
}

/// $y \mathrel{+}= \sum_k a_kx_k$, four terms at a time.
fn add_multiples(y: &mut [f64], terms: &[(f64, &[f64])]) {
    let fours = terms.chunks_exact(4);
    for &(a, x) in fours.remainder() {
        add_multiple(y, a, x);
    }
    for four in fours {
        let [(a0, x0), (a1, x1), (a2, x2), (a3, x3)] = [four[0], four[1], four[2], four[3]];
        for ((((y, x0), x1), x2), x3) in y.iter_mut().zip(x0).zip(x1).zip(x2).zip(x3) {
            *y += (a0 * x0 + a1 * x1) + (a2 * x2 + a3 * x3);
        }
    }
}

/// A number in $[\tfrac12, 1)$ that looks drawn at random, the same at all times (the finaliser of SplitMix64).
fn irregular(idx: usize) -> f64 {
    let mut bits = (idx as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    0.5 + ((bits ^ (bits >> 31)) >> 12) as f64 / (1_u64 << 53) as f64
}
