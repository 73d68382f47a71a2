//! Column generation: the master problem holds a few features, and all others are priced against its multipliers. It has no more to learn when
//! no price $|\sum_ia_iy_iz_{ik}|$ passes $\lambda$.

use super::master::{Column, Master};
use super::{OneNormStart, OneNormSvm};

/// How far a price may pass $\lambda$, against $\lambda$.
const OPTIMALITY: f64 = 1e-11;
/// How far it may, against the sum of what it is made of.
const ROUNDING: f64 = 1e-14;
/// Features that enter together.
const ENTERING: usize = 50;

/// What column generation ends with.
pub(super) struct Generated {
    /// Features with a weight other than 0, and the weight.
    pub(super) weights: Vec<(usize, f64)>,
    pub(super) bias: f64,
    /// The multipliers $a$, one for each example, up to rounding.
    pub(super) duals: Vec<f64>,
    pub(super) n_steps: usize,
    /// Whether the method has ended by itself, and not by its budget.
    pub(super) is_complete: bool,
}

/// What the weight of a column of the master stands for.
#[derive(Clone, Copy)]
enum Meaning {
    Bias,
    /// The weight of a feature, times its scale.
    Feature(usize, f64),
}

/// Solves the problem in which values of a feature that are less than the part `negligible` of its largest count as 0. Prices are those of the true features.
pub(super) fn generate(problem: &OneNormSvm<'_>, start: &OneNormStart, max_steps: usize, negligible: f64) -> Generated {
    // Examples without penalty have multiplier 0 and no say.
    let examples: Vec<usize> = (0..problem.signs.len()).filter(|&i| problem.penalties[i] > 0.0).collect();
    let mut master = Master::new(examples.iter().map(|&i| problem.penalties[i]).collect());
    let mut meanings = Vec::new();
    if problem.has_bias {
        master.push(Column::new(examples.iter().map(|&i| problem.signs[i]).collect(), 0.0));
        meanings.push(Meaning::Bias);
    }
    let mut is_held = vec![false; problem.n_features()];
    let mut entering = start.features.clone();
    let mut is_first = true;
    let mut duals = vec![0.0; problem.signs.len()];
    let is_complete = loop {
        for feature in entering {
            if !is_held[feature]
                && let Some((column, scale)) = column_of(problem, &examples, feature, negligible)
            {
                master.push(column);
                meanings.push(Meaning::Feature(feature, scale));
            }
            is_held[feature] = true;
        }
        if is_first {
            let tight: Vec<usize> = start.examples.iter().filter_map(|i| examples.binary_search(i).ok()).collect();
            master.start_at(&tight);
            is_first = false;
        }
        let within_budget = master.solve(max_steps);
        examples.iter().zip(master.duals()).for_each(|(&i, &dual)| duals[i] = dual);
        entering = if within_budget { offenders(problem, &duals, &is_held) } else { Vec::new() };
        if entering.is_empty() {
            break within_budget;
        }
    };
    let mut generated = Generated { weights: Vec::new(), bias: 0.0, duals, n_steps: master.n_steps(), is_complete };
    for (column, weight) in master.support() {
        match meanings[column] {
            Meaning::Bias => generated.bias = weight,
            Meaning::Feature(feature, scale) => generated.weights.push((feature, weight / scale)),
        }
    }
    generated
}

/// A feature as a column whose largest entry has size 1, and its scale; none if it is 0 throughout.
fn column_of(problem: &OneNormSvm<'_>, examples: &[usize], feature: usize, negligible: f64) -> Option<(Column, f64)> {
    let values: Vec<f64> = examples.iter().map(|&i| problem.signs[i] * problem.features[(feature, i)]).collect();
    let scale = values.iter().fold(0.0_f64, |scale, value| scale.max(value.abs()));
    let cost = problem.lambda / scale;
    let entry = |value: &f64| if value.abs() < negligible * scale { 0.0 } else { value / scale };
    cost.is_finite().then(|| (Column::new(values.iter().map(entry).collect(), cost), scale))
}

/// The features not held whose price passes $\lambda$ most for their scale, the worst first.
fn offenders(problem: &OneNormSvm<'_>, duals: &[f64], is_held: &[bool]) -> Vec<usize> {
    let prices = problem.prices(duals);
    let total: f64 = duals.iter().map(|dual| dual.abs()).sum();
    let mut found: Vec<(f64, usize)> = Vec::new();
    for (k, (price, &scale)) in prices.iter().zip(&problem.scales).enumerate() {
        let excess = price.abs() - problem.lambda;
        if !is_held[k] && excess > OPTIMALITY * problem.lambda + ROUNDING * total * scale {
            found.push((excess / scale, k));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // Equal features have equal prices: the first of them will do.
    found.dedup_by_key(|&mut (score, k)| (score.to_bits(), prices[k].to_bits()));
    found.into_iter().take(ENTERING).map(|(_, k)| k).collect()
}
