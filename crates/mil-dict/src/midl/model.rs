//! Classification by two dictionaries (§4).

use mil_core::model_file::SavedModel;
use mil_core::{Bag, BagModel, ScoreError, argmax, finite_score};
use mil_kernels::{Kernel, cross_gram, diagonal};
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

use crate::input::{InputForm, Preparation};
use crate::omp::{codes_of, transposed_product};
use crate::pre_image::{PreImage, pre_image};

/// Two dictionaries in the feature space of one kernel, $D_p=\Phi(Y)A_p$ and $D_n=\Phi(Y)A_n$.
///
/// An instance $y$ gets one code $x=(x_p;x_n)$ of at most $T_1$ atoms on both together (eq. 39); its score is
///
/// $$ \epsilon_n-\epsilon_p=\lVert\phi(y)-D_nx_n\rVert^2-\lVert\phi(y)-D_px_p\rVert^2, $$
///
/// at least 0 where eq. 43 says positive. The score of a bag is that of its instance with the largest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MidlModel {
    kernel: Kernel,
    preparation: Preparation,
    /// The instances that atoms are made of, as the kernel sees them.
    #[serde(deserialize_with = "mil_core::model_file::checked_matrix")]
    instances: DMatrix<f64>,
    /// Weights of these, an atom for each column, positive atoms first.
    #[serde(deserialize_with = "mil_core::model_file::checked_matrix")]
    atoms: DMatrix<f64>,
    n_positive_atoms: usize,
    /// Inner products of the atoms.
    #[serde(deserialize_with = "mil_core::model_file::checked_matrix")]
    gram: DMatrix<f64>,
    sparsity: usize,
}

/// One of the two dictionaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// $D_p$.
    Positive,
    /// $D_n$.
    Negative,
}

/// Both dictionaries and the kernel over the instances they are made of.
pub(crate) struct Halves<'a> {
    pub(crate) positive: &'a DMatrix<f64>,
    pub(crate) negative: &'a DMatrix<f64>,
    pub(crate) positive_kernel: &'a DMatrix<f64>,
    pub(crate) negative_kernel: &'a DMatrix<f64>,
    /// A row for each positive instance.
    pub(crate) cross_kernel: &'a DMatrix<f64>,
}

impl MidlModel {
    /// The positive instances come first.
    pub(crate) fn new(
        kernel: Kernel,
        preparation: Preparation,
        instances: DMatrix<f64>,
        halves: &Halves<'_>,
        sparsity: usize,
    ) -> MidlModel {
        let Halves { positive, negative, .. } = halves;
        let ((n_p, k_p), (n_n, k_n)) = (positive.shape(), negative.shape());
        let mut atoms = DMatrix::zeros(n_p + n_n, k_p + k_n);
        atoms.view_mut((0, 0), (n_p, k_p)).copy_from(positive);
        atoms.view_mut((n_p, k_p), (n_n, k_n)).copy_from(negative);
        MidlModel { kernel, preparation, instances, atoms, n_positive_atoms: k_p, gram: halves.gram(), sparsity }
    }

    /// The kernel that was learnt, $\sum_b\beta_bk_b$ over those with a weight.
    #[must_use]
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Number of atoms of a dictionary.
    #[must_use]
    pub fn n_atoms(&self, side: Side) -> usize {
        match side {
            Side::Positive => self.n_positive_atoms,
            Side::Negative => self.atoms.ncols() - self.n_positive_atoms,
        }
    }

    /// What an atom looks like: the instance whose image in feature space is nearest to it, as far as a fixed-point iteration finds it (see [`PreImage`]).
    ///
    /// # Panics
    /// If there is no such atom.
    #[must_use]
    pub fn pre_image(&self, side: Side, atom: usize) -> PreImage {
        assert!(atom < self.n_atoms(side), "atom {atom} of {}", self.n_atoms(side));
        let first = if side == Side::Positive { 0 } else { self.n_positive_atoms };
        let weights: Vec<f64> = self.atoms.column(first + atom).iter().copied().collect();
        pre_image(&self.kernel, &self.instances, &weights, self.preparation.form == InputForm::UnitNorm)
    }

    /// $\epsilon_n-\epsilon_p$ of each instance.
    fn values(&self, bag: Bag<'_>) -> Result<Vec<f64>, ScoreError> {
        bag.require_features(self.instances.nrows())?;
        let overflow = |_| ScoreError::Overflow { name: bag.name().to_owned(), value: f64::INFINITY };
        let instances = self.preparation.apply(bag.matrix());
        let products =
            transposed_product(&self.atoms, &cross_gram(&self.kernel, &self.instances, &instances).map_err(overflow)?);
        let norms = diagonal(&self.kernel, &instances).map_err(overflow)?;
        let codes = codes_of(&self.gram, &products, &norms, self.sparsity);
        let n_atoms = self.atoms.ncols();
        let value = |(code, products): (&crate::Code, &[f64])| {
            let is_positive = |atom: usize| atom < self.n_positive_atoms;
            // k(y, y) is in both errors and cancels.
            let of_positives = code.gain(&self.gram, products, is_positive);
            let of_negatives = code.gain(&self.gram, products, |atom| !is_positive(atom));
            finite_score(bag, of_negatives - of_positives)
        };
        codes.iter().zip(products.as_slice().chunks(n_atoms)).map(value).collect()
    }
}

impl Halves<'_> {
    fn gram(&self) -> DMatrix<f64> {
        let (k_p, k_n) = (self.positive.ncols(), self.negative.ncols());
        let mut gram = DMatrix::zeros(k_p + k_n, k_p + k_n);
        let across = self.positive.tr_mul(&(self.cross_kernel * self.negative));
        gram.view_mut((0, 0), (k_p, k_p)).copy_from(&self.positive.tr_mul(&(self.positive_kernel * self.positive)));
        gram.view_mut((k_p, k_p), (k_n, k_n)).copy_from(&self.negative.tr_mul(&(self.negative_kernel * self.negative)));
        gram.view_mut((0, k_p), (k_p, k_n)).copy_from(&across);
        gram.view_mut((k_p, 0), (k_n, k_p)).copy_from(&across.transpose());
        gram
    }
}

impl BagModel for MidlModel {
    fn n_features(&self) -> usize {
        self.instances.nrows()
    }

    fn score(&self, bag: Bag<'_>) -> Result<f64, ScoreError> {
        let values = self.values(bag)?;
        Ok(values[argmax(&values)])
    }

    fn instance_scores(&self, bag: Bag<'_>) -> Result<Option<Vec<f64>>, ScoreError> {
        self.values(bag).map(Some)
    }
}

impl SavedModel for MidlModel {
    fn kind() -> String {
        "midl".to_owned()
    }

    fn check(&self) -> Result<(), &'static str> {
        let finite = |matrix: &DMatrix<f64>| matrix.iter().all(|value| value.is_finite());
        let n_atoms = self.atoms.ncols();
        if !(finite(&self.instances) && finite(&self.atoms) && finite(&self.gram)) {
            Err("an instance, atom or product is not a number")
        } else if self.instances.is_empty()
            || self.instances.ncols() != self.atoms.nrows()
            || self.gram.shape() != (n_atoms, n_atoms)
            || !(1..n_atoms).contains(&self.n_positive_atoms)
        {
            Err("instances, atoms and products do not fit each other")
        } else if self.kernel.check().is_err() || self.sparsity == 0 {
            Err("the kernel or the sparsity is out of range")
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use mil_testkit::golden::{matrix, numbers, read};

    use super::*;

    #[test]
    fn errors_on_both_dictionaries_agree_with_the_golden_ones() {
        let golden = read(include_str!("../../../../fixtures/golden/select_classify.json"));
        let [positive_kernel, negative_kernel, across] = ["K_pp", "K_nn", "K_np"].map(|name| matrix(&golden[name]));
        let [positive, negative] = ["A_p", "A_n"].map(|name| matrix(&golden[name]));
        let halves = Halves {
            positive: &positive,
            negative: &negative,
            positive_kernel: &positive_kernel,
            negative_kernel: &negative_kernel,
            cross_kernel: &across.transpose(),
        };
        let gram = halves.gram();
        let products = DMatrix::from_fn(7, 6, |atom, sample| match atom {
            0..3 => positive.column(atom).dot(&positive_kernel.column(sample)),
            _ => negative.column(atom - 3).dot(&across.column(sample)),
        });
        let norms: Vec<f64> = positive_kernel.diagonal().iter().copied().collect();
        let codes = codes_of(&gram, &products, &norms, 3);
        let [of_positives, of_negatives] = ["eps_p", "eps_n"].map(|name| numbers(&golden[name]));
        for (sample, code) in codes.iter().enumerate() {
            assert!((code.to_vector(7) - matrix(&golden["joint_codes"]).column(sample)).amax() < 1e-12);
            let products = &products.as_slice()[7 * sample..][..7];
            let positive = norms[sample] + code.gain(&gram, products, |atom| atom < 3);
            let negative = norms[sample] + code.gain(&gram, products, |atom| atom >= 3);
            assert!((positive - of_positives[sample]).abs() < 1e-12 && (negative - of_negatives[sample]).abs() < 1e-12);
            assert_eq!(positive <= negative, numbers(&golden["labels"])[sample] > 0.0);
        }
    }

    /// A file's matrix as it is written: values, rows, columns.
    type Written = (Vec<f64>, usize, usize);

    /// What a forger would write in place of a model.
    #[derive(Serialize, Deserialize)]
    struct Forged {
        kernel: Kernel,
        preparation: Preparation,
        instances: Written,
        atoms: Written,
        n_positive_atoms: usize,
        gram: Written,
        sparsity: usize,
    }

    impl SavedModel for Forged {
        fn kind() -> String {
            MidlModel::kind()
        }

        fn check(&self) -> Result<(), &'static str> {
            Ok(())
        }
    }

    #[test]
    fn a_forged_file_whose_matrices_are_larger_than_their_memory_is_refused() {
        let preparation = Preparation { form: InputForm::AsGiven, clips: false };
        let forged = |atoms: Written, gram: Written| {
            let instances = (vec![1.0; 4], 2, 2);
            let forged = Forged {
                kernel: Kernel::Linear,
                preparation,
                instances,
                atoms,
                n_positive_atoms: 1,
                gram,
                sparsity: 1,
            };
            mil_core::model_file::decode::<MidlModel>(&mil_core::model_file::encode(&forged, &[]).unwrap())
        };
        assert!(forged((vec![1.0; 4], 2, 2), (vec![1.0; 4], 2, 2)).is_ok(), "the same bytes as a model's");
        // The products of these dimensions overflow to 0.
        assert!(forged((Vec::new(), 2, 1 << 63), (Vec::new(), 1 << 63, 1 << 63)).is_err());
    }

    #[test]
    fn a_file_with_numbers_that_no_fit_gives_is_refused() {
        let one = DMatrix::from_element(1, 1, 1.0);
        let halves =
            Halves { positive: &one, negative: &one, positive_kernel: &one, negative_kernel: &one, cross_kernel: &one };
        let preparation = Preparation { form: InputForm::AsGiven, clips: false };
        let model = MidlModel::new(Kernel::Linear, preparation, DMatrix::from_element(1, 2, 1.0), &halves, 1);
        assert_eq!(model.check(), Ok(()));
        assert!(MidlModel { gram: DMatrix::zeros(1, 2), ..model.clone() }.check().is_err());
        assert!(MidlModel { n_positive_atoms: 2, ..model.clone() }.check().is_err());
        assert!(MidlModel { sparsity: 0, ..model.clone() }.check().is_err());
        assert!(MidlModel { instances: DMatrix::from_element(1, 2, f64::NAN), ..model.clone() }.check().is_err());
        assert!(MidlModel { kernel: Kernel::Gaussian { gamma: -1.0 }, ..model }.check().is_err());
    }
}
