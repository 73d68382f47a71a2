//! Algorithm 1.

use std::ops::Range;

use mil_core::{BagSet, FitError, Label, Learner, Params, Tunable, argmax, stream};
use mil_kernels::Kernel;
use nalgebra::DMatrix;
use rand::RngExt;

use super::model::{Halves, MidlModel};
use super::params::{Midl, Selection};
use super::trace::{Cost, MidlIteration, MidlTrace, Stop};
use crate::DictError;
use crate::base_grams::BaseGrams;
use crate::base_kernels::uses_intersection;
use crate::input::Preparation;
use crate::ksvd::Dictionary;
use crate::omp::{codes_of, transposed_product};
use crate::weights::{ChosenBlocks, Dictionaries, KernelWeights, Trade, WeightProblem};

pub(crate) const NAME: &str = "MIDL";

impl Learner for Midl {
    type Model = MidlModel;

    fn fit(&self, bags: &BagSet<Label>) -> Result<MidlModel, FitError> {
        self.fit_traced(bags).map(|(model, _)| model)
    }
}

/// Nothing is shared: the values of base kernels depend on which instances stand where.
impl Tunable for Midl {
    type Values<'a> = ();

    fn shares_values(&self, _: &Midl) -> bool {
        true
    }

    fn values(&self, _: &BagSet<Label>) -> Result<(), FitError> {
        Ok(())
    }
}

impl Midl {
    /// Fits, and tells how: costs, kernel weights and selections of all iterations.
    ///
    /// # Errors
    /// As for [`fit`](Learner::fit).
    pub fn fit_traced(&self, bags: &BagSet<Label>) -> Result<(MidlModel, MidlTrace), FitError> {
        let params = self.check()?;
        bags.require_both_classes()?;
        params.learn(bags).map_err(|error| error.of(NAME))
    }

    /// Algorithm 1. The parameters are checked, and both classes have bags.
    fn learn(&self, bags: &BagSet<Label>) -> Result<(MidlModel, MidlTrace), DictError> {
        let data = Data::new(self, bags)?;
        let mut state = State::new(self, &data)?;
        let mut iterations = Vec::new();
        let mut stop = Stop::IterationLimit;
        for t in 0..self.n_iterations {
            let ramp = (t as f64 / self.n_ramp as f64).min(1.0);
            let trade = Trade {
                orthogonality: ramp * self.orthogonality,
                positives: ramp * self.positives,
                unit_length: self.unit_length,
            };
            let weighed = state.update_weights(trade)?;
            let after_weights = state.cost();
            state.update_dictionaries(self.sparsity);
            let after_dictionaries = state.cost();
            let n_changed = state.update_selection(self, trade.orthogonality, t)?;
            iterations.push(MidlIteration {
                orthogonality: trade.orthogonality,
                positives: trade.positives,
                kernel_weights: state.weights.clone(),
                certificate: weighed.certificate,
                weight_objectives: weighed.objectives,
                after_weights,
                after_dictionaries,
                after_selection: state.cost(),
                n_changed,
            });
            if t > self.n_ramp && has_converged(&iterations, self.tolerance) {
                stop = Stop::Converged;
                break;
            }
        }
        state.positive.round(&state.chosen_kernel, self.sparsity);
        let trace = MidlTrace {
            kernels: data.kernels.clone(),
            kernel_weights: state.weights.clone(),
            chosen: state.chosen.iter().map(|&idx| data.positions[idx]).collect(),
            iterations,
            stop,
        };
        Ok((state.into_model(self), trace))
    }
}

fn has_converged(iterations: &[MidlIteration], tolerance: f64) -> bool {
    let [.., before, last] = iterations else { return false };
    let change = (last.cost() - before.cost()).abs();
    tolerance > 0.0 && last.n_changed == 0 && change <= tolerance * before.cost()
}

/// The training instances as the algorithm sees them: those of negative bags, then those of positive bags.
struct Data {
    kernels: Vec<Kernel>,
    grams: BaseGrams,
    preparation: Preparation,
    instances: DMatrix<f64>,
    n_negative: usize,
    /// The instances of each positive bag, counted among those of all positive bags.
    bags: Vec<Range<usize>>,
    /// Where in the training set each instance of a positive bag is.
    positions: Vec<usize>,
}

impl Data {
    fn new(params: &Midl, bags: &BagSet<Label>) -> Result<Data, DictError> {
        let columns_of = |label| {
            let with_label = (0..bags.n_bags()).filter(move |&idx| bags.labels()[idx] == label);
            with_label.map(|idx| bags.columns_of(idx)).collect::<Vec<Range<usize>>>()
        };
        let negatives: Vec<usize> = columns_of(Label::Negative).into_iter().flatten().collect();
        let mut ranges = Vec::new();
        let mut positions = Vec::new();
        for columns in columns_of(Label::Positive) {
            ranges.push(positions.len()..positions.len() + columns.len());
            positions.extend(columns);
        }
        let below_zero = first_below_zero(bags);
        let base = params.kernels.kernels(below_zero.is_some());
        let clips = base.iter().any(uses_intersection);
        match below_zero {
            Some(error) if clips => return Err(error),
            _ => {}
        }
        let preparation = Preparation { form: params.input, clips };
        let kernels: Vec<Kernel> = base.into_iter().map(|kernel| params.scale.of(kernel)).collect();
        let order: Vec<usize> = negatives.iter().chain(&positions).copied().collect();
        let instances = preparation.apply(bags.instances().select_columns(&order).as_view());
        let grams = BaseGrams::new(&kernels, &instances, negatives.len(), params.memory_mib)?;
        Ok(Data { kernels, grams, preparation, instances, n_negative: negatives.len(), bags: ranges, positions })
    }
}

/// The first feature below 0, as the error that it is for histogram intersection.
fn first_below_zero(bags: &BagSet<Label>) -> Option<DictError> {
    bags.bags().find_map(|bag| {
        let at = bag.values().iter().position(|value| *value < 0.0)?;
        Some(DictError::BelowZero {
            bag: bag.name().to_owned(),
            instance_idx: at / bag.n_features(),
            feature_idx: at % bag.n_features(),
            value: bag.values()[at],
        })
    })
}

/// What the algorithm updates.
struct State<'a> {
    data: &'a Data,
    /// $\beta$.
    weights: Vec<f64>,
    /// $K(Y_n,Y_n)$, $K(Y_n,Y_p)$ and $k(y,y)$ of the instances of positive bags.
    negative_kernel: DMatrix<f64>,
    cross_kernel: DMatrix<f64>,
    positive_norms: Vec<f64>,
    negative: Dictionary,
    /// $\Omega$: the instance chosen from each positive bag, counted among those of all positive bags.
    chosen: Vec<usize>,
    /// The base kernels over the chosen instances.
    blocks: ChosenBlocks,
    /// $\Omega^\top K(Y_p,Y_p)\Omega$ (eq. 23).
    chosen_kernel: DMatrix<f64>,
    /// Over the chosen instances (eqs. 24, 25).
    positive: Dictionary,
}

impl<'a> State<'a> {
    /// §3.6.
    fn new(params: &Midl, data: &'a Data) -> Result<State<'a>, DictError> {
        let n_kernels = data.grams.n_kernels();
        let weights = vec![1.0 / n_kernels as f64; n_kernels];
        let negative_kernel = data.grams.mixed(&data.grams.negatives, &weights);
        let cross_kernel = data.grams.mixed(&data.grams.across, &weights);
        let mut negative =
            Dictionary::of_samples(&negative_kernel, params.n_negative_atoms, params.seed, "negative dictionary")?;
        negative.update_codes(&negative_kernel, params.sparsity);
        for _ in 0..params.n_initial_rounds {
            negative.round(&negative_kernel, params.sparsity);
        }
        let mut state = State {
            positive_norms: data.grams.mixed_diagonal(&weights)[data.n_negative..].to_vec(),
            data,
            weights,
            negative_kernel,
            cross_kernel,
            negative,
            chosen: Vec::new(),
            blocks: ChosenBlocks::of(&data.grams, &[]),
            chosen_kernel: DMatrix::zeros(0, 0),
            positive: Dictionary::new(&DMatrix::zeros(0, 0), DMatrix::zeros(0, 0)),
        };
        let chosen = state.select(params, 0.0);
        state.choose(chosen);
        let kernel = &state.chosen_kernel;
        state.positive = Dictionary::of_samples(kernel, params.n_positive_atoms, params.seed, "positive dictionary")?;
        state.positive.update_codes(kernel, params.sparsity);
        Ok(state)
    }

    /// Step 1: $\beta$ by eq. 26, then atoms of length 1 under the new kernel.
    fn update_weights(&mut self, trade: Trade) -> Result<KernelWeights, DictError> {
        let dictionaries = Dictionaries {
            negative_atoms: &self.negative.atoms,
            negative_residual: self.negative.residual_form(),
            positive_atoms: &self.positive.atoms,
            positive_residual: self.positive.residual_form(),
        };
        let solved = WeightProblem::new(&self.data.grams, &self.blocks, &dictionaries, trade).solve(&self.weights)?;
        self.weights.clone_from(&solved.values);
        let grams = &self.data.grams;
        self.negative_kernel = grams.mixed(&grams.negatives, &self.weights);
        self.cross_kernel = grams.mixed(&grams.across, &self.weights);
        self.positive_norms = grams.mixed_diagonal(&self.weights)[self.data.n_negative..].to_vec();
        self.chosen_kernel = grams.mixed(&self.blocks.among, &self.weights);
        self.negative.move_to(&self.negative_kernel);
        self.positive.move_to(&self.chosen_kernel);
        Ok(solved)
    }

    /// Steps 2 and 3.
    fn update_dictionaries(&mut self, sparsity: usize) {
        self.negative.round(&self.negative_kernel, sparsity);
        self.positive.round(&self.chosen_kernel, sparsity);
    }

    /// Step 4, and the positive dictionary after it; gives the number of bags of which another instance was chosen.
    fn update_selection(&mut self, params: &Midl, orthogonality: f64, t: usize) -> Result<usize, DictError> {
        let chosen = self.select(params, orthogonality);
        let changed: Vec<usize> = (0..chosen.len()).filter(|&bag| chosen[bag] != self.chosen[bag]).collect();
        if changed.is_empty() {
            return Ok(0);
        }
        self.choose(chosen);
        for &bag in &changed {
            self.positive.atoms.row_mut(bag).fill(0.0);
        }
        self.revive_atoms(params.seed, t)?;
        self.positive = Dictionary::new(&self.chosen_kernel, self.positive.atoms.clone());
        self.positive.update_codes(&self.chosen_kernel, params.sparsity);
        Ok(changed.len())
    }

    /// Takes these instances from now on.
    fn choose(&mut self, chosen: Vec<usize>) {
        let grams = &self.data.grams;
        self.blocks = ChosenBlocks::of(grams, &chosen);
        self.chosen_kernel = grams.mixed(&self.blocks.among, &self.weights);
        self.chosen = chosen;
    }

    /// Brings the positive atoms to length 1; those that have none begin anew at a chosen instance drawn at random.
    fn revive_atoms(&mut self, seed: u64, t: usize) -> Result<(), DictError> {
        let kernel = &self.chosen_kernel;
        let usable: Vec<usize> = (0..kernel.ncols()).filter(|&bag| kernel[(bag, bag)] > 0.0).collect();
        if usable.is_empty() {
            return Err(DictError::NoDirection { n_samples: kernel.ncols() });
        }
        let mut rng = stream(seed, "positive atoms that begin anew", t as u64);
        for mut atom in self.positive.atoms.column_iter_mut() {
            let squared = (kernel * &atom).dot(&atom);
            if squared > VANISHED {
                atom /= squared.sqrt();
            } else {
                let bag = usable[rng.random_range(0..usable.len())];
                atom.fill(0.0);
                atom[bag] = 1.0 / kernel[(bag, bag)].sqrt();
            }
        }
        Ok(())
    }

    /// The instance of each positive bag with the largest criterion, the first on ties (eq. 38).
    fn select(&self, params: &Midl, orthogonality: f64) -> Vec<usize> {
        let mut criterion = match params.selection {
            Selection::NegativeDictionary => {
                let products = transposed_product(&self.negative.atoms, &self.cross_kernel);
                strangeness(&self.negative.gram(), &products, &self.positive_norms, params.sparsity, orthogonality)
            }
            Selection::SharedByBags => self.witness_function(),
        };
        // What has no length cannot be an atom's; it is chosen only where a bag has nothing else.
        let lengths = criterion.iter_mut().zip(&self.positive_norms);
        lengths.filter(|(_, norm)| **norm <= 0.0).for_each(|(value, _)| *value = f64::NEG_INFINITY);
        self.data.bags.iter().map(|bag| bag.start + argmax(&criterion[bag.clone()])).collect()
    }

    /// See [`Selection::SharedByBags`].
    fn witness_function(&self) -> Vec<f64> {
        let n = self.positive_norms.len();
        let kernel = self.data.grams.mixed(&self.data.grams.positives, &self.weights);
        let mut criterion = vec![0.0; n];
        for bag in &self.data.bags {
            let n_others = n - bag.len();
            for idx in bag.clone() {
                let column = kernel.column(idx);
                let others: f64 = column.sum() - column.rows(bag.start, bag.len()).sum();
                let shared = if n_others > 0 { others / n_others as f64 } else { 0.0 };
                criterion[idx] = shared - self.cross_kernel.column(idx).mean();
            }
        }
        criterion
    }

    fn cost(&self) -> Cost {
        let products = transposed_product(&self.negative.atoms, &self.cross_kernel.select_columns(&self.chosen));
        Cost {
            negatives: self.negative.squared_error(),
            positives: self.positive.squared_error(),
            overlap: products.norm_squared(),
        }
    }

    fn into_model(self, params: &Midl) -> MidlModel {
        let data = self.data;
        let terms = self.weights.iter().copied().zip(data.kernels.iter().cloned());
        let kernel = Kernel::Sum(terms.filter(|(weight, _)| *weight > 0.0).collect());
        let columns: Vec<usize> = self.chosen.iter().map(|idx| data.n_negative + idx).collect();
        let cross = self.cross_kernel.select_columns(&self.chosen).transpose();
        let halves = Halves {
            positive: &self.positive.atoms,
            negative: &self.negative.atoms,
            positive_kernel: &self.chosen_kernel,
            negative_kernel: &self.negative_kernel,
            cross_kernel: &cross,
        };
        let negatives = data.instances.columns(0, data.n_negative);
        let positives = data.instances.select_columns(&columns);
        let instances = DMatrix::from_fn(data.instances.nrows(), columns.len() + data.n_negative, |row, column| {
            if column < columns.len() { positives[(row, column)] } else { negatives[(row, column - columns.len())] }
        });
        MidlModel::new(kernel, data.preparation, instances, &halves, params.test_sparsity)
    }
}

/// $\mathcal E(y)=\lVert\phi(y)-\Phi(Y_n)A_nx\rVert^2-\lambda\lVert A_n^\top K(Y_n,y)\rVert^2$ of each sample, with $x$ its code on the negative dictionary (eqs. 36, 37): from the products between atoms, those of atoms with
/// samples, and the samples' squared lengths.
fn strangeness(
    gram: &DMatrix<f64>,
    products: &DMatrix<f64>,
    squared_norms: &[f64],
    sparsity: usize,
    orthogonality: f64,
) -> Vec<f64> {
    let codes = codes_of(gram, products, squared_norms, sparsity);
    let overlaps = products.column_iter().map(|products| products.norm_squared());
    codes.iter().zip(overlaps).map(|(code, overlap)| code.squared_error - orthogonality * overlap).collect()
}

/// Below this squared length an atom has lost all it was made of.
const VANISHED: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use mil_testkit::golden::{matrix, number, numbers, read};

    use super::*;

    #[test]
    fn the_criterion_of_selection_agrees_with_the_golden_one() {
        let golden = read(include_str!("../../../../fixtures/golden/select_classify.json"));
        let (kernel, across, atoms) = (matrix(&golden["K_nn"]), matrix(&golden["K_np"]), matrix(&golden["A_n"]));
        let gram = atoms.transpose() * &kernel * &atoms;
        let products = atoms.transpose() * &across;
        let norms: Vec<f64> = matrix(&golden["K_pp"]).diagonal().iter().copied().collect();
        for case in golden["selection"].as_array().unwrap() {
            let criterion = strangeness(&gram, &products, &norms, 2, number(&case["lam"]));
            for (found, expected) in criterion.iter().zip(numbers(&case["E"])) {
                assert!((found - expected).abs() < 1e-12);
            }
            let chosen: Vec<f64> = [0..2, 2..4, 4..6].map(|bag| (bag.start + argmax(&criterion[bag])) as f64).to_vec();
            assert_eq!(chosen, numbers(&case["sel"]));
        }
    }

    /// Six bags of each class, of three instances of four features, no two alike.
    fn bags() -> BagSet<Label> {
        let mut builder = BagSet::builder();
        let value = |i: usize| ((i * i * 7 + i * 13 + 5) % 29) as f64 / 29.0;
        for bag in 0..12 {
            let label = if bag % 2 == 0 { Label::Positive } else { Label::Negative };
            let instance =
                |idx: usize| (0..4).map(move |feature| value(40 * bag + 5 * idx + feature)).collect::<Vec<f64>>();
            builder.bag(bag.to_string(), label, (0..3).map(instance)).unwrap();
        }
        builder.build().unwrap()
    }

    /// Raw kernels, so that lengths differ and change with the weights.
    fn midl() -> Midl {
        let kernels = vec![
            Kernel::Linear,
            Kernel::Gaussian { gamma: 1.0 },
            Kernel::Gaussian { gamma: 4.0 },
            Kernel::Polynomial { degree: 2, scale: 1.0, offset: 0.5 },
        ];
        Midl {
            n_negative_atoms: 6,
            n_positive_atoms: 3,
            sparsity: 2,
            kernels: crate::BaseKernels::List(kernels),
            scale: crate::KernelScale::Raw,
            input: crate::InputForm::AsGiven,
            ..Midl::default()
        }
    }

    const FULL: Trade = Trade { orthogonality: 1.0, positives: 1.0, unit_length: 100.0 };

    /// The kernel of a state between two of its instances, from the definition.
    fn kernel_value(state: &State<'_>, i: usize, j: usize) -> f64 {
        let terms = state.weights.iter().copied().zip(state.data.kernels.iter().cloned()).collect();
        let [x, z] = [i, j].map(|idx| state.data.instances.column(idx).into_owned());
        Kernel::Sum(terms).value(x.as_slice(), z.as_slice())
    }

    /// What a dictionary makes of its samples, $AX$.
    fn represented(dictionary: &Dictionary) -> DMatrix<f64> {
        let n_atoms = dictionary.atoms.ncols();
        let codes: Vec<_> = dictionary.codes.iter().map(|code| code.to_vector(n_atoms)).collect();
        &dictionary.atoms * DMatrix::from_columns(&codes)
    }

    #[test]
    fn after_the_weights_atoms_have_length_one_and_stand_for_what_they_did() {
        let (midl, bags) = (midl(), bags());
        let data = Data::new(&midl, &bags).unwrap();
        let mut state = State::new(&midl, &data).unwrap();
        let before = [&state.negative, &state.positive].map(represented);
        state.update_weights(FULL).unwrap();
        for (idx, norm) in state.positive_norms.iter().enumerate() {
            let expected = kernel_value(&state, data.n_negative + idx, data.n_negative + idx);
            assert!((norm - expected).abs() < 1e-12);
        }
        for ((dictionary, kernel), before) in
            [(&state.negative, &state.negative_kernel), (&state.positive, &state.chosen_kernel)].into_iter().zip(before)
        {
            let lengths = (dictionary.atoms.transpose() * kernel * &dictionary.atoms).diagonal();
            assert!(lengths.iter().all(|length| (length - 1.0).abs() < 1e-9), "{lengths}");
            let now = represented(dictionary);
            assert!((&now - before).amax() < 1e-9, "the codes follow the atoms");
            let residual = DMatrix::identity(kernel.ncols(), kernel.ncols()) - now;
            let error = (residual.transpose() * kernel * residual).trace();
            assert!((dictionary.squared_error() - error).abs() < 1e-9);
        }
    }

    #[test]
    fn selection_follows_its_criterion_and_its_weight() {
        let (midl, bags) = (midl(), bags());
        let data = Data::new(&midl, &bags).unwrap();
        let state = State::new(&midl, &data).unwrap();
        let products = state.negative.atoms.transpose() * &state.cross_kernel;
        let [without, with] = [0.0, 3.0].map(|orthogonality| {
            let criterion = strangeness(&state.negative.gram(), &products, &state.positive_norms, 2, orthogonality);
            let expected: Vec<usize> =
                data.bags.iter().map(|bag| bag.start + argmax(&criterion[bag.clone()])).collect();
            assert_eq!(state.select(&midl, orthogonality), expected);
            expected
        });
        assert_ne!(without, with, "a case in which the weight decides");
    }

    #[test]
    fn the_witness_function_is_what_other_bags_have_and_negative_bags_have_not() {
        let (midl, bags) = (midl(), bags());
        let data = Data::new(&midl, &bags).unwrap();
        let state = State::new(&midl, &data).unwrap();
        let found = state.witness_function();
        for bag in &data.bags {
            for idx in bag.clone() {
                let value = |other: usize| kernel_value(&state, data.n_negative + idx, other);
                let others: Vec<f64> =
                    (0..18).filter(|other| !bag.contains(other)).map(|other| value(data.n_negative + other)).collect();
                let shared = others.iter().sum::<f64>() / 15.0;
                let of_negatives = (0..data.n_negative).map(value).sum::<f64>() / data.n_negative as f64;
                assert!((found[idx] - (shared - of_negatives)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn atoms_lose_what_is_no_longer_chosen_and_begin_anew_where_nothing_is_left() {
        let (midl, bags) = (midl(), bags());
        let data = Data::new(&midl, &bags).unwrap();
        for n_changed in [2, 6] {
            let mut state = State::new(&midl, &data).unwrap();
            state.update_dictionaries(2);
            let selected = state.select(&midl, 1.0);
            // As if other instances had been chosen before from the first bags.
            let other = |(bag, &chosen): (usize, &usize)| {
                let range = &data.bags[bag];
                if bag < n_changed { range.start + (chosen - range.start + 1) % 3 } else { chosen }
            };
            state.choose(selected.iter().enumerate().map(other).collect());
            let before = state.positive.atoms.clone();
            assert_eq!(state.update_selection(&midl, 1.0, 0).unwrap(), n_changed);
            assert_eq!(state.chosen, selected);
            let lengths = state.positive.gram().diagonal();
            assert!(lengths.iter().all(|length| (length - 1.0).abs() < 1e-9), "{lengths}");
            for (atom, before) in state.positive.atoms.column_iter().zip(before.column_iter()) {
                let begins_anew = atom.iter().filter(|weight| **weight != 0.0).count() == 1;
                let keeps = (0..n_changed).all(|bag| atom[bag] == 0.0)
                    && (n_changed..6).all(|bag| (atom[bag] == 0.0) == (before[bag] == 0.0));
                assert!(begins_anew || keeps, "{atom} was {before}");
                assert!(n_changed < 6 || begins_anew, "{atom}");
            }
        }
    }

    #[test]
    fn the_positive_dictionary_gets_one_more_round_at_the_end() {
        let (midl, bags) = (Midl { n_iterations: 0, ..midl() }, bags());
        let data = Data::new(&midl, &bags).unwrap();
        let mut state = State::new(&midl, &data).unwrap();
        state.positive.round(&state.chosen_kernel, midl.sparsity);
        assert_eq!(state.into_model(&midl), midl.learn(&bags).unwrap().0);
        let unfinished = State::new(&midl, &data).unwrap().into_model(&midl);
        assert_ne!(unfinished, midl.learn(&bags).unwrap().0);
    }

    #[test]
    fn an_instance_without_length_is_chosen_only_where_there_is_no_other() {
        let mut builder = BagSet::builder();
        for bag in 0..8 {
            let x = 0.1 * f64::from(bag);
            builder.bag(format!("p{bag}"), Label::Positive, [[1.0 - x, x], [0.0, 0.0]]).unwrap();
            builder.bag(format!("n{bag}"), Label::Negative, [[x, 1.0], [0.3, 1.0 - x]]).unwrap();
        }
        builder.bag("nothing", Label::Positive, [[0.0, 0.0]]).unwrap();
        let kernels = crate::BaseKernels::List(vec![Kernel::Linear]);
        let (_, trace) =
            Midl { kernels, n_positive_atoms: 3, ..Midl::default() }.fit_traced(&builder.build().unwrap()).unwrap();
        let bags = trace.chosen.len();
        assert!(bags == 9 && trace.chosen[..8].iter().all(|chosen| chosen % 4 == 0), "{:?}", trace.chosen);
    }
}
