//! Kernel K-SVD: a dictionary in the feature space of a kernel.
//!
//! K-SVD (Aharon, Elad & Bruckstein 2006) alternates sparse codes for fixed atoms and atoms for fixed supports. In feature space (Nguyen et al. 2012) atoms are mixtures of the samples, $D=\Phi(Y)A$, and the problem is
//!
//! $$ \min_{A,X}\ \lVert\Phi(Y)-\Phi(Y)AX\rVert_F^2\qquad\text{subject to}\quad\lVert x_i\rVert_0\le T $$
//!
//! (MIDL, eq. 2). An atom $a_k$ and its row $x^k$ of weights are found together, on the samples $z$ that use it, as the best rank-one approximation of what the other atoms leave (eqs. 18 to 22): with
//!
//! $$ E=(I-AX+a_kx^k)_{\cdot z},\qquad E^\top KE=V\Delta V^\top,\quad\sigma=\sqrt{\delta_1}:\qquad a_k\leftarrow\sigma^{-1}Ev_1,\quad x^k_z\leftarrow\sigma v_1^\top. $$
//!
//! Deviation: the paper calls this an approximation and $\sigma$ an eigenvalue; it is the exact singular value decomposition of $\Phi(Y)E$, and $\sigma$ its first singular value. The new atom has length 1.
//!
//! Cost of a sweep over $K$ atoms and $n$ samples with codes of $T$ atoms: $n^2K$ for $KA$, then $n^2T^2$; an eigenpair of order $nT/K$ for each atom. Memory: the Gram matrix and $n\times K$ numbers.
//!
//! ```
//! use mil_dict::KernelKsvd;
//! use mil_kernels::{Kernel, gram};
//! use nalgebra::DMatrix;
//! // Nine samples on three lines through the origin are three atoms.
//! let samples = DMatrix::from_fn(2, 9, |row, i| [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]][i % 3][row] * (1.0 + i as f64));
//! let gram = gram(&Kernel::Linear, &samples)?.to_matrix();
//! let learnt = KernelKsvd { n_atoms: 3, sparsity: 1, n_rounds: 10, seed: 1 }.fit(&gram)?;
//! assert!(learnt.squared_errors.last().unwrap() < &1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::{ParamRange, Params, stream};
use nalgebra::{DMatrix, DVector, SymmetricEigen};
use rand::seq::SliceRandom;

use crate::DictError;
use crate::omp::{Code, codes_of, require_finite, require_shape, transposed_product};

mil_core::params! {
    /// Kernel K-SVD, on its own.
    pub struct KernelKsvd {
        n_atoms: usize = 50, ParamRange::AtLeast(1.0), "Atoms of the dictionary; no more than there are samples are made.";
        sparsity: usize = 4, ParamRange::AtLeast(1.0), "Most atoms of a code.";
        n_rounds: usize = 20, ParamRange::AtLeast(0.0), "Rounds of codes and atoms.";
        seed: u64 = 0, ParamRange::Any, "Fixes which samples the dictionary begins with.";
    }
}

/// A dictionary over samples, and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct LearntDictionary {
    /// $A$: an atom for each column, as weights of the samples.
    pub atoms: DMatrix<f64>,
    /// The code of each sample.
    pub codes: Vec<Code>,
    /// $\lVert\Phi(Y)-\Phi(Y)AX\rVert_F^2$ after each round.
    pub squared_errors: Vec<f64>,
}

impl KernelKsvd {
    /// Learns a dictionary of the samples that a Gram matrix is of, beginning with some of them.
    ///
    /// # Errors
    /// If a parameter is out of range, the matrix is not square or not finite, or all samples are 0 in feature space.
    pub fn fit(&self, gram: &DMatrix<f64>) -> Result<LearntDictionary, DictError> {
        let params = self.check()?;
        require_shape("the Gram matrix", gram, gram.ncols(), gram.ncols())?;
        require_finite("the Gram matrix", gram)?;
        let mut dictionary = Dictionary::of_samples(gram, params.n_atoms, params.seed, "dictionary")?;
        let mut squared_errors = Vec::new();
        for _ in 0..params.n_rounds {
            dictionary.round(gram, params.sparsity);
            squared_errors.push(dictionary.squared_error());
        }
        Ok(LearntDictionary { atoms: dictionary.atoms, codes: dictionary.codes, squared_errors })
    }
}

/// Atoms over samples, and the code of each sample.
#[derive(Debug, Clone)]
pub(crate) struct Dictionary {
    /// $A$: an atom for each column, as weights of the samples.
    pub(crate) atoms: DMatrix<f64>,
    /// $KA$, kept up to date.
    pub(crate) images: DMatrix<f64>,
    pub(crate) codes: Vec<Code>,
}

impl Dictionary {
    /// Of these atoms, with codes that use none.
    pub(crate) fn new(gram: &DMatrix<f64>, atoms: DMatrix<f64>) -> Dictionary {
        let codes = vec![Code::default(); gram.ncols()];
        Dictionary { images: gram * &atoms, atoms, codes }
    }

    /// Distinct samples drawn at random, each as an atom of length 1. Samples of length 0 are none; no more atoms are made than there are others.
    pub(crate) fn of_samples(
        gram: &DMatrix<f64>,
        n_atoms: usize,
        seed: u64,
        purpose: &str,
    ) -> Result<Dictionary, DictError> {
        let n_samples = gram.ncols();
        let mut drawn: Vec<usize> = (0..n_samples).filter(|&idx| gram[(idx, idx)] > 0.0).collect();
        if drawn.is_empty() {
            return Err(DictError::NoDirection { n_samples });
        }
        drawn.shuffle(&mut stream(seed, purpose, 0));
        drawn.truncate(n_atoms);
        let mut atoms = DMatrix::zeros(n_samples, drawn.len());
        for (atom, &sample) in drawn.iter().enumerate() {
            atoms[(sample, atom)] = 1.0 / gram[(sample, sample)].sqrt();
        }
        Ok(Dictionary::new(gram, atoms))
    }

    /// $A^\top KA$.
    pub(crate) fn gram(&self) -> DMatrix<f64> {
        transposed_product(&self.atoms, &self.images)
    }

    /// The sum of the codes' squared errors.
    pub(crate) fn squared_error(&self) -> f64 {
        self.codes.iter().map(|code| code.squared_error).sum()
    }

    /// $RR^\top$ with $R=I-AX$, so that the squared error under a kernel is $\langle K,RR^\top\rangle$.
    pub(crate) fn residual_form(&self) -> DMatrix<f64> {
        let n = self.codes.len();
        let mut residual = DMatrix::identity(n, n);
        for (sample, code) in self.codes.iter().enumerate() {
            let mut column = residual.column_mut(sample);
            code.entries().for_each(|(atom, weight)| column.axpy(-weight, &self.atoms.column(atom), 1.0));
        }
        &residual * residual.transpose()
    }

    /// Codes for the atoms, then atoms for the supports of the codes.
    pub(crate) fn round(&mut self, gram: &DMatrix<f64>, sparsity: usize) {
        self.update_codes(gram, sparsity);
        self.update_atoms(gram);
    }

    /// Encodes the samples anew.
    ///
    /// Choice: a code that is worse than the one before it, as may happen to a greedy method, is not taken; so the error never rises, but for rounding.
    pub(crate) fn update_codes(&mut self, gram: &DMatrix<f64>, sparsity: usize) {
        let norms: Vec<f64> = gram.diagonal().iter().copied().collect();
        let (atom_gram, products) = (self.gram(), self.images.transpose());
        self.measure_errors(&atom_gram, &products, &norms);
        let old = std::mem::replace(&mut self.codes, codes_of(&atom_gram, &products, &norms, sparsity));
        self.measure_errors(&atom_gram, &products, &norms);
        for (fresh, old) in self.codes.iter_mut().zip(old) {
            if old.squared_error < fresh.squared_error {
                *fresh = old;
            }
        }
    }

    /// Updates each atom in turn together with the weights that use it (eqs. 18 to 22), and the squared error of each code. Atoms that no sample uses stay as they are.
    pub(crate) fn update_atoms(&mut self, gram: &DMatrix<f64>) {
        let mut users: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.atoms.ncols()];
        for (sample, code) in self.codes.iter().enumerate() {
            code.atoms.iter().enumerate().for_each(|(place, &atom)| users[atom].push((sample, place)));
        }
        for (atom, users) in users.iter().enumerate().filter(|(_, users)| !users.is_empty()) {
            let (rest, rest_image) = self.left_by_others(gram, users, atom);
            let weights = users.iter().map(|&(sample, place)| self.codes[sample].weights[place]);
            let old = DVector::from_iterator(users.len(), weights);
            // What is left of samples that other atoms explain is rounding, and no direction.
            let largest = users.iter().fold(0.0, |most: f64, &(sample, _)| most.max(gram[(sample, sample)]));
            let least = EXPLAINED * largest * rest.amax().max(1.0);
            let Some((value, vector)) = top_eigenpair(&rest.tr_mul(&rest_image), &old).filter(|pair| pair.0 > least)
            else {
                continue;
            };
            let (mut new, mut image) = (&rest * &vector / value.sqrt(), &rest_image * &vector / value.sqrt());
            // Of length 1 but for rounding, which may be felt where little is left.
            let rounding = new.dot(&image).sqrt();
            new /= rounding;
            image /= rounding;
            self.atoms.set_column(atom, &new);
            self.images.set_column(atom, &image);
            for (&(sample, place), weight) in users.iter().zip(vector.iter()) {
                self.codes[sample].weights[place] = value.sqrt() * rounding * weight;
            }
        }
        self.refresh_errors(gram);
    }

    /// Brings the atoms to length 1 under another kernel, and the weights and errors of codes to match.
    pub(crate) fn move_to(&mut self, gram: &DMatrix<f64>) {
        self.images = gram * &self.atoms;
        let mut lengths = Vec::with_capacity(self.atoms.ncols());
        for (mut atom, mut image) in self.atoms.column_iter_mut().zip(self.images.column_iter_mut()) {
            let squared = atom.dot(&image);
            let length = if squared > 0.0 { squared.sqrt() } else { 1.0 };
            atom /= length;
            image /= length;
            lengths.push(length);
        }
        for code in &mut self.codes {
            code.atoms.iter().zip(&mut code.weights).for_each(|(&atom, weight)| *weight *= lengths[atom]);
        }
        self.refresh_errors(gram);
    }

    fn refresh_errors(&mut self, gram: &DMatrix<f64>) {
        let norms: Vec<f64> = gram.diagonal().iter().copied().collect();
        let (atom_gram, products) = (self.gram(), self.images.transpose());
        self.measure_errors(&atom_gram, &products, &norms);
    }

    /// The squared error of each code.
    fn measure_errors(&mut self, atom_gram: &DMatrix<f64>, products: &DMatrix<f64>, norms: &[f64]) {
        let n_atoms = self.atoms.ncols();
        for (sample, code) in self.codes.iter_mut().enumerate() {
            let products = &products.as_slice()[sample * n_atoms..][..n_atoms];
            code.squared_error = code.error_on(atom_gram, products, norms[sample]);
        }
    }

    /// $E$ and $KE$ over the samples that use an atom: what all other atoms leave of them.
    fn left_by_others(
        &self,
        gram: &DMatrix<f64>,
        users: &[(usize, usize)],
        atom: usize,
    ) -> (DMatrix<f64>, DMatrix<f64>) {
        let n = gram.ncols();
        let (mut rest, mut rest_image) = (DMatrix::zeros(n, users.len()), DMatrix::zeros(n, users.len()));
        for (column, &(sample, _)) in users.iter().enumerate() {
            let (mut rest, mut image) = (rest.column_mut(column), rest_image.column_mut(column));
            rest[sample] = 1.0;
            image.copy_from(&gram.column(sample));
            for (other, weight) in self.codes[sample].entries().filter(|(other, _)| *other != atom) {
                rest.axpy(-weight, &self.atoms.column(other), 1.0);
                image.axpy(-weight, &self.images.column(other), 1.0);
            }
        }
        (rest, rest_image)
    }
}

/// A squared length below this part of the samples' is left alone: an atom of it would be a difference of nearly equal samples, with large weights and few digits.
const EXPLAINED: f64 = 1e-9;
/// Orders up to which squaring is the quicker way.
const SMALL: usize = 24;
/// Squarings before another way is taken: the 1024th power leaves nothing of eigenvalues below 0.97 of the largest.
const N_SQUARINGS: usize = 10;
/// Steps of Lanczos' method before the whole decomposition is taken instead.
const MAX_STEPS: usize = 40;
/// Residual of an eigenpair, as a part of the eigenvalue, that is as good as none.
const CONVERGED: f64 = 1e-12;

/// The largest eigenvalue of a positive semidefinite matrix and a vector of length 1 with entries that add up to at least 0; `None` where there is none above 0.
fn top_eigenpair(matrix: &DMatrix<f64>, start: &DVector<f64>) -> Option<(f64, DVector<f64>)> {
    let n = matrix.ncols();
    let symmetric = (matrix + matrix.transpose()) * 0.5;
    let (value, mut vector) = if n == 1 {
        (symmetric[(0, 0)], DVector::from_element(1, 1.0))
    } else {
        let quick = if n > SMALL { lanczos(&symmetric, start) } else { by_squaring(&symmetric) };
        quick.unwrap_or_else(|| {
            let eigen = SymmetricEigen::new(symmetric);
            let top = mil_core::argmax(eigen.eigenvalues.as_slice());
            (eigen.eigenvalues[top], eigen.eigenvectors.column(top).into_owned())
        })
    };
    if !(value > f64::MIN_POSITIVE && value.is_finite()) {
        return None;
    }
    if vector.sum() < 0.0 {
        vector.neg_mut();
    }
    Some((value, vector))
}

/// High powers of a matrix are of rank one, in the direction of its largest eigenvalue: squares it over and over; `None` where others are so near that this does not suffice.
fn by_squaring(matrix: &DMatrix<f64>) -> Option<(f64, DVector<f64>)> {
    let mut power = matrix / matrix.trace();
    for _ in 0..N_SQUARINGS {
        power = &power * &power;
        power /= power.trace();
        // Of trace 1, hence the sum of squared eigenvalues is 1 for rank one and less for all others. What is left of other directions is the root of what is missing.
        if power.norm_squared() > 1.0 - f64::EPSILON {
            let lengths: Vec<f64> = power.column_iter().map(|column| column.norm_squared()).collect();
            // Once more the matrix itself, which lessens what is left.
            let vector = (matrix * power.column(mil_core::argmax(&lengths))).normalize();
            let image = matrix * &vector;
            let value = image.dot(&vector);
            return ((image - &vector * value).norm() <= CONVERGED * value).then_some((value, vector));
        }
    }
    None
}

/// Lanczos' method with full reorthogonalisation, from the weights that the atom has; `None` where it has not converged.
fn lanczos(matrix: &DMatrix<f64>, start: &DVector<f64>) -> Option<(f64, DVector<f64>)> {
    let n = matrix.ncols();
    // A little of everything, lest the start be orthogonal to what is sought.
    let mut direction = start.normalize().add_scalar(1e-3 / (n as f64).sqrt()).normalize();
    if !direction.iter().all(|value| value.is_finite()) {
        return None;
    }
    let mut basis: Vec<DVector<f64>> = Vec::with_capacity(MAX_STEPS);
    let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..MAX_STEPS.min(n) {
        let mut image = matrix * &direction;
        diagonal.push(image.dot(&direction));
        basis.push(direction);
        for _ in 0..2 {
            for earlier in &basis {
                let overlap = image.dot(earlier);
                image.axpy(-overlap, earlier, 1.0);
            }
        }
        let length = image.norm();
        let order = diagonal.len();
        let small = DMatrix::from_fn(order, order, |i, j| match i.abs_diff(j) {
            0 => diagonal[i],
            1 => beside[i.min(j)],
            _ => 0.0,
        });
        let eigen = SymmetricEigen::new(small);
        let top = mil_core::argmax(eigen.eigenvalues.as_slice());
        let (value, weights) = (eigen.eigenvalues[top], eigen.eigenvectors.column(top).into_owned());
        if length * weights[order - 1].abs() <= CONVERGED * value.abs() {
            let mut vector = DVector::zeros(n);
            basis.iter().zip(weights.iter()).for_each(|(direction, weight)| vector.axpy(*weight, direction, 1.0));
            return Some((value, vector.normalize()));
        }
        beside.push(length);
        direction = image / length;
    }
    None
}

#[cfg(test)]
mod tests {
    use mil_testkit::golden::{matrix, number, read};
    use proptest::prelude::*;

    use super::*;

    fn codes_of_columns(codes: &DMatrix<f64>) -> Vec<Code> {
        let code = |column: nalgebra::DVectorView<'_, f64>| {
            let atoms: Vec<usize> = (0..column.len()).filter(|&atom| column[atom] != 0.0).collect();
            Code { weights: atoms.iter().map(|&atom| column[atom]).collect(), atoms, squared_error: 0.0 }
        };
        codes.column_iter().map(code).collect()
    }

    fn columns_of_codes(codes: &[Code], n_atoms: usize) -> DMatrix<f64> {
        DMatrix::from_columns(&codes.iter().map(|code| code.to_vector(n_atoms)).collect::<Vec<_>>())
    }

    /// $\lVert\Phi(Y)(I-AX)\rVert^2$ from the definition.
    fn error_of(gram: &DMatrix<f64>, atoms: &DMatrix<f64>, codes: &DMatrix<f64>) -> f64 {
        let residual = DMatrix::identity(gram.ncols(), gram.ncols()) - atoms * codes;
        (residual.transpose() * gram * residual).trace()
    }

    fn golden_dictionary(golden: &serde_json::Value) -> (DMatrix<f64>, Dictionary) {
        let gram = matrix(&golden["K"]);
        let dictionary = Dictionary::new(&gram, matrix(&golden["A"]));
        (gram, Dictionary { codes: codes_of_columns(&matrix(&golden["X"])), ..dictionary })
    }

    #[test]
    fn a_sweep_agrees_with_the_golden_one() {
        let golden = read(include_str!("../../../fixtures/golden/ksvd_atom.json"));
        let (gram, mut dictionary) = golden_dictionary(&golden);
        let before = error_of(&gram, &dictionary.atoms, &matrix(&golden["X"]));
        assert!((before - number(&golden["error_before"])).abs() < 1e-12);
        dictionary.update_atoms(&gram);
        let Dictionary { atoms, codes, .. } = &dictionary;
        let (expected_atoms, expected_codes) = (matrix(&golden["sweep_A"]), matrix(&golden["sweep_X"]));
        let found = columns_of_codes(codes, 4);
        // Each atom with its weights, whose common sign is free.
        for atom in 0..4 {
            let outer = |atoms: &DMatrix<f64>, codes: &DMatrix<f64>| atoms.column(atom) * codes.row(atom);
            assert!((outer(atoms, &found) - outer(&expected_atoms, &expected_codes)).amax() < 1e-10, "atom {atom}");
        }
        assert!((dictionary.squared_error() - number(&golden["error_after_sweep"])).abs() < 1e-12);
    }

    #[test]
    fn one_atom_agrees_with_the_golden_one() {
        let golden = read(include_str!("../../../fixtures/golden/ksvd_atom.json"));
        let (gram, dictionary) = golden_dictionary(&golden);
        let place_in = |code: &Code| code.atoms.iter().position(|&atom| atom == 1);
        let users: Vec<(usize, usize)> = dictionary
            .codes
            .iter()
            .enumerate()
            .filter_map(|(sample, code)| place_in(code).map(|place| (sample, place)))
            .collect();
        let (rest, image) = dictionary.left_by_others(&gram, &users, 1);
        let (value, vector) = top_eigenpair(&rest.tr_mul(&image), &DVector::zeros(users.len())).unwrap();
        let (atom, weights) = (&rest * &vector / value.sqrt(), vector * value.sqrt());
        let outer = matrix(&golden["outer"]);
        for (&(sample, _), weight) in users.iter().zip(weights.iter()) {
            assert!((&atom * *weight - outer.column(sample)).amax() < 1e-12);
        }
    }

    fn samples() -> impl Strategy<Value = DMatrix<f64>> {
        (3usize..=6, 6usize..=14).prop_flat_map(|(rows, columns)| {
            prop::collection::vec(-1.0..1.0, rows * columns)
                .prop_map(move |values| DMatrix::from_vec(rows, columns, values))
        })
    }

    /// Few directions, each several times but for a little.
    fn near_duplicates() -> impl Strategy<Value = DMatrix<f64>> {
        (samples(), samples(), 1usize..=3, prop::sample::select(vec![0.0, 1e-7, 1e-5, 1e-3])).prop_map(
            |(samples, noise, n_directions, size)| {
                DMatrix::from_fn(samples.nrows(), samples.ncols(), |row, column| {
                    samples[(row, column % n_directions)] + size * noise[(row % noise.nrows(), column % noise.ncols())]
                })
            },
        )
    }

    proptest! {
        #[test]
        fn the_error_never_rises_and_is_what_it_says(samples in prop_oneof![samples(), near_duplicates()], n_atoms in 2usize..=5, sparsity in 1usize..=3, seed in 0u64..100) {
            let gram = samples.transpose() * &samples;
            let learnt = KernelKsvd { n_atoms, sparsity, n_rounds: 6, seed }.fit(&gram).unwrap();
            // Near duplicates have large weights, in which rounding is felt.
            let rounding = 1e-6 * gram.trace();
            prop_assert!(learnt.squared_errors.windows(2).all(|pair| pair[1] <= pair[0] + rounding), "{:?}", learnt.squared_errors);
            let codes = columns_of_codes(&learnt.codes, learnt.atoms.ncols());
            prop_assert!((error_of(&gram, &learnt.atoms, &codes) - learnt.squared_errors[5]).abs() < rounding);
            prop_assert!(learnt.codes.iter().all(|code| code.atoms.len() <= sparsity));
            let lengths = (learnt.atoms.transpose() * &gram * &learnt.atoms).diagonal();
            prop_assert!(lengths.iter().all(|length| (length - 1.0).abs() < 1e-6), "{}", lengths);
        }

        #[test]
        fn with_a_linear_kernel_a_sweep_is_the_plain_one(samples in samples(), seed in 0u64..100) {
            let gram = samples.transpose() * &samples;
            let mut dictionary = Dictionary::of_samples(&gram, 3, seed, "test").unwrap();
            dictionary.update_codes(&gram, 2);
            // Aharon, Elad & Bruckstein: the singular value decomposition of what the other atoms leave.
            let (mut plain, mut weights) = (&samples * &dictionary.atoms, columns_of_codes(&dictionary.codes, 3));
            for atom in 0..3 {
                let users: Vec<usize> = (0..gram.ncols()).filter(|&sample| weights[(atom, sample)] != 0.0).collect();
                if users.is_empty() {
                    continue;
                }
                let rest = &samples - &plain * &weights + plain.column(atom) * weights.row(atom);
                let svd = rest.select_columns(&users).svd(true, true);
                let top = mil_core::argmax(svd.singular_values.as_slice());
                plain.set_column(atom, &svd.u.unwrap().column(top));
                for (column, &sample) in users.iter().enumerate() {
                    weights[(atom, sample)] = svd.singular_values[top] * svd.v_t.as_ref().unwrap()[(top, column)];
                }
            }
            dictionary.update_atoms(&gram);
            let found = &samples * &dictionary.atoms * columns_of_codes(&dictionary.codes, 3);
            prop_assert!((found - plain * weights).amax() < 1e-6);
        }
    }

    #[test]
    fn lanczos_finds_what_the_whole_decomposition_finds() {
        for n in [25, 80, 150] {
            let factor = DMatrix::from_fn(n, 7, |i, j| ((i * (j + 3) + i * i) % 13) as f64 - 6.0);
            let matrix = &factor * factor.transpose();
            let (value, vector) = lanczos(&matrix, &DVector::from_element(n, 1.0)).expect("seven steps suffice");
            let eigen = SymmetricEigen::new(matrix.clone());
            let top = eigen.eigenvalues.max();
            assert!((value - top).abs() < 1e-9 * top);
            assert!((&matrix * &vector - &vector * value).norm() < 1e-9 * top);
        }
    }

    #[test]
    fn squaring_finds_what_the_whole_decomposition_finds_or_says_that_it_does_not() {
        let mut n_found = 0;
        for n in 2..=24 {
            let factor = DMatrix::from_fn(n, n, |i, j| ((i * (j + 3) + i * i + j) % 13) as f64 - 6.0);
            let matrix = &factor * factor.transpose();
            let top = SymmetricEigen::new(matrix.clone()).eigenvalues.max();
            if let Some((value, vector)) = by_squaring(&matrix) {
                assert!(
                    (value - top).abs() < 1e-11 * top && (&matrix * &vector - &vector * value).norm() < 1e-10 * top
                );
                n_found += 1;
            }
        }
        assert!(n_found > 18, "{n_found}");
        // Eigenvalues that are equal, or nearly.
        let near = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 0.999, 0.5]));
        assert!(by_squaring(&near).is_none());
        assert!(by_squaring(&DMatrix::identity(3, 3)).is_none());
        assert!(by_squaring(&DMatrix::zeros(3, 3)).is_none());
    }

    #[test]
    fn samples_without_direction_are_refused() {
        let error = KernelKsvd::default().fit(&DMatrix::zeros(3, 3)).unwrap_err();
        assert!(error.to_string().contains("all 3 samples are 0"), "{error}");
        assert!(KernelKsvd::default().fit(&DMatrix::zeros(3, 2)).is_err());
        assert!(KernelKsvd { n_atoms: 0, ..Default::default() }.fit(&DMatrix::identity(2, 2)).is_err());
    }
}
