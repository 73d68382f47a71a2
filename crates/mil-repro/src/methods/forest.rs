//! Random forests and MIForests, every setting fixed.

use mil_core::{BagRule, Calibrated, OutOfBag};
use mil_forest::{MiForest, OnlineForest, OnlineMiForest, RandomForest, Sampling, Tests, Weighting};

use crate::method::{LearnerFor, Method, for_all};

const PLAIN: &str = "50 trees of depth 20 on a bootstrap sample of the bags, all bags counting alike; of floor(sqrt d) features the best threshold by entropy; max rule, threshold 1/2; features as they come. What the paper leaves open was settled after looking at these five sets";

const ANNEALED: &str = "as for the random forest, then one epoch at T = exp(-1/2), hinge loss; the number of epochs was settled after looking at these five sets";

const PLAIN_RANDOM: &str = "50 trees of depth 20 on a bootstrap sample of the instances, all instances counting alike; of floor(sqrt d) features one threshold each, drawn between two instances of the node, the best by entropy; \
                            max rule, threshold 1/2; features as they come";

const ANNEALED_RANDOM: &str =
    "as for the random forest with random thresholds, then one epoch at T = exp(-1/2), hinge loss";

const MEAN: &str = "as for the random forest, but 200 trees and the mean rule; not the paper's";

const PLAIN_CALIBRATED: &str =
    "as for the random forest, and the threshold from the trees that have not drawn the bag; not the paper's";

const ANNEALED_CALIBRATED: &str =
    "as for MIForest, and the threshold from the trees that have not drawn the bag; not the paper's";

const ONLINE: &str = "50 trees of depth 20, five passes over the bags in orders of their own, classes evened out through the Poisson rate; 20 tests a leaf, which is split once they have seen 10 instances and the best gains 0.01 of the Gini index; max rule, threshold 1/2; features as they come";

const ONLINE_ANNEALED: &str = "as for the online random forest; after 20 bags of each class labels are drawn at T = 1, hinge loss. Temperature and number of tests were settled after looking at Elephant and Musk1";

/// "We report the average over 5 runs" (MIForests, Table 1).
const RUNS: &[(&str, usize)] = &[("musk1", 5), ("musk2", 5), ("elephant", 5), ("fox", 5), ("tiger", 5)];

/// The paper's two methods with our choices and with the reference's, then what a better rule or threshold is worth, and the same on a stream.
pub(super) fn methods() -> Vec<Method> {
    let plain_random = RandomForest {
        tests: Tests::Random,
        sampling: Sampling::Instances,
        weighting: Weighting::Instances,
        ..RandomForest::default()
    };
    let annealed_random = MiForest {
        tests: Tests::Random,
        sampling: Sampling::Instances,
        weighting: Weighting::Instances,
        ..MiForest::default()
    };
    let mean = RandomForest { n_trees: 200, rule: BagRule::Mean, ..RandomForest::default() };
    let plain_calibrated = Calibrated { learner: RandomForest::default(), source: OutOfBag };
    let annealed_calibrated = Calibrated { learner: MiForest::default(), source: OutOfBag };
    vec![
        of_paper(method("random-forest", "Random forest", PLAIN, for_all(RandomForest::default()))),
        of_paper(method("miforest", "MIForest", ANNEALED, for_all(MiForest::default()))),
        method("random-forest-random", "Random forest, random thresholds", PLAIN_RANDOM, for_all(plain_random)),
        method("miforest-random", "MIForest, random thresholds", ANNEALED_RANDOM, for_all(annealed_random)),
        method("random-forest-mean", "Random forest, mean rule", MEAN, for_all(mean)),
        method("random-forest-calibrated", "Random forest, calibrated", PLAIN_CALIBRATED, for_all(plain_calibrated)),
        method("miforest-calibrated", "MIForest, calibrated", ANNEALED_CALIBRATED, for_all(annealed_calibrated)),
        method("online-forest", "Online random forest", ONLINE, for_all(OnlineForest::default())),
        method("online-miforest", "Online MIForest", ONLINE_ANNEALED, for_all(OnlineMiForest::default())),
    ]
}

/// One of the two that the paper prints.
fn of_paper(method: Method) -> Method {
    Method { repeats: RUNS, ..method }
}

fn method(id: &'static str, name: &'static str, settings: &'static str, learner: LearnerFor) -> Method {
    Method { id, name, settings, quick: &["musk1"], repeats: &[], code: &["mil-forest"], source: file!(), learner }
}
