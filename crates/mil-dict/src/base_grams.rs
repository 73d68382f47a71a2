//! The values of all base kernels over pairs of training instances.
//!
//! Fifty kernels are not fifty matrices: polynomials of any degree and offset are functions of one matrix of inner products, and a Gaussian whose $\gamma$ is a multiple $m$ of another's is the $m$-th power of its values,
//! $\exp(-m\gamma\delta)=\exp(-\gamma\delta)^m$. Of the paper's 28 Gaussians 14 are powers of the other 14, so that 16 matrices are kept for 50 kernels, of symmetric ones a triangle: some 8 matrices' worth of memory. Values are made of
//! these when they are asked for, a few multiplications each.

use std::ops::Range;

use mil_kernels::{Kernel, KernelError, diagonal, gram};
use nalgebra::{DMatrix, DVector};
use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use crate::DictError;

/// A power beyond this loses digits, and is kept by itself.
const MAX_POWER: u32 = 32;
/// Ratios of widths count as whole numbers up to this relative error; beyond, it would be felt in $\exp(-\gamma\delta)$ where that is above 1e-16.
const WHOLE: f64 = 1e-14;
/// Lengths that differ by less than this part are the same but for rounding.
const SAME_LENGTH: f64 = 1e-13;
/// Pairs in a stretch, whose values and weights first-level caches hold.
const STRETCH: usize = 1024;
/// Stretches that one thread sums up alone.
const FEW_STRETCHES: usize = 32;
/// Sums that run side by side, to be added up at the end: the same on every machine.
const LANES: usize = 16;

/// The values of all base kernels between instances of negative bags and of positive bags.
#[derive(Debug, Clone)]
pub(crate) struct BaseGrams {
    recipes: Vec<Recipe>,
    /// $k_b(x,x)$, a row for each kernel and a column for each instance, those of negative bags first.
    diagonal: DMatrix<f64>,
    /// Between instances of negative bags.
    pub(crate) negatives: Block,
    /// Between instances of negative bags (rows) and of positive bags (columns).
    pub(crate) across: Block,
    /// Between instances of positive bags.
    pub(crate) positives: Block,
}

/// Pairs of instances, and what is kept of them.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    shape: Shape,
    /// The instances that rows and columns stand for, those of negative bags first.
    rows: Vec<usize>,
    columns: Vec<usize>,
    /// The values of each source kernel, column after column.
    kept: Vec<Vec<f64>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// All pairs of rows and columns.
    Full,
    /// Rows are columns, and each column is kept from the diagonal down.
    Triangle,
}

/// How the values of a kernel are made of those of a source.
#[derive(Debug, Clone)]
struct Recipe {
    source: usize,
    function: Function,
    lengths: Lengths,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Function {
    Same,
    Power(u32),
    /// Of degree 1 to 3; others are sources of their own.
    Polynomial {
        degree: u32,
        scale: f64,
        offset: f64,
    },
}

/// By what a normalised kernel is multiplied, $1/\sqrt{k(x,x)\,k(z,z)}$.
#[derive(Debug, Clone)]
enum Lengths {
    /// By this, for every pair.
    Same(f64),
    /// By the product of the numbers of both instances.
    Each(Vec<f64>),
}

impl BaseGrams {
    /// Computes what is kept. Instances are columns, those of negative bags first.
    pub(crate) fn new(
        kernels: &[Kernel],
        instances: &DMatrix<f64>,
        n_negative: usize,
        memory_mib: usize,
    ) -> Result<BaseGrams, DictError> {
        let (sources, mut recipes) = recipes_of(kernels);
        let n = instances.ncols();
        let needed_mib = (sources.len() * (n * (n + 1) / 2) * size_of::<f64>()).div_ceil(1 << 20);
        if needed_mib > memory_mib {
            return Err(DictError::Memory { needed_mib, memory_mib });
        }
        let mut of_sources = Vec::with_capacity(sources.len());
        let (mut negatives, mut across, mut positives) = (Vec::new(), Vec::new(), Vec::new());
        for source in &sources {
            let whole = gram(source, instances)?.to_matrix();
            negatives.push(triangle_of(&whole.view((0, 0), (n_negative, n_negative)).into_owned()));
            across.push(whole.view((0, n_negative), (n_negative, n - n_negative)).into_owned().as_slice().to_vec());
            positives.push(triangle_of(&whole.view_range(n_negative.., n_negative..).into_owned()));
            of_sources.push(diagonal(source, instances)?);
        }
        let mut own_values = DMatrix::zeros(kernels.len(), n);
        let mut values = vec![0.0; n];
        for (idx, (recipe, kernel)) in recipes.iter_mut().zip(kernels).enumerate() {
            recipe.function.map(&of_sources[recipe.source], &mut values);
            // By Cauchy and Schwarz no value between two instances is beyond those of each with itself.
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                let quantity = "kernel value";
                return Err(KernelError::Overflow { quantity, left_idx: at, right_idx: at, value: values[at] }.into());
            }
            if matches!(kernel, Kernel::Normalised(_)) {
                for (idx, &value) in values.iter().enumerate() {
                    if value <= 0.0 {
                        // Either the instance is 0, and so are its values, or this says why not.
                        gram(kernel, instances.columns(idx, 1))?;
                    } else if !(1.0 / value).is_finite() {
                        let quantity = "inverse kernel value";
                        let value = f64::INFINITY;
                        return Err(KernelError::Overflow { quantity, left_idx: idx, right_idx: idx, value }.into());
                    }
                }
                recipe.lengths = Lengths::of(&values);
                values.iter_mut().for_each(|value| *value = f64::from(*value > 0.0));
            }
            own_values.row_mut(idx).iter_mut().zip(&values).for_each(|(place, value)| *place = *value);
        }
        let [left, right] = [0..n_negative, n_negative..n].map(|range| range.collect::<Vec<usize>>());
        let block = |shape, rows: &[usize], columns: &[usize], kept| Block {
            shape,
            rows: rows.to_vec(),
            columns: columns.to_vec(),
            kept,
        };
        Ok(BaseGrams {
            recipes,
            diagonal: own_values,
            negatives: block(Shape::Triangle, &left, &left, negatives),
            across: block(Shape::Full, &left, &right, across),
            positives: block(Shape::Triangle, &right, &right, positives),
        })
    }

    pub(crate) fn n_kernels(&self) -> usize {
        self.recipes.len()
    }

    /// $\sum_b\beta_bk_b(x,x)$ of each instance, those of negative bags first.
    pub(crate) fn mixed_diagonal(&self, weights: &[f64]) -> Vec<f64> {
        self.diagonal.tr_mul(&DVector::from_column_slice(weights)).as_slice().to_vec()
    }

    /// $\sum_b\beta_bK_b$ over a block.
    pub(crate) fn mixed(&self, block: &Block, weights: &[f64]) -> DMatrix<f64> {
        let n_pairs = block.kept[0].len();
        let mut mixed = vec![0.0; n_pairs];
        mixed.par_chunks_mut(STRETCH).with_min_len(FEW_STRETCHES).enumerate().for_each(|(stretch, mixed)| {
            let range = stretch * STRETCH..stretch * STRETCH + mixed.len();
            let mut values = vec![0.0; mixed.len()];
            for (recipe, &weight) in self.recipes.iter().zip(weights).filter(|(_, weight)| **weight > 0.0) {
                recipe.fill(block, range.clone(), &mut values);
                mixed.iter_mut().zip(&values).for_each(|(sum, value)| *sum += weight * value);
            }
        });
        block.unfolded(mixed)
    }

    /// Adds $\langle K_b,W\rangle$ over a block to the number of each kernel; $W$ is symmetric where the block is.
    pub(crate) fn add_forms(&self, block: &Block, weights: &DMatrix<f64>, sums: &mut [f64]) {
        let folded = block.folded(weights);
        let parts: Vec<Vec<f64>> = folded
            .par_chunks(STRETCH)
            .with_min_len(FEW_STRETCHES)
            .enumerate()
            .map(|(stretch, weights)| {
                let range = stretch * STRETCH..stretch * STRETCH + weights.len();
                Arch::new().dispatch(Forms { recipes: &self.recipes, block, range, weights })
            })
            .collect();
        for part in parts {
            sums.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
        }
    }
}

/// The sums over one stretch, one for each kernel; compiled for the instruction set found at run time.
struct Forms<'a> {
    recipes: &'a [Recipe],
    block: &'a Block,
    range: Range<usize>,
    weights: &'a [f64],
}

impl NullaryFnOnce for Forms<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn call(self) -> Vec<f64> {
        let Forms { recipes, block, range, weights } = self;
        let mut forms = vec![0.0; recipes.len()];
        let mut values = [0.0; STRETCH];
        let values = &mut values[..weights.len()];
        let mut known: Option<(usize, Moments)> = None;
        for (form, recipe) in forms.iter_mut().zip(recipes) {
            let kept = &block.kept[recipe.source][range.clone()];
            *form = match (&recipe.lengths, recipe.function) {
                (Lengths::Same(factor), Function::Same) => factor * dot(kept, weights),
                // All low polynomials of one matrix share a few sums.
                (Lengths::Same(factor), Function::Polynomial { .. }) => {
                    let moments = match known {
                        Some((source, moments)) if source == recipe.source => moments,
                        _ => moments(kept, weights),
                    };
                    known = Some((recipe.source, moments));
                    factor * recipe.function.sum_by_moments(&moments)
                }
                (Lengths::Same(factor), function) => {
                    function.map(kept, values);
                    factor * dot(values, weights)
                }
                (Lengths::Each(inverse), function) => {
                    function.map(kept, values);
                    scale_by_each(block, inverse, range.clone(), values);
                    dot(values, weights)
                }
            };
        }
        forms
    }
}

impl Block {
    /// Of a triangle, the triangle of some of its instances, by their positions.
    pub(crate) fn among(&self, chosen: &[usize]) -> Block {
        assert_eq!(self.shape, Shape::Triangle, "rows are columns");
        let n = self.rows.len();
        let place = |i: usize, j: usize| place_of(n, i.max(j), i.min(j));
        let pairs = |from: usize| chosen[from..].iter().map(move |&row| (row, from));
        let places: Vec<usize> =
            (0..chosen.len()).flat_map(pairs).map(|(row, column)| place(row, chosen[column])).collect();
        let instances: Vec<usize> = chosen.iter().map(|&idx| self.rows[idx]).collect();
        Block {
            shape: Shape::Triangle,
            rows: instances.clone(),
            columns: instances,
            kept: self.kept.iter().map(|kept| places.iter().map(|&place| kept[place]).collect()).collect(),
        }
    }

    /// Of a block of all pairs, some of its columns.
    pub(crate) fn select_columns(&self, chosen: &[usize]) -> Block {
        assert_eq!(self.shape, Shape::Full, "columns are whole");
        let n = self.rows.len();
        let columns = |kept: &Vec<f64>| chosen.iter().flat_map(|&idx| &kept[idx * n..][..n]).copied().collect();
        Block {
            shape: Shape::Full,
            rows: self.rows.clone(),
            columns: chosen.iter().map(|&idx| self.columns[idx]).collect(),
            kept: self.kept.iter().map(columns).collect(),
        }
    }

    /// Values of pairs as a matrix.
    fn unfolded(&self, values: Vec<f64>) -> DMatrix<f64> {
        let n = self.rows.len();
        if self.shape == Shape::Full {
            return DMatrix::from_vec(n, self.columns.len(), values);
        }
        let mut matrix = DMatrix::zeros(n, n);
        let mut rest = values.as_slice();
        for column in 0..n {
            let (own, others) = rest.split_at(n - column);
            matrix.column_mut(column).as_mut_slice()[column..].copy_from_slice(own);
            matrix.row_mut(column).iter_mut().skip(column).zip(own).for_each(|(place, value)| *place = *value);
            rest = others;
        }
        matrix
    }

    /// A matrix in the order of pairs, such that $\langle K,W\rangle$ is the sum of products: entries off the diagonal of a triangle count twice.
    fn folded(&self, weights: &DMatrix<f64>) -> Vec<f64> {
        if self.shape == Shape::Full {
            return weights.as_slice().to_vec();
        }
        let mut folded = Vec::with_capacity(self.kept[0].len());
        for (column, weights) in weights.column_iter().enumerate() {
            folded.push(weights[column]);
            folded.extend(weights.as_slice()[column + 1..].iter().map(|weight| 2.0 * weight));
        }
        folded
    }

    /// The column that a pair is in.
    fn column_at(&self, place: usize) -> usize {
        let (mut column, mut end) = (0, self.columns.len());
        while end - column > 1 {
            let middle = (column + end) / 2;
            if self.start_of(middle) <= place {
                column = middle;
            } else {
                end = middle;
            }
        }
        column
    }

    /// Where the pairs of a column begin.
    fn start_of(&self, column: usize) -> usize {
        match self.shape {
            Shape::Full => column * self.rows.len(),
            Shape::Triangle => place_of(self.rows.len(), column, column),
        }
    }
}

impl Recipe {
    /// The values of a stretch of pairs.
    fn fill(&self, block: &Block, range: Range<usize>, values: &mut [f64]) {
        self.function.map(&block.kept[self.source][range.clone()], values);
        match &self.lengths {
            Lengths::Same(factor) if *factor == 1.0 => {}
            Lengths::Same(factor) => values.iter_mut().for_each(|value| *value *= factor),
            Lengths::Each(inverse) => scale_by_each(block, inverse, range, values),
        }
    }
}

fn scale_by_each(block: &Block, inverse: &[f64], range: Range<usize>, values: &mut [f64]) {
    let mut column = block.column_at(range.start);
    let (mut place, mut rest) = (range.start, values);
    while !rest.is_empty() {
        let (start, end) = (block.start_of(column), block.start_of(column + 1));
        let (own, others) = rest.split_at_mut((end - place).min(rest.len()));
        let first_row = place - start + if block.shape == Shape::Triangle { column } else { 0 };
        let of_column = inverse[block.columns[column]];
        for (value, &row) in own.iter_mut().zip(&block.rows[first_row..]) {
            *value *= of_column * inverse[row];
        }
        place += own.len();
        column += 1;
        rest = others;
    }
}

impl Lengths {
    /// From $k(x,x)$ of all instances. One of length 0 has the value 0 with all others.
    fn of(squared: &[f64]) -> Lengths {
        let inverse = |value: &f64| if *value > 0.0 { 1.0 / value.sqrt() } else { 0.0 };
        let first = squared[0];
        if squared.iter().all(|value| (value - first).abs() <= SAME_LENGTH * first) {
            Lengths::Same(inverse(&first) * inverse(&first))
        } else {
            Lengths::Each(squared.iter().map(inverse).collect())
        }
    }
}

impl Function {
    /// $\sum w(sx+c)^p$ of a polynomial, by the binomial theorem.
    fn sum_by_moments(self, moments: &Moments) -> f64 {
        let Function::Polynomial { degree, scale, offset } = self else { unreachable!("a polynomial") };
        let binomials: [f64; 4] =
            [[1.0, 1.0, 0.0, 0.0], [1.0, 2.0, 1.0, 0.0], [1.0, 3.0, 3.0, 1.0]][degree as usize - 1];
        let terms = binomials.iter().zip(moments).enumerate().take(degree as usize + 1);
        terms
            .map(|(t, (binomial, moment))| {
                binomial * moment * scale.powi(t as i32) * offset.powi(degree as i32 - t as i32)
            })
            .sum()
    }

    #[inline(always)]
    fn map(self, kept: &[f64], values: &mut [f64]) {
        let values = &mut values[..kept.len()];
        match self {
            Function::Same => values.copy_from_slice(kept),
            Function::Power(power) => {
                values.copy_from_slice(kept);
                // From the highest bit down: square, and multiply where the next bit is set.
                let mut bit = power.ilog2();
                while bit > 0 {
                    bit -= 1;
                    for value in values.iter_mut() {
                        *value *= *value;
                    }
                    if power >> bit & 1 == 1 {
                        for idx in 0..kept.len() {
                            values[idx] *= kept[idx];
                        }
                    }
                }
            }
            Function::Polynomial { degree, scale, offset } => {
                for idx in 0..kept.len() {
                    values[idx] = scale * kept[idx] + offset;
                }
                for value in values.iter_mut() {
                    *value = match degree {
                        1 => *value,
                        2 => *value * *value,
                        _ => *value * *value * *value,
                    };
                }
            }
        }
    }
}

/// $\sum wx^t$ for $t=0$ to 3.
type Moments = [f64; 4];

#[inline(always)]
fn moments(kept: &[f64], weights: &[f64]) -> Moments {
    let mut lanes = [[0.0; LANES]; 4];
    let ((kept, kept_rest), (weights, weights_rest)) = (kept.as_chunks::<LANES>(), weights.as_chunks::<LANES>());
    for (kept, weights) in kept.iter().zip(weights) {
        for lane in 0..LANES {
            let (x, mut term) = (kept[lane], weights[lane]);
            for power in &mut lanes {
                power[lane] += term;
                term *= x;
            }
        }
    }
    for (x, weight) in kept_rest.iter().zip(weights_rest) {
        let mut term = *weight;
        for power in &mut lanes {
            power[0] += term;
            term *= x;
        }
    }
    lanes.map(|power| power.iter().sum())
}

/// The sum of products, in [`LANES`] sums side by side.
#[inline(always)]
fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let ((left, left_rest), (right, right_rest)) = (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    for (left, right) in left.iter().zip(right) {
        for lane in 0..LANES {
            lanes[lane] += left[lane] * right[lane];
        }
    }
    let rest: f64 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    lanes.iter().sum::<f64>() + rest
}

fn triangle_of(whole: &DMatrix<f64>) -> Vec<f64> {
    whole.column_iter().enumerate().flat_map(|(column, values)| values.as_slice()[column..].to_vec()).collect()
}

/// The kernels to keep, and how each base kernel is made of them.
fn recipes_of(kernels: &[Kernel]) -> (Vec<Kernel>, Vec<Recipe>) {
    let mut sources: Vec<Kernel> = Vec::new();
    // Wide Gaussians first, since narrow ones are their powers.
    let mut order: Vec<usize> = (0..kernels.len()).collect();
    order.sort_by(|&i, &j| gamma_of(&kernels[i]).total_cmp(&gamma_of(&kernels[j])));
    let mut recipes: Vec<Option<Recipe>> = vec![None; kernels.len()];
    for idx in order {
        let kernel = match &kernels[idx] {
            Kernel::Normalised(inner) => inner.as_ref(),
            kernel => kernel,
        };
        let (source, function) = match kernel {
            Kernel::Polynomial { degree: degree @ 1..=3, scale, offset } => {
                (Kernel::Linear, Function::Polynomial { degree: *degree, scale: *scale, offset: *offset })
            }
            Kernel::Gaussian { gamma } => {
                match sources.iter().filter_map(|source| power_of(source, *gamma)).min_by_key(|(_, power)| *power) {
                    Some((source, power)) => (source, Function::Power(power)),
                    None => (kernel.clone(), Function::Same),
                }
            }
            kernel => (kernel.clone(), Function::Same),
        };
        let source_idx = sources.iter().position(|known| *known == source).unwrap_or_else(|| {
            sources.push(source);
            sources.len() - 1
        });
        recipes[idx] = Some(Recipe { source: source_idx, function, lengths: Lengths::Same(1.0) });
    }
    (sources, recipes.into_iter().map(|recipe| recipe.expect("each kernel has its turn")).collect())
}

fn gamma_of(kernel: &Kernel) -> f64 {
    if let Kernel::Gaussian { gamma } = kernel { *gamma } else { 0.0 }
}

/// The source and the whole power of it that the Gaussian of this $\gamma$ is, if it is one.
fn power_of(source: &Kernel, gamma: f64) -> Option<(Kernel, u32)> {
    let ratio = gamma / gamma_of(source);
    let whole = ratio.round();
    let fits = (2.0..=f64::from(MAX_POWER)).contains(&whole) && (ratio - whole).abs() <= WHOLE * ratio;
    fits.then(|| (source.clone(), whole as u32))
}

/// Position of a pair in a triangle of order $n$, `row` at least `column`.
fn place_of(n: usize, row: usize, column: usize) -> usize {
    column * (2 * n - column + 1) / 2 + (row - column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BaseKernels, KernelScale};

    /// Instances of no particular kind, at least 0.
    fn instances(n: usize) -> DMatrix<f64> {
        DMatrix::from_fn(3, n, |row, column| ((5 * column + 3 * row * column + row) % 11) as f64 / 10.0 + 0.01)
    }

    fn all_kernels(scale: KernelScale) -> Vec<Kernel> {
        BaseKernels::Paper { first_width: 0.01 }.kernels(false).into_iter().map(|kernel| scale.of(kernel)).collect()
    }

    #[test]
    fn sixteen_triangles_are_kept_for_fifty_kernels() {
        let (sources, recipes) = recipes_of(&all_kernels(KernelScale::Cosine));
        assert_eq!((sources.len(), recipes.len()), (16, 50));
    }

    /// All weight on one kernel.
    fn alone(kernel: usize) -> Vec<f64> {
        (0..50).map(|idx| f64::from(idx == kernel)).collect()
    }

    /// Instances whose lengths differ, and instances of one length.
    fn both_kinds(n: usize) -> [DMatrix<f64>; 2] {
        let mut of_one_length = instances(n);
        of_one_length.column_iter_mut().for_each(|mut instance| {
            instance.normalize_mut();
        });
        [instances(n), of_one_length]
    }

    #[test]
    fn every_value_is_that_of_its_kernel() {
        let (n_negative, chosen) = (5, [3, 0, 1]);
        for (instances, scale) in
            both_kinds(9).iter().flat_map(|all| [(all, KernelScale::Cosine), (all, KernelScale::Raw)])
        {
            let kernels = all_kernels(scale);
            let grams = BaseGrams::new(&kernels, instances, n_negative, 1).unwrap();
            for (idx, kernel) in kernels.iter().enumerate() {
                let value =
                    |i: usize, j: usize| kernel.value(instances.column(i).as_slice(), instances.column(j).as_slice());
                let close = |found: f64, i, j| (found - value(i, j)).abs() <= 1e-12 * value(i, j).abs().max(1e-3);
                let mixed = |block| grams.mixed(block, &alone(idx));
                let [negative, positive, across] = [&grams.negatives, &grams.positives, &grams.across].map(mixed);
                let [among, beside] =
                    [&grams.positives.among(&chosen), &grams.across.select_columns(&chosen)].map(mixed);
                let diagonal = grams.mixed_diagonal(&alone(idx));
                for i in 0..n_negative {
                    assert!((0..n_negative).all(|j| close(negative[(i, j)], i, j)), "{kernel:?}");
                    assert!((0..4).all(|j| close(across[(i, j)], i, n_negative + j)), "{kernel:?}");
                    assert!((0..3).all(|j| close(beside[(i, j)], i, n_negative + chosen[j])), "{kernel:?}");
                }
                for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                    assert!(close(positive[(i, j)], n_negative + i, n_negative + j), "{kernel:?}");
                    assert!(close(among[(i, j)], n_negative + chosen[i], n_negative + chosen[j]), "{kernel:?}");
                }
                assert!((0..9).all(|i| close(diagonal[i], i, i)), "{kernel:?}");
            }
        }
    }

    #[test]
    fn forms_are_what_their_definition_says() {
        // More pairs than one stretch holds, and than one thread sums up.
        for instances in both_kinds(440) {
            let kernels = all_kernels(KernelScale::Cosine);
            let grams = BaseGrams::new(&kernels, &instances, 380, 16).unwrap();
            assert!(grams.negatives.kept[0].len() > 2 * FEW_STRETCHES * STRETCH);
            let symmetric = DMatrix::from_fn(380, 380, |i, j| ((i + j) % 5) as f64 - 1.0);
            let beside = DMatrix::from_fn(380, 60, |i, j| ((i * 3 + j) % 7) as f64 - 3.0);
            let (mut of_negatives, mut of_pairs) = (vec![0.0; 50], vec![1.0; 50]);
            grams.add_forms(&grams.negatives, &symmetric, &mut of_negatives);
            grams.add_forms(&grams.across, &beside, &mut of_pairs);
            for idx in 0..50 {
                let [negative, across] = [&grams.negatives, &grams.across].map(|block| grams.mixed(block, &alone(idx)));
                let size = negative.abs().dot(&symmetric.abs());
                assert!((of_negatives[idx] - negative.dot(&symmetric)).abs() < 1e-12 * size, "{:?}", kernels[idx]);
                let size = across.abs().dot(&beside.abs());
                assert!(
                    (of_pairs[idx] - 1.0 - across.dot(&beside)).abs() < 1e-12 * size.max(1.0),
                    "{:?}",
                    kernels[idx]
                );
            }
        }
    }

    #[test]
    fn more_than_the_budget_is_refused() {
        let error = BaseGrams::new(&all_kernels(KernelScale::Raw), &instances(200), 100, 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the base kernels take 3 MiB, but memory_mib is 1; raise it, or name fewer base kernels"
        );
    }
}
