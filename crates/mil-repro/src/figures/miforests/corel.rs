//! Table 2: photographs of many categories, by one forest of all classes and by MILES for each class against the rest.

use std::time::Instant;

use mil_core::{Bag, BagModel, BagRule, BagSet, ClassId, FitError, Learner, ScoreError, Split, StratifiedKFold};
use mil_forest::{ForestModel, Loss, MiForest, RandomForest};
use mil_mio::{EmbeddingModel, Miles, Width};
use rayon::prelude::*;

use crate::figure::{Better, Comparison, Context, Drawing, Figure, Printed, Table};
use crate::papers::Paper;
use crate::results::{Estimate, percent};

pub(super) fn figure() -> Figure {
    Figure {
        id: "miforest-table2",
        title: "MIForest on Corel: one forest of all classes against MILES for each class",
        paper: Paper::MiForests,
        place: "Table 2",
        protocol: "Half of the images of each category at random to train on, the other half to test on, five times (in a quick run Corel-1000 alone, three times). Fixed: forests of 50 trees of depth 20, MIForest with one epoch at T = exp(-1/2), \
                   all else as in Table 1; MILES with sigma^2 = 0.1 of the median squared distance and lambda = 0.5 for penalties of 1, a machine for each class against the rest, the largest score wins; these two were chosen among six settings on one training half of Corel-2000, divided into two, where the log-likelihood was looked at as well. Features as they come.",
        data: &["corel-1000", "corel-2000"],
        optional: &[],
        code: &["mil-data", "mil-forest", "mil-mio"],
        source: file!(),
        draw,
    }
}

/// A set of images and what the paper prints for it.
struct Images {
    data: &'static str,
    title: &'static str,
    /// Percent right, of MIForest and of MILES.
    accuracies: [f64; 2],
    /// Seconds of training, likewise.
    seconds: [f64; 2],
}

const IMAGES: [Images; 2] = [
    Images { data: "corel-1000", title: "Corel-1000", accuracies: [59.0, 58.0], seconds: [4.6, 180.0] },
    Images { data: "corel-2000", title: "Corel-2000", accuracies: [66.0, 67.0], seconds: [22.0, 960.0] },
];

/// A method, fitted once for all rules that it is shown under.
struct Method {
    name: &'static str,
    fit: fn(&BagSet<ClassId>) -> Result<Vec<Fitted>, FitError>,
}

/// A rule, where the method has any, and the model.
type Fitted = (&'static str, Box<dyn BagModel<ClassId>>);

/// The two that the paper prints come first, in the order of [`Images`].
const METHODS: [Method; 4] = [
    Method { name: "MIForest", fit: |bags| under_both_rules(&MiForest::default(), bags) },
    Method { name: "MILES, one against the rest", fit: |bags| Ok(vec![("", Box::new(miles().fit(bags)?))]) },
    Method {
        name: "MIForest, log-likelihood",
        fit: |bags| under_both_rules(&MiForest { loss: Loss::LogLikelihood, ..MiForest::default() }, bags),
    },
    Method { name: "Random forest", fit: |bags| under_both_rules(&RandomForest::default(), bags) },
];

/// The paper's rule first.
fn under_both_rules<L>(learner: &L, bags: &BagSet<ClassId>) -> Result<Vec<Fitted>, FitError>
where
    L: Learner<ClassId, Model = ForestModel<ClassId>>,
{
    let max = learner.fit(bags)?;
    let mean = max.clone().with_rule(BagRule::Mean);
    Ok(vec![(", max rule", Box::new(max)), (", mean rule", Box::new(mean))])
}

/// Chosen among six settings on the first training half of Corel-2000 under seed 1, divided into two; its test half had no say.
/// That annealing with the hinge costs accuracy, and the log-likelihood does not, was seen there as well.
fn miles() -> OneAgainstRest {
    OneAgainstRest { miles: Miles { width: Width::OverMedian(0.1), lambda: 0.5, ..Miles::default() } }
}

/// What a method came to on a set.
struct Outcome {
    /// Share of the test images that get their category, of each half, under each rule.
    accuracies: Vec<(&'static str, Vec<f64>)>,
    /// Of a fit on the first training half: on one thread, and on all.
    seconds: [f64; 2],
}

fn draw(context: &Context<'_>) -> Result<Drawing, FitError> {
    let (sets, n_repeats) = if context.quick { (&IMAGES[..1], 3) } else { (&IMAGES[..], 5) };
    context.start(sets.len() * METHODS.len());
    let mut outcomes = Vec::new();
    for images in sets {
        let bags = context.classes(images.data);
        let folds = StratifiedKFold { n_folds: 2, n_repeats, seed: context.seed }.split(bags.labels())?;
        let halves: Vec<Split> = folds.into_iter().filter(|split| split.fold_idx == 0).collect();
        let mut of_set = Vec::new();
        for method in &METHODS {
            of_set.push(measure(method, bags, &halves)?);
            context.step(&format!("{} on {}", method.name, images.data));
        }
        outcomes.push(of_set);
    }
    Ok(Drawing {
        tables: vec![accuracy_table(sets, &outcomes)],
        findings: findings(sets, &outcomes),
        comparisons: comparisons(sets, &outcomes),
        timed_tables: vec![time_table(sets, &outcomes)],
        timed_findings: vec![time_finding(sets, &outcomes)],
        ..Drawing::default()
    })
}

fn measure(method: &Method, bags: &BagSet<ClassId>, halves: &[Split]) -> Result<Outcome, FitError> {
    let mut shares: Vec<(&'static str, Vec<f64>)> = Vec::new();
    for half in halves {
        for (rule_idx, (rule, model)) in (method.fit)(&bags.select(&half.train))?.into_iter().enumerate() {
            if rule_idx == shares.len() {
                shares.push((rule, Vec::new()));
            }
            shares[rule_idx].1.push(share_right(&*model, &bags.select(&half.test))?);
        }
    }
    let first = bags.select(&halves[0].train);
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread can be had");
    Ok(Outcome {
        accuracies: shares,
        seconds: [one_thread.install(|| seconds(method, &first))?, seconds(method, &first)?],
    })
}

fn share_right(model: &dyn BagModel<ClassId>, bags: &BagSet<ClassId>) -> Result<f64, FitError> {
    let predicted: Vec<Result<ClassId, ScoreError>> =
        (0..bags.n_bags()).into_par_iter().map(|bag_idx| model.predict(bags.bag(bag_idx))).collect();
    let predicted: Vec<ClassId> = predicted.into_iter().collect::<Result<_, _>>()?;
    let n_right = predicted.iter().zip(bags.labels()).filter(|(predicted, actual)| predicted == actual).count();
    Ok(n_right as f64 / bags.n_bags() as f64)
}

/// Times taken of each fit; the median counts.
const N_TIMES: usize = 3;

/// The median time of a fit, on the threads of the caller.
fn seconds(method: &Method, bags: &BagSet<ClassId>) -> Result<f64, FitError> {
    let mut times = Vec::new();
    for _ in 0..N_TIMES {
        let start = Instant::now();
        (method.fit)(bags)?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[N_TIMES / 2])
}

/// A line for each method and rule, two columns for each set: ours, and what the paper prints.
fn accuracy_table(sets: &[Images], outcomes: &[Vec<Outcome>]) -> Table {
    let mut heads = vec!["method".to_owned()];
    heads.extend(sets.iter().flat_map(|images| [images.title.to_owned(), "printed".to_owned()]));
    let mut rows = Vec::new();
    for (method_idx, method) in METHODS.iter().enumerate() {
        for rule_idx in 0..outcomes[0][method_idx].accuracies.len() {
            let mut row = vec![format!("{}{}", method.name, outcomes[0][method_idx].accuracies[rule_idx].0)];
            for (images, outcomes) in sets.iter().zip(outcomes) {
                let printed = images.accuracies.get(method_idx).filter(|_| rule_idx == 0);
                let printed = printed.map_or(String::new(), f64::to_string);
                row.extend([percent(Estimate::of(&outcomes[method_idx].accuracies[rule_idx].1)), printed]);
            }
            rows.push(row);
        }
    }
    Table { title: "Test images that get their category, %".to_owned(), heads, rows }
}

/// Both methods under the paper's rule, beside what it prints. Its times are of another machine and are shown with ours alone.
fn comparisons(sets: &[Images], outcomes: &[Vec<Outcome>]) -> Vec<Comparison> {
    let of_method = |(method_idx, line): (usize, &str)| -> Vec<Comparison> {
        let of_set = |(images, outcomes): (&Images, &Vec<Outcome>)| Comparison {
            line: line.to_owned(),
            column: images.title.to_owned(),
            runs: outcomes[method_idx].accuracies[0].1.iter().map(|share| 100.0 * share).collect(),
            printed: Printed::whole(images.accuracies[method_idx]),
            better: Better::Higher,
            not_comparable: None,
        };
        sets.iter().zip(outcomes).map(of_set).collect()
    };
    ["MIForest", "MILES"].into_iter().enumerate().flat_map(of_method).collect()
}

/// A line for each method and one for the ratio, three columns for each set: on one thread, on all, and as printed.
fn time_table(sets: &[Images], outcomes: &[Vec<Outcome>]) -> Table {
    let n_threads = rayon::current_num_threads();
    let head = |images: &Images| {
        [format!("{}, one thread", images.title), format!("all threads ({n_threads})"), "printed".to_owned()]
    };
    let mut rows = Vec::new();
    for (method_idx, method) in METHODS.iter().enumerate() {
        let cells = sets.iter().zip(outcomes).flat_map(|(images, outcomes)| {
            let [one, all] = outcomes[method_idx].seconds.map(|seconds| format!("{seconds:.2}"));
            [one, all, images.seconds.get(method_idx).map_or(String::new(), f64::to_string)]
        });
        rows.push(std::iter::once(method.name.to_owned()).chain(cells).collect());
    }
    let ratios = sets
        .iter()
        .zip(outcomes)
        .flat_map(|(images, outcomes)| ratios(images, outcomes).map(|ratio| format!("{ratio:.1}")));
    rows.push(std::iter::once("MILES over MIForest".to_owned()).chain(ratios).collect());
    let heads = std::iter::once("method".to_owned()).chain(sets.iter().flat_map(head)).collect();
    Table { title: "Seconds of training on one half, the median of three".to_owned(), heads, rows }
}

/// How many times as long MILES takes: on one thread, on all, and in the paper.
fn ratios(images: &Images, outcomes: &[Outcome]) -> [f64; 3] {
    let ratio = |threads_idx: usize| outcomes[1].seconds[threads_idx] / outcomes[0].seconds[threads_idx];
    [ratio(0), ratio(1), images.seconds[1] / images.seconds[0]]
}

fn time_finding(sets: &[Images], outcomes: &[Vec<Outcome>]) -> String {
    let of_set = |(images, outcomes): (&Images, &Vec<Outcome>)| {
        let [one, _, printed] = ratios(images, outcomes);
        format!("{one:.1} times as long as MIForest on {} (printed {printed:.0})", images.title)
    };
    let of_sets: Vec<String> = sets.iter().zip(outcomes).map(of_set).collect();
    format!(
        "On one thread MILES takes {}. Its linear programs are solved by column generation, each to a certificate; the paper does not say how its own were.",
        of_sets.join(" and ")
    )
}

fn findings(sets: &[Images], outcomes: &[Vec<Outcome>]) -> Vec<String> {
    let mut findings = Vec::new();
    if let ([small, large], [of_small, of_large]) = (sets, outcomes) {
        let pairs = [0, 1].map(|method_idx| {
            let [low, high] =
                [of_small, of_large].map(|of_set| percent(Estimate::of(&of_set[method_idx].accuracies[0].1)));
            format!("{} gets {low} and {high}", ["MIForest", "MILES"][method_idx])
        });
        findings.push(format!(
            "The paper prints less for {} ({} and {}) than for {} ({} and {}), which holds the same images and as many again of ten more categories. Here {}. The MILES paper is usually quoted with about 82 and 69 \
             (not checked here), so the two columns of Table 2 look exchanged, or its protocol is another.",
            small.title, small.accuracies[0], small.accuracies[1], large.title, large.accuracies[0], large.accuracies[1], pairs.join(", "),
        ));
    }
    let temperature = (-0.5f64).exp();
    let surest = |n_classes: f64| 1.0 / (1.0 + (n_classes - 1.0) * (-1.0 / temperature).exp());
    findings.push(format!(
        "With the hinge an instance of which the forest is certain keeps its class with p* = {:.2} in 10 classes and {:.2} in 20 at T = {temperature:.2}, where it is {:.2} in two: most labels of that epoch are noise. \
         The log-likelihood, p* proportional to p^(1/T), keeps it with 1 in all.",
        surest(10.0),
        surest(20.0),
        surest(2.0),
    ));
    findings
}

/// MILES for each class against the rest.
struct OneAgainstRest {
    miles: Miles,
}

/// A machine for each class, whose scores are those of the classes.
struct OneAgainstRestModel {
    machines: Vec<EmbeddingModel>,
}

impl Learner<ClassId> for OneAgainstRest {
    type Model = OneAgainstRestModel;

    fn fit(&self, bags: &BagSet<ClassId>) -> Result<OneAgainstRestModel, FitError> {
        let machine = |class| self.miles.fit(&bags.one_against_rest(ClassId(class)));
        let machines: Vec<Result<EmbeddingModel, FitError>> =
            (0..bags.n_classes() as u32).into_par_iter().map(machine).collect();
        Ok(OneAgainstRestModel { machines: machines.into_iter().collect::<Result<_, _>>()? })
    }
}

impl BagModel<ClassId> for OneAgainstRestModel {
    fn n_features(&self) -> usize {
        self.machines[0].n_features()
    }

    fn score(&self, bag: Bag<'_>) -> Result<Vec<f64>, ScoreError> {
        self.machines.iter().map(|machine| machine.score(bag)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mil_core::ClassNames;

    #[test]
    fn one_against_the_rest_finds_each_class() {
        let mut builder = BagSet::builder_of_classes(ClassNames::new(["a", "b", "c"]));
        for i in 0..30u32 {
            let (class, x) = (i % 3, 0.01 * f64::from(i));
            builder.bag(format!("{i}"), ClassId(class), [[4.0 * f64::from(class), x], [-9.0 + x, x]]).unwrap();
        }
        let bags = builder.build().unwrap();
        let model = miles().fit(&bags).unwrap();
        assert_eq!((model.n_features(), model.score(bags.bag(0)).unwrap().len()), (2, 3));
        assert_eq!(share_right(&model, &bags).unwrap(), 1.0);
    }

    #[test]
    fn what_the_paper_prints_stands_beside_its_two_methods() {
        let outcome = |seconds: f64, rules: &[&'static str]| Outcome {
            accuracies: rules.iter().map(|rule| (*rule, vec![0.5])).collect(),
            seconds: [2.0 * seconds, seconds],
        };
        let rules = [", max rule", ", mean rule"];
        let of_set = || vec![outcome(1.0, &rules), outcome(3.0, &[""]), outcome(1.0, &rules), outcome(1.0, &rules)];
        let outcomes = [of_set(), of_set()];
        let (accuracies, times) = (accuracy_table(&IMAGES, &outcomes), time_table(&IMAGES, &outcomes));
        assert_eq!(accuracies.rows[0], ["MIForest, max rule", "50.0", "59", "50.0", "66"]);
        assert_eq!(accuracies.rows[1], ["MIForest, mean rule", "50.0", "", "50.0", ""]);
        assert_eq!(accuracies.rows[2], ["MILES, one against the rest", "50.0", "58", "50.0", "67"]);
        assert_eq!(times.rows[1], ["MILES, one against the rest", "6.00", "3.00", "180", "6.00", "3.00", "960"]);
        assert_eq!(times.rows[4], ["MILES over MIForest", "3.0", "3.0", "39.1", "3.0", "3.0", "43.6"]);
        let compared = comparisons(&IMAGES, &outcomes);
        assert_eq!((compared.len(), compared[1].printed.value, compared[2].printed.value), (4, 66.0, 58.0));
        let said = time_finding(&IMAGES, &outcomes);
        assert!(said.contains("3.0 times as long as MIForest on Corel-2000 (printed 44)"), "{said}");
        let drawing = Drawing { tables: vec![accuracies], timed_tables: vec![times], ..Drawing::default() };
        assert_eq!(drawing.check(), Ok(()));
        assert_eq!(findings(&IMAGES, &outcomes).len(), 2);
        assert_eq!(findings(&IMAGES[..1], &outcomes[..1]).len(), 1, "nothing to compare in a quick run");
    }
}
