//! Blocks of pairs: instances packed in panels, and the inner loop that runs over two panels at once.
//!
//! Every entry is one sum in the order of the features, whichever block, panel or lane it falls in. It is therefore the same to the
//! bit in a whole Gram matrix, in a row on demand and in a block of bags, on one thread or many; and since each product commutes,
//! $k(x,z)$ and $k(z,x)$ are the same as well.

use std::ops::Range;

use nalgebra::{DMatrixView, DVectorView};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::KernelError;
use crate::exp::mul_add;
use crate::form::{Form, Pairs};

/// Instances in a panel of the left side: three vectors of eight.
pub(crate) const HEIGHT: usize = 24;
/// Instances in a panel of the right side.
pub(crate) const WIDTH: usize = 8;
/// Rows of panels that one thread packs alone.
const FEW_ROWS: usize = 1024;
/// A number for each instance of a left panel, which is a few right panels as well.
pub(crate) type Lanes = [[f64; WIDTH]; HEIGHT / WIDTH];
/// The pairs of a left panel with a right panel, one array per right instance.
pub(crate) type Tile = [[f64; HEIGHT]; WIDTH];

/// Instances made ready for a form, to be either side of a block.
#[derive(Debug, Clone)]
pub(crate) struct Side<'a> {
    instances: Instances<'a>,
    /// Panel after panel, each feature after feature, the centre subtracted, where the form uses distances; the last panel is filled up
    /// with zeros.
    centred: Vec<Lanes>,
    /// The same without centring, where the form uses products or minima.
    raw: Vec<Lanes>,
    /// Squared norms of the centred instances, summed in the order of the inner loop: $\lVert x - x\rVert^2$ is exactly 0.
    pub(crate) norms: Vec<Lanes>,
    pub(crate) max_norm: f64,
    /// For each scope of the form, the lengths of the instances.
    pub(crate) lengths: Vec<Vec<Lanes>>,
}

/// The columns of a matrix, some of them, or columns of our own that may come and go.
#[derive(Debug, Clone)]
enum Instances<'a> {
    All(DMatrixView<'a, f64>),
    Chosen(DMatrixView<'a, f64>, Vec<usize>),
    Own { depth: usize, values: Vec<f64> },
}

impl Instances<'_> {
    fn len(&self) -> usize {
        match self {
            Instances::All(all) => all.ncols(),
            Instances::Chosen(_, chosen) => chosen.len(),
            Instances::Own { depth, values } => values.len() / depth,
        }
    }

    fn depth(&self) -> usize {
        match self {
            Instances::All(all) | Instances::Chosen(all, _) => all.nrows(),
            Instances::Own { depth, .. } => *depth,
        }
    }

    fn get(&self, idx: usize) -> DVectorView<'_, f64> {
        match self {
            Instances::All(all) => all.column(idx),
            Instances::Chosen(all, chosen) => all.column(chosen[idx]),
            Instances::Own { depth, values } => DVectorView::from_slice(&values[idx * depth..], *depth),
        }
    }

    /// Position of the instance that has the value of the largest size.
    fn largest(&self) -> usize {
        let size = |idx: usize| self.get(idx).amax();
        (0..self.len()).fold(0, |best, idx| if size(idx) > size(best) { idx } else { best })
    }
}

impl<'a> Side<'a> {
    /// Packs the instances after subtracting the centre.
    ///
    /// # Errors
    /// If the dimension is not that of the centre, an instance does not suit the form, or its norm overflows.
    pub(crate) fn new(form: &Form, instances: DMatrixView<'a, f64>, centre: &[f64]) -> Result<Self, KernelError> {
        if instances.nrows() != centre.len() {
            return Err(KernelError::Dimension { left: centre.len(), right: instances.nrows() });
        }
        require_finite(instances)?;
        if form.uses_minima() {
            require_non_negative(instances)?;
        }
        Side::packed(form, Instances::All(instances), centre)
    }

    /// Packs some of the instances of which a side has been made before, and hence trusted.
    pub(crate) fn of_chosen(
        form: &Form,
        instances: DMatrixView<'a, f64>,
        chosen: &[usize],
        centre: &[f64],
    ) -> Result<Self, KernelError> {
        Side::packed(form, Instances::Chosen(instances, chosen.to_vec()), centre)
    }

    fn packed(form: &Form, instances: Instances<'a>, centre: &[f64]) -> Result<Self, KernelError> {
        let packed = |wanted, centre: &[f64]| if wanted { pack(&instances, centre) } else { Vec::new() };
        let mut side = Side {
            centred: packed(form.uses_distances(), centre),
            raw: packed(form.uses_products() || form.uses_minima(), &vec![0.0; centre.len()]),
            norms: vec![Lanes::default(); instances.len().div_ceil(HEIGHT)],
            max_norm: 0.0,
            lengths: Vec::new(),
            instances,
        };
        if form.uses_distances() {
            side.measure_norms()?;
        }
        side.measure_lengths(form)?;
        Ok(side)
    }

    /// A side that owns its instances, whose features are one after the other; they may come and go.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub(crate) fn owned(form: &Form, values: Vec<f64>, centre: &[f64]) -> Result<Side<'static>, KernelError> {
        let depth = centre.len();
        require_finite(DMatrixView::from_slice(&values, depth, values.len() / depth))?;
        Side::packed(form, Instances::Own { depth, values }, centre)
    }

    /// Adds the instances of another side, of the same form without scopes and the same centre, behind those that are there.
    ///
    /// # Panics
    /// If this side does not own its instances.
    pub(crate) fn append(&mut self, other: &Side<'_>) {
        let (depth, n) = (self.depth(), self.len());
        let Instances::Own { values, .. } = &mut self.instances else { panic!("borrowed instances do not grow") };
        (0..other.len()).for_each(|idx| values.extend_from_slice(other.instances.get(idx).as_slice()));
        let n_panels = self.len().div_ceil(HEIGHT);
        self.norms.resize(n_panels, Lanes::default());
        self.centred.resize(n_panels * depth, Lanes::default());
        (0..other.len()).for_each(|idx| self.copy_lane(n + idx, |feature| other.lane(idx, feature), other.norm(idx)));
        self.max_norm = self.max_norm.max(other.max_norm);
    }

    /// Takes an instance away; the last one moves to its place.
    ///
    /// # Panics
    /// If this side does not own its instances or the position is out of range.
    pub(crate) fn swap_remove(&mut self, idx: usize) {
        let (depth, last) = (self.depth(), self.len() - 1);
        let moved: Vec<f64> = (0..depth).map(|feature| self.lane(last, feature)).collect();
        self.copy_lane(idx, |feature| moved[feature], self.norm(last));
        self.copy_lane(last, |_| 0.0, 0.0);
        let Instances::Own { values, .. } = &mut self.instances else { panic!("borrowed instances do not go") };
        values.copy_within(last * depth.., idx * depth);
        values.truncate(last * depth);
        let n_panels = last.div_ceil(HEIGHT);
        self.norms.truncate(n_panels);
        self.centred.truncate(n_panels * depth);
    }

    /// The features of all instances, one instance after another.
    ///
    /// # Panics
    /// If this side does not own its instances.
    pub(crate) fn own_values(&self) -> &[f64] {
        let Instances::Own { values, .. } = &self.instances else { panic!("borrowed instances are their owner's") };
        values
    }

    /// A feature of a packed instance.
    fn lane(&self, idx: usize, feature: usize) -> f64 {
        self.centred[idx / HEIGHT * self.depth() + feature].as_flattened()[idx % HEIGHT]
    }

    fn norm(&self, idx: usize) -> f64 {
        self.norms.as_flattened().as_flattened()[idx]
    }

    /// Writes the features and the squared norm of a packed instance.
    fn copy_lane(&mut self, idx: usize, feature_of: impl Fn(usize) -> f64, norm: f64) {
        let (depth, panel, lane) = (self.depth(), idx / HEIGHT, idx % HEIGHT);
        for (feature, row) in self.centred[panel * depth..][..depth].iter_mut().enumerate() {
            row.as_flattened_mut()[lane] = feature_of(feature);
        }
        self.norms[panel].as_flattened_mut()[lane] = norm;
    }

    /// Number of instances.
    pub(crate) fn len(&self) -> usize {
        self.instances.len()
    }

    /// Number of features.
    pub(crate) fn depth(&self) -> usize {
        self.instances.depth()
    }

    /// An instance as it was given.
    pub(crate) fn instance(&self, idx: usize) -> DVectorView<'_, f64> {
        self.instances.get(idx)
    }

    /// Number of left panels.
    pub(crate) fn n_panels(&self) -> usize {
        self.norms.len()
    }

    fn measure_norms(&mut self) -> Result<(), KernelError> {
        let depth = self.depth();
        for panel in 0..self.n_panels() {
            self.norms[panel] = Arch::new().dispatch(SquaredNorms(&self.centred[panel * depth..][..depth]));
        }
        let n = self.len();
        for &norm in &self.norms.as_flattened().as_flattened()[..n] {
            // The sum of two norms and twice a product must stay finite as well.
            if !(4.0 * norm).is_finite() {
                // Centring may spread one huge value over all norms; the instance to look at is the one that has it.
                return Err(overflow("squared distance", self.instances.largest(), 4.0 * norm));
            }
            self.max_norm = self.max_norm.max(norm);
        }
        Ok(())
    }

    fn measure_lengths(&mut self, form: &Form) -> Result<(), KernelError> {
        let mut all = vec![vec![[[1.0; WIDTH]; HEIGHT / WIDTH]; self.n_panels()]; form.n_scopes()];
        for (scope, lengths) in all.iter_mut().enumerate() {
            let lengths = lengths.as_flattened_mut().as_flattened_mut();
            for (idx, place) in lengths.iter_mut().enumerate().take(self.len()) {
                let instance = self.instance(idx);
                let length = form.length(scope, instance.norm_squared(), instance.sum());
                if !length.is_finite() {
                    return Err(overflow("kernel value", idx, length));
                }
                if length == 0.0 && instance.iter().any(|value| *value != 0.0) {
                    return Err(KernelError::Underflow { instance_idx: idx });
                }
                // An infinite divisor makes every value of an instance without length 0.
                *place = if length == 0.0 { f64::INFINITY } else { length };
            }
        }
        self.lengths = all;
        Ok(())
    }
}

fn overflow(quantity: &'static str, idx: usize, value: f64) -> KernelError {
    KernelError::Overflow { quantity, left_idx: idx, right_idx: idx, value }
}

/// The mean instance where the form needs squared distances, else the origin.
///
/// Choice: distances do not change under a shift, while $\lVert x\rVert^2 + \lVert z\rVert^2 - 2\langle x,z\rangle$ cancels the less the shorter the
/// vectors are; so data far from the origin are moved to it first. A form without distances sees the instances as they are.
pub(crate) fn centre_for(form: &Form, instances: DMatrixView<'_, f64>) -> Vec<f64> {
    let mut centre = vec![0.0; instances.nrows()];
    if form.uses_distances() {
        // Divided first, since a sum of finite numbers may overflow.
        let share = 1.0 / instances.ncols().max(1) as f64;
        for instance in instances.column_iter() {
            centre.iter_mut().zip(instance.as_slice()).for_each(|(c, x)| *c += x * share);
        }
    }
    centre
}

fn pack(instances: &Instances<'_>, centre: &[f64]) -> Vec<Lanes> {
    let depth = centre.len();
    let mut panels = vec![Lanes::default(); instances.len().div_ceil(HEIGHT) * depth];
    let fill = |(panel, rows): (usize, &mut [Lanes])| {
        for lane in 0..HEIGHT.min(instances.len() - panel * HEIGHT) {
            let instance = instances.get(panel * HEIGHT + lane);
            for ((row, x), c) in rows.iter_mut().zip(instance.as_slice()).zip(centre) {
                row[lane / WIDTH][lane % WIDTH] = x - c;
            }
        }
    };
    // A bag or two are packed sooner than another thread wakes up.
    if panels.len() < FEW_ROWS {
        panels.chunks_mut(depth.max(1)).enumerate().for_each(fill);
    } else {
        panels.par_chunks_mut(depth.max(1)).enumerate().for_each(fill);
    }
    panels
}

pub(crate) fn require_finite(instances: DMatrixView<'_, f64>) -> Result<(), KernelError> {
    for (instance_idx, instance) in instances.column_iter().enumerate() {
        // A search that may stop anywhere looks at one value at a time; only an error needs it.
        if !instance.as_slice().iter().fold(true, |all, value| all & value.is_finite()) {
            let feature_idx = instance.iter().position(|value| !value.is_finite()).expect("a value is not finite");
            return Err(KernelError::NotFinite { instance_idx, feature_idx, value: instance[feature_idx] });
        }
    }
    Ok(())
}

pub(crate) fn require_non_negative(instances: DMatrixView<'_, f64>) -> Result<(), KernelError> {
    for (instance_idx, instance) in instances.column_iter().enumerate() {
        if let Some(feature_idx) = instance.iter().position(|value| *value < 0.0) {
            return Err(KernelError::Negative { instance_idx, feature_idx, value: instance[feature_idx] });
        }
    }
    Ok(())
}

struct SquaredNorms<'a>(&'a [Lanes]);

impl WithSimd for SquaredNorms<'_> {
    type Output = Lanes;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Lanes {
        let mut sums = Lanes::default();
        for row in self.0 {
            for (x, sum) in row.as_flattened().iter().zip(sums.as_flattened_mut()) {
                *sum = mul_add::<S>(*x, *x, *sum);
            }
        }
        sums
    }
}

/// Who receives the tiles of a rectangle of panels.
///
/// A method here runs inside the function compiled for an instruction set, and must be inlined into it. The next tile is computed
/// while the stores of this one are still under way, which hides the time that a large matrix takes to reach the memory.
pub(crate) trait Sink {
    /// Whether to go on with the right panels of a left one, both counted from the rectangle's first.
    #[inline(always)]
    fn wants(&self, _left_panel: usize, _right_panel: usize) -> bool {
        true
    }

    /// Takes the values of a left panel with a right panel, counted likewise. Those of the instances that fill up
    /// the last panel mean nothing.
    fn take<S: Simd>(&mut self, simd: S, left_panel: usize, right_panel: usize, tile: &Tile);
}

/// Computes the form on a rectangle of panels, all right panels for each left one.
pub(crate) fn visit(pairs: Pairs<'_>, left_panels: Range<usize>, right_panels: Range<usize>, sink: &mut impl Sink) {
    Arch::new().dispatch(Visit { pairs, left_panels, right_panels, sink });
}

struct Visit<'a, K> {
    pairs: Pairs<'a>,
    left_panels: Range<usize>,
    right_panels: Range<usize>,
    sink: &'a mut K,
}

impl<K: Sink> WithSimd for Visit<'_, K> {
    type Output = ();

    /// From here down everything is inlined; a call that is not would fall back to the baseline instruction set. So there are no
    /// closures.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Visit { pairs, left_panels, right_panels, sink } = self;
        let (form, left, right) = (pairs.form, pairs.left, pairs.right);
        let depth = left.depth();
        let (distances, products, minima) = (form.uses_distances(), form.uses_products(), form.uses_minima());
        let mut tile = [[0.0; HEIGHT]; WIDTH];
        let mut product = [[0.0; HEIGHT]; WIDTH];
        let mut minimum = [[0.0; HEIGHT]; WIDTH];
        for (i, left_panel) in left_panels.enumerate() {
            for (j, right_panel) in right_panels.clone().enumerate() {
                if !sink.wants(i, j) {
                    break;
                }
                let (x, (z, third)) = (left_panel * depth, right_place(right_panel));
                let (x, z) = (x..x + depth, z * depth..(z + 1) * depth);
                let n_right = WIDTH.min(right.len() - right_panel * WIDTH);
                if distances {
                    let (x, z) = (&left.centred[x.clone()], &right.centred[z.clone()]);
                    accumulate(simd, Product, x, z, third, n_right, &mut tile);
                }
                if products {
                    let (x, z) = (&left.raw[x.clone()], &right.raw[z.clone()]);
                    accumulate(simd, Product, x, z, third, n_right, if distances { &mut product } else { &mut tile });
                }
                if minima {
                    accumulate(simd, Minimum, &left.raw[x], &right.raw[z], third, n_right, &mut minimum);
                }
                pairs.apply::<S>(left_panel, right_panel, n_right, &mut tile, &product, &minimum);
                sink.take(simd, i, j, &tile);
            }
        }
    }
}

/// The panel in which a right panel lies, and which part of it.
#[inline(always)]
pub(crate) fn right_place(right_panel: usize) -> (usize, usize) {
    (right_panel / (HEIGHT / WIDTH), right_panel % (HEIGHT / WIDTH))
}

/// What a pair of features adds to the sum of a pair of instances.
trait Step: Copy {
    fn add<S: Simd>(self, simd: S, x: S::f64s, z: S::f64s, sum: S::f64s) -> S::f64s;
}

#[derive(Clone, Copy)]
struct Product;

impl Step for Product {
    #[inline(always)]
    fn add<S: Simd>(self, simd: S, x: S::f64s, z: S::f64s, sum: S::f64s) -> S::f64s {
        simd.mul_add_e_f64s(x, z, sum)
    }
}

#[derive(Clone, Copy)]
struct Minimum;

impl Step for Minimum {
    #[inline(always)]
    fn add<S: Simd>(self, simd: S, x: S::f64s, z: S::f64s, sum: S::f64s) -> S::f64s {
        simd.add_f64s(sum, simd.min_f64s(x, z))
    }
}

/// Sums up a tile, in pieces whose sums fit the registers of the instruction set. A panel of few right instances, as the last of a few rows on demand often is,
/// costs half where half of it is enough.
#[inline(always)]
fn accumulate<S: Simd>(
    simd: S,
    step: impl Step,
    left: &[Lanes],
    right: &[Lanes],
    third: usize,
    n_right: usize,
    tile: &mut Tile,
) {
    match S::F64_LANES {
        8 if n_right > 4 => accumulate_pieces::<S, 3, 8>(simd, step, left, right, third, n_right, tile),
        2 => accumulate_pieces::<S, 6, 4>(simd, step, left, right, third, n_right, tile),
        _ => accumulate_pieces::<S, 3, 4>(simd, step, left, right, third, n_right, tile),
    }
}

/// Pieces of `V` vectors by `C` right instances, as many as it takes for the first `n_right`.
#[inline(always)]
fn accumulate_pieces<S: Simd, const V: usize, const C: usize>(
    simd: S,
    step: impl Step,
    left: &[Lanes],
    right: &[Lanes],
    third: usize,
    n_right: usize,
    tile: &mut Tile,
) {
    for v0 in (0..HEIGHT / S::F64_LANES).step_by(V) {
        for c0 in (0..n_right).step_by(C) {
            let mut sums = [[simd.splat_f64s(0.0); V]; C];
            for (x, z) in left.iter().zip(right) {
                let (x, z) = (S::as_simd_f64s(x.as_flattened()).0, &z[third]);
                for c in 0..C {
                    let z = simd.splat_f64s(z[c0 + c]);
                    for v in 0..V {
                        sums[c][v] = step.add(simd, x[v0 + v], z, sums[c][v]);
                    }
                }
            }
            for c in 0..C {
                S::as_mut_simd_f64s(&mut tile[c0 + c]).0[v0..v0 + V].copy_from_slice(&sums[c]);
            }
        }
    }
}

/// Turns the columns of a tile into rows.
#[inline(always)]
pub(crate) fn transpose<S: Simd>(simd: S, tile: &Tile, lines: &mut [[f64; WIDTH]; HEIGHT]) {
    if S::F64_LANES != 8 {
        for r in 0..HEIGHT {
            for c in 0..WIDTH {
                lines[r][c] = tile[c][r];
            }
        }
        return;
    }
    // Left to itself, the compiler moves one value at a time. Each of three rounds of shuffles doubles the length of the runs that
    // are already in their row.
    for v in 0..HEIGHT / 8 {
        let mut x = [simd.splat_f64s(0.0); WIDTH];
        for c in 0..WIDTH {
            x[c] = S::as_simd_f64s(&tile[c]).0[v];
        }
        let a = simd.deinterleave_shfl_f64s([x[0], x[1], x[2], x[3]]);
        let b = simd.deinterleave_shfl_f64s([x[4], x[5], x[6], x[7]]);
        let [r0, r1, r4, r5] = last_round(simd, [a[0], a[1]], [b[0], b[1]]);
        let [r2, r3, r6, r7] = last_round(simd, [a[2], a[3]], [b[2], b[3]]);
        for (line, row) in lines[v * 8..].iter_mut().zip([r0, r1, r2, r3, r4, r5, r6, r7]) {
            S::as_mut_simd_f64s(line).0[0] = row;
        }
    }
}

/// The shuffle of four is one of neighbours, then one of pairs; undoing the first beforehand leaves the second.
#[inline(always)]
fn last_round<S: Simd>(simd: S, a: [S::f64s; 2], b: [S::f64s; 2]) -> [S::f64s; 4] {
    let ([a0, a1], [b0, b1]) = (simd.interleave_shfl_f64s(a), simd.interleave_shfl_f64s(b));
    simd.deinterleave_shfl_f64s([a0, a1, b0, b1])
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Transpose<'a>(&'a Tile);

    impl WithSimd for Transpose<'_> {
        type Output = [[f64; WIDTH]; HEIGHT];

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let mut lines = [[0.0; WIDTH]; HEIGHT];
            transpose(simd, self.0, &mut lines);
            lines
        }
    }

    #[test]
    fn columns_become_rows_on_every_instruction_set() {
        let tile: Tile = std::array::from_fn(|c| std::array::from_fn(|r| (100 * c + r) as f64));
        let expected: [[f64; WIDTH]; HEIGHT] = std::array::from_fn(|r| std::array::from_fn(|c| tile[c][r]));
        assert_eq!(Arch::new().dispatch(Transpose(&tile)), expected);
        assert_eq!(Arch::Scalar.dispatch(Transpose(&tile)), expected);
    }
}
