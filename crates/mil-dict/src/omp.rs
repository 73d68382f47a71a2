//! Kernel OMP: sparse codes on atoms that live in a feature space.
//!
//! Orthogonal matching pursuit (Pati, Rezaiifar & Krishnaprasad 1993) approximates a vector by few atoms, one more at a time: the atom that is most correlated with what is left, then least squares on all chosen so far.
//! All it asks of the atoms $d_k$ and the sample $y$ are inner products, so that it works in the feature space of any kernel (Nguyen et al. 2012; MIDL, eqs. 12 to 17). With $G_{kl}=\langle d_k,d_l\rangle$ and
//! $h_k=\langle d_k,\phi(y)\rangle$, and starting from $x=0$ and $S=\{\}$, up to $T$ times:
//!
//! $$ k = \arg\max_{k\notin S}\frac{\lvert h_k-(Gx)_k\rvert}{\sqrt{G_{kk}}},\qquad S\leftarrow S\cup\{k\},\qquad x_S=G_{SS}^{-1}h_S. $$
//!
//! Choice: correlations are divided by the lengths of the atoms, which changes nothing for atoms of length 1 and is safe for others.
//!
//! Cost of a code, of $K$ atoms: $KT^2$ operations. The factor of $G_{SS}$ grows by a row for each atom (Cholesky); no system is solved from scratch.
//!
//! ```
//! use mil_dict::encode;
//! use nalgebra::DMatrix;
//! // Atoms (1, 0), (0, 1), (0.6, 0.8) and the sample (2, 3) in the plane.
//! let atoms = DMatrix::from_column_slice(2, 3, &[1.0, 0.0, 0.0, 1.0, 0.6, 0.8]);
//! let sample = DMatrix::from_column_slice(2, 1, &[2.0, 3.0]);
//! let codes = encode(&(atoms.transpose() * &atoms), &(atoms.transpose() * &sample), &[13.0], 2)?;
//! assert_eq!(codes[0].atoms, [2, 0]); // the third atom is nearest, then the first explains the rest
//! assert!(codes[0].squared_error < 1e-12);
//! # Ok::<(), mil_dict::DictError>(())
//! ```

use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use crate::DictError;

/// Samples that one thread encodes alone.
const FEW_SAMPLES: usize = 256;
/// A correlation below this part of the sample's length is rounding: nothing is left to explain.
const NEGLIGIBLE: f64 = 1e-12;
/// An atom of which less than this part of its squared length is outside the span of those chosen adds nothing but rounding.
const DEPENDENT: f64 = 1e-9;

/// A sparse code: a few atoms and the weight of each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Code {
    /// The atoms, in the order in which they were chosen.
    pub atoms: Vec<usize>,
    /// The weight of each.
    pub weights: Vec<f64>,
    /// $\lVert\phi(y)-\sum_kx_kd_k\rVert^2$, at least 0.
    pub squared_error: f64,
}

impl Code {
    /// The weights of all atoms, most of them 0.
    ///
    /// # Panics
    /// If the code has an atom beyond that many.
    #[must_use]
    pub fn to_vector(&self, n_atoms: usize) -> DVector<f64> {
        let mut vector = DVector::zeros(n_atoms);
        self.entries().for_each(|(atom, weight)| vector[atom] = weight);
        vector
    }

    /// Atoms with their weights.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.atoms.iter().copied().zip(self.weights.iter().copied())
    }

    /// $x^\top Gx - 2h^\top x$ over some of the atoms, which with $k(y,y)$ makes the squared error of what these alone represent.
    pub(crate) fn gain(&self, gram: &DMatrix<f64>, products: &[f64], counts: impl Fn(usize) -> bool) -> f64 {
        let mut gain = 0.0;
        for (atom, weight) in self.entries().filter(|(atom, _)| counts(*atom)) {
            let others = self.entries().filter(|(other, _)| counts(*other));
            let overlap: f64 = others.map(|(other, weight)| weight * gram[(other, atom)]).sum();
            gain += weight * (overlap - 2.0 * products[atom]);
        }
        gain
    }

    /// The squared error on other terms than the code was found on.
    pub(crate) fn error_on(&self, gram: &DMatrix<f64>, products: &[f64], squared_norm: f64) -> f64 {
        (squared_norm + self.gain(gram, products, |_| true)).max(0.0)
    }
}

/// The codes of samples, at most `sparsity` atoms each: from the inner products between atoms ($G$, $K\times K$), those of atoms with samples ($h$, a column for each sample) and the samples' squared lengths
/// $k(y,y)$.
///
/// Fewer atoms are taken where nothing is left to explain. Ties go to the first atom; atoms of length 0 are never chosen.
///
/// # Errors
/// If shapes differ or a number is not finite.
pub fn encode(
    atom_gram: &DMatrix<f64>,
    products: &DMatrix<f64>,
    squared_norms: &[f64],
    sparsity: usize,
) -> Result<Vec<Code>, DictError> {
    let (n_atoms, n_samples) = products.shape();
    require_shape("the matrix between atoms", atom_gram, n_atoms, n_atoms)?;
    let norms = DMatrix::from_column_slice(squared_norms.len(), 1, squared_norms);
    require_shape("the list of squared lengths", &norms, n_samples, 1)?;
    for (what, matrix) in [
        ("the matrix between atoms", atom_gram),
        ("the products of atoms with samples", products),
        ("the squared lengths", &norms),
    ] {
        require_finite(what, matrix)?;
    }
    Ok(codes_of(atom_gram, products, squared_norms, sparsity))
}

/// [`encode`] of what is known to be in order.
pub(crate) fn codes_of(
    atom_gram: &DMatrix<f64>,
    products: &DMatrix<f64>,
    squared_norms: &[f64],
    sparsity: usize,
) -> Vec<Code> {
    let n_atoms = atom_gram.ncols();
    let inverse_lengths: Vec<f64> =
        atom_gram.diagonal().iter().map(|&norm| if norm > 0.0 { 1.0 / norm.sqrt() } else { 0.0 }).collect();
    let products = products.as_slice();
    let of_sample = |pursuit: &mut Pursuit, sample: usize| {
        pursuit.run(
            atom_gram,
            &inverse_lengths,
            &products[sample * n_atoms..][..n_atoms],
            squared_norms[sample],
            sparsity,
        )
    };
    let fresh = || Pursuit::new(n_atoms, sparsity.min(n_atoms));
    (0..squared_norms.len()).into_par_iter().with_min_len(FEW_SAMPLES).map_init(fresh, of_sample).collect()
}

/// The pursuit of one code, with memory that the next one uses again.
struct Pursuit {
    /// $h - Gx$.
    residual: Vec<f64>,
    is_chosen: Vec<bool>,
    /// The factor $L$ of $G_{SS}=LL^\top$, row after row.
    factor: Vec<f64>,
    /// $L^{-1}h_S$.
    forward: Vec<f64>,
    /// Most atoms of a code.
    most: usize,
}

impl Pursuit {
    fn new(n_atoms: usize, most: usize) -> Pursuit {
        Pursuit {
            residual: vec![0.0; n_atoms],
            is_chosen: vec![false; n_atoms],
            factor: vec![0.0; most * most],
            forward: vec![0.0; most],
            most,
        }
    }

    fn run(
        &mut self,
        gram: &DMatrix<f64>,
        inverse_lengths: &[f64],
        products: &[f64],
        squared_norm: f64,
        sparsity: usize,
    ) -> Code {
        let most = self.most.min(sparsity);
        let mut code = Code { squared_error: squared_norm.max(0.0), ..Code::default() };
        self.residual.copy_from_slice(products);
        self.is_chosen.fill(false);
        let negligible = NEGLIGIBLE * squared_norm.max(0.0).sqrt();
        while code.atoms.len() < most {
            let Some((atom, correlation)) = self.most_correlated(inverse_lengths) else { break };
            if !(correlation > negligible && self.extend_factor(gram, &code.atoms, atom, products[atom])) {
                break;
            }
            self.is_chosen[atom] = true;
            code.atoms.push(atom);
            self.back_substitute(&mut code);
            self.update_residual(gram, products, &code);
        }
        let explained: f64 = self.forward[..code.atoms.len()].iter().map(|value| value * value).sum();
        code.squared_error = (code.squared_error - explained).max(0.0);
        code
    }

    fn most_correlated(&self, inverse_lengths: &[f64]) -> Option<(usize, f64)> {
        let mut best = None;
        let mut largest = 0.0;
        for (atom, (residual, inverse)) in self.residual.iter().zip(inverse_lengths).enumerate() {
            let correlation = residual.abs() * inverse;
            if correlation > largest && !self.is_chosen[atom] {
                largest = correlation;
                best = Some((atom, correlation));
            }
        }
        best
    }

    /// Adds a row to $L$ and an entry to $L^{-1}h_S$; says whether the atom is independent of those chosen.
    fn extend_factor(&mut self, gram: &DMatrix<f64>, chosen: &[usize], atom: usize, product: f64) -> bool {
        let (done, size) = (chosen.len(), self.most);
        let mut pivot = gram[(atom, atom)];
        let mut rest = product;
        let (above, below) = self.factor.split_at_mut(done * size);
        for (i, &other) in chosen.iter().enumerate() {
            let row = &above[i * size..][..i + 1];
            let settled: f64 = row[..i].iter().zip(&below[..i]).map(|(l, value)| l * value).sum();
            let value = (gram[(other, atom)] - settled) / row[i];
            below[i] = value;
            pivot -= value * value;
            rest -= value * self.forward[i];
        }
        let is_independent = pivot > DEPENDENT * gram[(atom, atom)];
        if is_independent {
            below[done] = pivot.sqrt();
            self.forward[done] = rest / below[done];
        }
        is_independent
    }

    /// $x_S$ from $L^\top x_S = L^{-1}h_S$.
    fn back_substitute(&self, code: &mut Code) {
        let (n, size) = (code.atoms.len(), self.most);
        code.weights.clear();
        code.weights.extend_from_slice(&self.forward[..n]);
        for i in (0..n).rev() {
            let value = code.weights[i] / self.factor[i * size + i];
            code.weights[i] = value;
            for (weight, l) in code.weights[..i].iter_mut().zip(&self.factor[i * size..]) {
                *weight -= l * value;
            }
        }
    }

    fn update_residual(&mut self, gram: &DMatrix<f64>, products: &[f64], code: &Code) {
        self.residual.copy_from_slice(products);
        for (atom, weight) in code.entries() {
            for (residual, value) in self.residual.iter_mut().zip(gram.column(atom).iter()) {
                *residual -= weight * value;
            }
        }
    }
}

/// $A^\top B$ as a blocked product of the transposed matrix: `tr_mul` takes dot products one by one, which is four times slower for matrices of a hundred rows.
pub(crate) fn transposed_product(left: &DMatrix<f64>, right: &DMatrix<f64>) -> DMatrix<f64> {
    left.transpose() * right
}

pub(crate) fn require_shape(
    what: &'static str,
    matrix: &DMatrix<f64>,
    expected_rows: usize,
    expected_columns: usize,
) -> Result<(), DictError> {
    let (found_rows, found_columns) = matrix.shape();
    if (found_rows, found_columns) == (expected_rows, expected_columns) {
        Ok(())
    } else {
        Err(DictError::Shape { what, found_rows, found_columns, expected_rows, expected_columns })
    }
}

pub(crate) fn require_finite(what: &'static str, matrix: &DMatrix<f64>) -> Result<(), DictError> {
    match matrix.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(at) => {
            let (row, column) = (at % matrix.nrows(), at / matrix.nrows());
            Err(DictError::NotFinite { what, row, column, value: matrix[at] })
        }
    }
}

#[cfg(test)]
mod tests {
    use mil_testkit::golden::{matrix, numbers, read};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn codes_agree_with_the_golden_ones() {
        let golden = read(include_str!("../../../fixtures/golden/komp.json"));
        for (gram, atoms, expected) in [("K_nn", "A_n", "X_n"), ("K_pp", "A_p", "X_p")] {
            let (gram, atoms, expected) = (matrix(&golden[gram]), matrix(&golden[atoms]), matrix(&golden[expected]));
            let products = atoms.transpose() * &gram;
            let norms: Vec<f64> = gram.diagonal().iter().copied().collect();
            let codes = encode(&(&products * &atoms), &products, &norms, 2).unwrap();
            for (code, expected) in codes.iter().zip(expected.column_iter()) {
                assert!((code.to_vector(atoms.ncols()) - expected).amax() < 1e-12);
            }
            if atoms.ncols() == 4 {
                assert!((&products * &atoms - matrix(&golden["gram_n"])).amax() < 1e-12);
                for (code, error) in codes.iter().zip(numbers(&golden["sq_error_n"])) {
                    assert!((code.squared_error - error).abs() < 1e-12);
                }
            }
        }
    }

    /// Orthogonal matching pursuit on vectors, by least squares from scratch in each step.
    fn plain_omp(atoms: &DMatrix<f64>, sample: &DVector<f64>, sparsity: usize) -> DVector<f64> {
        let (mut chosen, mut weights) = (Vec::new(), DVector::zeros(0));
        let mut residual = sample.clone();
        while chosen.len() < sparsity {
            let correlation = |atom: usize| (atoms.column(atom).dot(&residual) / atoms.column(atom).norm()).abs();
            let free: Vec<usize> = (0..atoms.ncols()).filter(|atom| !chosen.contains(atom)).collect();
            let values: Vec<f64> = free.iter().map(|&atom| correlation(atom)).collect();
            chosen.push(free[mil_core::argmax(&values)]);
            let basis = atoms.select_columns(&chosen);
            weights = basis.clone().svd(true, true).solve(sample, 0.0).unwrap();
            residual = sample - basis * &weights;
        }
        let mut all = DVector::zeros(atoms.ncols());
        chosen.iter().zip(weights.iter()).for_each(|(&atom, &weight)| all[atom] = weight);
        all
    }

    fn vectors(rows: usize, columns: usize) -> impl Strategy<Value = DMatrix<f64>> {
        prop::collection::vec(-1.0..1.0, rows * columns)
            .prop_map(move |values| DMatrix::from_vec(rows, columns, values))
    }

    proptest! {
        #[test]
        fn with_a_linear_kernel_it_is_the_plain_pursuit(atoms in vectors(8, 6), samples in vectors(8, 3), sparsity in 1usize..=4) {
            let products = atoms.transpose() * &samples;
            let norms: Vec<f64> = samples.column_iter().map(|sample| sample.norm_squared()).collect();
            let codes = encode(&(atoms.transpose() * &atoms), &products, &norms, sparsity).unwrap();
            for (code, sample) in codes.iter().zip(samples.column_iter()) {
                let expected = plain_omp(&atoms, &sample.into_owned(), sparsity);
                let found = code.to_vector(6);
                prop_assert!((&found - &expected).amax() < 1e-6 * (1.0 + expected.amax()), "{} {}", found, expected);
                let residual = sample - &atoms * &found;
                prop_assert!((code.squared_error - residual.norm_squared()).abs() < 1e-9);
                for &atom in &code.atoms {
                    prop_assert!(atoms.column(atom).dot(&residual).abs() < 1e-9, "the residual is orthogonal to what was chosen");
                }
            }
        }

        #[test]
        fn no_products_make_it_panic(values in prop::collection::vec(-1e3..1e3f64, 16), products in prop::collection::vec(-1e3..1e3f64, 4), norm in -10.0..10.0f64) {
            // Not the products of any atoms: neither symmetric nor positive semidefinite.
            let gram = DMatrix::from_vec(4, 4, values);
            let code = &encode(&gram, &DMatrix::from_vec(4, 1, products), &[norm], 4).unwrap()[0];
            prop_assert!(code.weights.len() == code.atoms.len() && code.squared_error >= 0.0);
        }
    }

    #[test]
    fn it_stops_where_nothing_is_left_to_explain() {
        // Equal atoms, and one of length 0.
        let atoms = DMatrix::from_column_slice(2, 3, &[1.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        let gram = atoms.transpose() * &atoms;
        let codes =
            encode(&gram, &DMatrix::from_column_slice(3, 2, &[2.0, 2.0, 0.0, 0.0, 0.0, 0.0]), &[5.0, 1.0], 3).unwrap();
        assert_eq!((codes[0].atoms.as_slice(), codes[0].weights.as_slice()), (&[0][..], &[2.0][..]));
        assert_eq!((codes[0].squared_error, codes[1].squared_error), (1.0, 1.0));
        assert!(codes[1].atoms.is_empty());
    }

    #[test]
    fn many_samples_on_many_threads_have_the_codes_they_have_alone() {
        let atoms = DMatrix::from_fn(6, 9, |i, j| ((3 * i + 5 * j * j) % 11) as f64 - 5.0);
        let samples = DMatrix::from_fn(6, 700, |i, j| ((7 * i + 13 * j) % 17) as f64 - 8.0);
        let (gram, products) = (atoms.transpose() * &atoms, atoms.transpose() * &samples);
        let norms: Vec<f64> = samples.column_iter().map(|sample| sample.norm_squared()).collect();
        let together = encode(&gram, &products, &norms, 3).unwrap();
        for (idx, code) in together.iter().enumerate() {
            let alone = encode(&gram, &products.columns(idx, 1).into_owned(), &norms[idx..=idx], 3).unwrap();
            assert_eq!(alone[0], *code);
        }
    }

    #[test]
    fn shapes_and_numbers_are_checked() {
        let gram = DMatrix::identity(2, 2);
        let error = encode(&gram, &DMatrix::zeros(3, 1), &[1.0], 1).unwrap_err();
        assert_eq!(error.to_string(), "the matrix between atoms is 2 x 2, expected 3 x 3");
        let error = encode(&gram, &DMatrix::zeros(2, 2), &[1.0], 1).unwrap_err();
        assert_eq!(error.to_string(), "the list of squared lengths is 1 x 1, expected 2 x 1");
        let error = encode(&gram, &DMatrix::from_element(2, 1, f64::NAN), &[1.0], 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the products of atoms with samples, row 0, column 0 is NaN, expected a finite number"
        );
    }
}
