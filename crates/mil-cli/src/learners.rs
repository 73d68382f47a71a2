//! Every learner by its name.
//!
//! An [`Entry`] says who a learner is; what its parameters are, its own crate says ([`mil_core::Params`]), so that name, range, default and documentation stand in one place. Types end here: behind
//! an entry all learners look alike ([`AnyLearner`], [`AnySearch`]).

use mil_core::model_file::SavedModel;
use mil_core::{
    BagModel, BagSet, ClassId, CrossValidation, CvReport, FitError, Label, Learner, NearestCentroid, Observer,
    ParamError, ParamSpec, Params, PositivesOnly, Scaled, Scaler, Scaling, Target, Tunable, Tuned, TuningReport,
};
use mil_dict::Midl;
use mil_forest::{MiForest, OnlineForest, OnlineMiForest, RandomForest};
use mil_mio::{Miles, Mio};
use mil_pmi::{OneClassModel, OneClassSvm, Pmi};
use mil_svm::{
    AlSvm, AwSvm, MiSvmBag, MiSvmPattern, Mica, MissSvm, Nsk, OverKernel, Sbmil, SilSvm, Smil, Stk, Stmil, WithKernel,
};

use crate::error::{CliError, hint};
use crate::models::AnyModel;

/// Parameters by name and word.
pub type Words = [(String, String)];

/// A setting of a learner.
pub type Setting = Vec<(String, String)>;

/// What is made of words, unless one is refused.
type Made<T> = Result<T, ParamError>;

/// Makes a learner.
type Make<Y> = fn(&Words, Scaling) -> Made<Box<dyn AnyLearner<Y>>>;

/// Makes a learner that chooses among settings.
type MakeSearch = fn(&[Setting], Scaling, Folds) -> Made<Box<dyn AnySearch>>;

/// A learner by name.
pub struct Entry {
    /// As it is asked for.
    pub name: &'static str,
    /// As people write it.
    pub title: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// How features are scaled unless asked otherwise.
    pub scaling: Scaling,
    /// What tuning tries unless asked otherwise: the first changes slowest.
    pub grid: Grid,
    /// The table of its parameters.
    pub specs: fn() -> Vec<ParamSpec>,
    pairs: fn(&Words) -> Made<Setting>,
    two: Make<Label>,
    many: Option<Make<ClassId>>,
    search: MakeSearch,
}

/// Parameters with the values to try.
pub type Grid = &'static [(&'static str, &'static [&'static str])];

/// Folds of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Folds {
    /// How many.
    pub n_folds: usize,
    /// How often.
    pub n_repeats: usize,
    /// Fixes them.
    pub seed: u64,
}

/// A learner whose type does not matter.
pub trait AnyLearner<Y: Target>: Send + Sync {
    /// As [`Learner::fit`].
    ///
    /// # Errors
    /// As there.
    fn fit_any(&self, bags: &BagSet<Y>) -> Result<Box<dyn AnyModel<Y>>, FitError>;

    /// As [`CrossValidation::run`].
    ///
    /// # Errors
    /// As there.
    fn cross_validate(
        &self,
        plan: &CrossValidation,
        bags: &BagSet<Y>,
        observer: &dyn Observer,
    ) -> Result<CvReport<Y>, FitError>;
}

impl<Y: Target, L: Learner<Y> + Send> AnyLearner<Y> for L
where
    L::Model: BagModel<Y> + SavedModel + 'static,
{
    fn fit_any(&self, bags: &BagSet<Y>) -> Result<Box<dyn AnyModel<Y>>, FitError> {
        Ok(Box::new(self.fit(bags)?))
    }

    fn cross_validate(
        &self,
        plan: &CrossValidation,
        bags: &BagSet<Y>,
        observer: &dyn Observer,
    ) -> Result<CvReport<Y>, FitError> {
        plan.run(self, bags, observer)
    }
}

/// A learner that chooses among settings.
pub trait AnySearch: AnyLearner<Label> {
    /// How each setting does.
    ///
    /// # Errors
    /// As [`Tuned::search`].
    fn figures(&self, bags: &BagSet<Label>) -> Result<TuningReport, FitError>;
}

impl<L: Tunable + Send> AnySearch for Scaled<Tuned<L>>
where
    L::Model: SavedModel + 'static,
{
    fn figures(&self, bags: &BagSet<Label>) -> Result<TuningReport, FitError> {
        self.learner.search(&Scaler::fit(self.scaling, bags)?.scaled(bags.clone())?)
    }
}

impl<L: Learner<(), Model = OneClassModel> + Clone + Send> AnySearch for Tuned<PositivesOnly<Scaled<L>>> {
    fn figures(&self, bags: &BagSet<Label>) -> Result<TuningReport, FitError> {
        self.search(bags)
    }
}

impl Entry {
    /// All parameters, those that are set among them.
    ///
    /// # Errors
    /// If one is unknown or out of range.
    pub fn pairs(&self, words: &Words) -> Result<Setting, CliError> {
        (self.pairs)(words).map_err(|error| self.refused(error))
    }

    /// The learner of two classes.
    ///
    /// # Errors
    /// If a parameter is unknown or out of range.
    pub fn two(&self, words: &Words, scaling: Scaling) -> Result<Box<dyn AnyLearner<Label>>, CliError> {
        (self.two)(words, scaling).map_err(|error| self.refused(error))
    }

    /// Whether it learns many classes.
    #[must_use]
    pub fn learns_many(&self) -> bool {
        self.many.is_some()
    }

    /// The learner of many classes.
    ///
    /// # Errors
    /// If there is none, or a parameter is unknown or out of range.
    pub fn many(&self, words: &Words, scaling: Scaling) -> Result<Box<dyn AnyLearner<ClassId>>, CliError> {
        let Some(many) = self.many else {
            let able: Vec<&str> = all().iter().filter(|entry| entry.many.is_some()).map(|entry| entry.name).collect();
            return Err(CliError::Usage(format!(
                "{} learns two classes; name the positive one with --positive WORD, or take one of {}",
                self.name,
                able.join(", ")
            )));
        };
        many(words, scaling).map_err(|error| self.refused(error))
    }

    /// The learner that chooses among settings.
    ///
    /// # Errors
    /// If a parameter is unknown or out of range.
    pub fn search(&self, settings: &[Setting], scaling: Scaling, folds: Folds) -> Result<Box<dyn AnySearch>, CliError> {
        (self.search)(settings, scaling, folds).map_err(|error| self.refused(error))
    }

    fn refused(&self, source: ParamError) -> CliError {
        CliError::Param { learner: self.name.to_owned(), source }
    }

    /// What is said when a fit fails.
    #[must_use]
    pub fn failed(&self, source: FitError) -> CliError {
        CliError::Fit { learner: self.name.to_owned(), source }
    }
}

/// The learner of this name.
///
/// # Errors
/// If there is none.
pub fn find(name: &str) -> Result<&'static Entry, CliError> {
    all().iter().find(|entry| entry.name == name).ok_or_else(|| {
        let known: Vec<&str> = all().iter().map(|entry| entry.name).collect();
        CliError::Usage(format!(
            "there is no learner {name:?}; {}the learners are: {}",
            hint(name, &known),
            known.join(", ")
        ))
    })
}

fn configured<L: Params>(words: &Words) -> Result<L, ParamError> {
    let mut learner = L::default();
    words.iter().try_for_each(|(name, word)| learner.set(name, word))?;
    learner.check()?;
    Ok(learner)
}

fn pairs_of<L: Params>(words: &Words) -> Made<Setting> {
    configured::<L>(words).map(|learner| learner.to_pairs())
}

fn scaled_two<L: Params + Learner + Send + 'static>(words: &Words, scaling: Scaling) -> Made<Box<dyn AnyLearner<Label>>>
where
    L::Model: BagModel + SavedModel + 'static,
{
    Ok(Box::new(Scaled { scaling, learner: configured::<L>(words)? }))
}

fn scaled_many<L: Params + Learner<ClassId> + Send + 'static>(
    words: &Words,
    scaling: Scaling,
) -> Made<Box<dyn AnyLearner<ClassId>>>
where
    L::Model: BagModel<ClassId> + SavedModel + 'static,
{
    Ok(Box::new(Scaled { scaling, learner: configured::<L>(words)? }))
}

fn scaled_search<L: Params + Tunable + Send + 'static>(
    settings: &[Setting],
    scaling: Scaling,
    folds: Folds,
) -> Made<Box<dyn AnySearch>>
where
    L::Model: SavedModel + 'static,
{
    let settings = settings.iter().map(|words| configured::<L>(words)).collect::<Result<Vec<L>, _>>()?;
    Ok(Box::new(Scaled { scaling, learner: tuned(settings, folds) }))
}

fn tuned<L>(settings: Vec<L>, folds: Folds) -> Tuned<L> {
    Tuned { settings, n_folds: folds.n_folds, n_repeats: folds.n_repeats, seed: folds.seed }
}

/// A learner that sees nothing of negative bags, not even through the scale.
fn blind<L: Params>(words: &Words, scaling: Scaling) -> Result<PositivesOnly<Scaled<L>>, ParamError> {
    Ok(PositivesOnly { learner: Scaled { scaling, learner: configured::<L>(words)? } })
}

fn blind_two<L: Params + Learner<(), Model = OneClassModel> + Send + 'static>(
    words: &Words,
    scaling: Scaling,
) -> Made<Box<dyn AnyLearner<Label>>> {
    Ok(Box::new(blind::<L>(words, scaling)?))
}

fn blind_search<L: Params + Learner<(), Model = OneClassModel> + Send + 'static>(
    settings: &[Setting],
    scaling: Scaling,
    folds: Folds,
) -> Made<Box<dyn AnySearch>> {
    let settings = settings.iter().map(|words| blind::<L>(words, scaling)).collect::<Result<Vec<_>, _>>()?;
    Ok(Box::new(tuned(settings, folds)))
}

/// Who a learner is, and where it comes from.
struct Face {
    name: &'static str,
    title: &'static str,
    paper: &'static str,
    about: &'static str,
}

fn entry<L: Params + Tunable + Send + 'static>(face: Face, scaling: Scaling, grid: Grid) -> Entry
where
    L::Model: SavedModel + 'static,
{
    let Face { name, title, paper, about } = face;
    Entry {
        name,
        title,
        paper,
        about,
        scaling,
        grid,
        specs: L::specs,
        pairs: pairs_of::<L>,
        two: scaled_two::<L>,
        many: None,
        search: scaled_search::<L>,
    }
}

/// A machine over a kernel, which may take its width from the data.
fn machine<L: Params + OverKernel + Send + 'static>(face: Face) -> Entry
where
    L::Model: SavedModel + 'static,
{
    entry::<WithKernel<L>>(face, Scaling::MinMax, MACHINE_GRID)
}

/// A learner of two classes or many.
fn versatile<L: Params + Tunable + Learner<ClassId> + Send + 'static>(face: Face, scaling: Scaling, grid: Grid) -> Entry
where
    <L as Learner<Label>>::Model: SavedModel + 'static,
    <L as Learner<ClassId>>::Model: BagModel<ClassId> + SavedModel + 'static,
{
    Entry { many: Some(scaled_many::<L>), ..entry::<L>(face, scaling, grid) }
}

/// A learner of positive bags alone.
fn one_class<L: Params + Learner<(), Model = OneClassModel> + Send + 'static>(face: Face) -> Entry {
    let Face { name, title, paper, about } = face;
    Entry {
        name,
        title,
        paper,
        about,
        scaling: Scaling::MinMax,
        grid: ONE_CLASS_GRID,
        specs: L::specs,
        pairs: pairs_of::<L>,
        two: blind_two::<L>,
        many: None,
        search: blind_search::<L>,
    }
}

const MACHINE_GRID: Grid = &[
    (
        "kernel",
        &[
            "gaussian(0.3/median)",
            "gaussian(1/median)",
            "gaussian(3/median)",
            "gaussian(8/median)",
            "gaussian(25/median)",
        ],
    ),
    ("penalty", &["1", "10", "100"]),
];
const ONE_CLASS_GRID: Grid = &[
    (
        "kernel",
        &[
            "gaussian(0.5/median)",
            "gaussian(1/median)",
            "gaussian(2/median)",
            "gaussian(4/median)",
            "gaussian(8/median)",
        ],
    ),
    ("nu", &["0.05", "0.1", "0.2", "0.3"]),
];
const FOREST_GRID: Grid = &[("rule", &["max", "mean", "top-mean(3)"]), ("max_depth", &["5", "10", "20"])];
const MIO_GRID: Grid = &[
    ("width", &["median*0.05", "median*0.1", "median*0.2"]),
    ("alpha0", &["0.005", "0.02", "0.05"]),
    ("beta0", &["0.2", "1"]),
];
const MILES_GRID: Grid = &[("width", &["median*0.1", "median*0.2", "median*0.3"]), ("lambda", &["0.1", "0.2", "0.4"])];
const MIDL_GRID: Grid = &[("sparsity", &["2", "4"]), ("orthogonality", &["0.3", "1"])];
const CENTROID_GRID: Grid = &[("rule", &["max", "mean", "top-mean(3)", "soft-max(1)"])];

/// All learners, family after family.
///
/// # Panics
/// Never.
#[must_use]
pub fn all() -> &'static [Entry] {
    static ALL: std::sync::OnceLock<Vec<Entry>> = std::sync::OnceLock::new();
    ALL.get_or_init(|| {
        let face = |name, title, paper, about| Face { name, title, paper, about };
        const ANDREWS: &str = "Andrews, Tsochantaridis & Hofmann, NIPS 2002";
        const GEHLER: &str = "Gehler & Chapelle, AISTATS 2007";
        const BUNESCU: &str = "Bunescu & Mooney, ICML 2007";
        const GAERTNER: &str = "Gaertner, Flach, Kowalczyk & Smola, ICML 2002";
        const LI: &str = "Li, Kwok & Lu, CVPR 2010";
        const LEISTNER: &str = "Leistner, Saffari & Bischof, ECCV 2010";
        vec![
            machine::<MiSvmPattern>(face("mi-svm", "mi-SVM", ANDREWS, "Imputes the labels of instances and separates them, by turns.")),
            machine::<MiSvmBag>(face("mi-svm-bag", "MI-SVM", ANDREWS, "Separates bags by their witnesses, chosen by turns.")),
            machine::<SilSvm>(face("sil-svm", "SIL-SVM", "the single-instance baseline", "An SVM in which every instance takes the label of its bag.")),
            machine::<Nsk>(face("mi-kernel", "MI-Kernel (NSK)", GAERTNER, "An SVM over whole bags by the normalised set kernel.")),
            machine::<Stk>(face("stk", "STK", GAERTNER, "An SVM over the least and largest features of each bag.")),
            machine::<Mica>(face("mica", "MICA", "Mangasarian & Wild, JOTA 2008", "A convex combination of instances stands for each positive bag; 1-norm.")),
            machine::<AwSvm>(face("aw-svm", "AW-SVM", GEHLER, "MI-SVM by deterministic annealing of witnesses.")),
            machine::<AlSvm>(face("al-svm", "AL-SVM", GEHLER, "mi-SVM by deterministic annealing of labels.")),
            machine::<Smil>(face("smil", "sMIL", BUNESCU, "For positive bags with few positives.")),
            machine::<Stmil>(face("stmil", "stMIL", BUNESCU, "sMIL with instances of positive bags in a transductive part.")),
            machine::<Sbmil>(face("sbmil", "sbMIL", BUNESCU, "sMIL first, then a balanced share of positives.")),
            machine::<MissSvm>(face("miss-svm", "MissSVM", "Zhou & Xu, ICML 2007", "Multiple-instance learning as semi-supervised learning.")),
            entry::<Mio>(face("mio", "MIO", LI, "Online MILES with an elastic net, presented the bags in passes."), Scaling::None, MIO_GRID),
            entry::<Miles>(face("miles", "MILES", "Chen, Bi & Wang, TPAMI 2006", "A 1-norm SVM over similarities to all instances."), Scaling::None, MILES_GRID),
            versatile::<MiForest>(face("miforest", "MIForest", LEISTNER, "A random forest with annealed labels of instances."), Scaling::None, FOREST_GRID),
            versatile::<RandomForest>(
                face("random-forest", "Random forest", "Breiman, Machine Learning 2001", "A forest in which every instance takes the label of its bag."),
                Scaling::None,
                FOREST_GRID,
            ),
            versatile::<OnlineMiForest>(face("online-miforest", "Online MIForest", LEISTNER, "MIForest on a stream of bags."), Scaling::None, ONLINE_GRID),
            versatile::<OnlineForest>(
                face("online-forest", "Online random forest", "Saffari et al., ICCV Workshops 2009", "A random forest on a stream of bags."),
                Scaling::None,
                ONLINE_GRID,
            ),
            one_class::<Pmi>(face("pmi", "PMI", "Hu & Xue, On the Complexity of One-class SVM for Multiple Instance Learning", "Learns from positive bags alone; see also `mil query`.")),
            one_class::<OneClassSvm>(face("one-class", "One-class SVM", "Schoelkopf et al., Neural Computation 2001", "Encloses instances, or means, of positive bags.")),
            entry::<Midl>(face("midl", "MIDL", "Shrivastava, Pillai & Patel, Multiple Kernel-based Dictionary Learning for Weakly Supervised Classification", "Dictionaries of both classes under learnt kernel weights."), Scaling::None, MIDL_GRID),
            versatile::<NearestCentroid>(
                face("nearest-centroid", "Nearest centroid", "the naive baseline", "Instances take the label of the nearer class mean."),
                Scaling::Standard,
                CENTROID_GRID,
            ),
        ]
    })
}

const ONLINE_GRID: Grid = &[("rule", &["max", "mean", "top-mean(3)"])];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_plain() {
        let mut names: Vec<&str> = all().iter().map(|entry| entry.name).collect();
        assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '-')));
        let n_names = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n_names);
    }

    #[test]
    fn every_default_and_every_grid_is_accepted() {
        for entry in all() {
            let defaults: Vec<(String, String)> =
                (entry.specs)().into_iter().map(|spec| (spec.name.to_owned(), spec.default)).collect();
            assert_eq!(entry.pairs(&defaults).unwrap(), entry.pairs(&[]).unwrap(), "{}", entry.name);
            for (key, values) in entry.grid {
                for value in *values {
                    entry.pairs(&[((*key).to_owned(), (*value).to_owned())]).unwrap();
                }
            }
        }
    }

    #[test]
    fn a_mistyped_learner_gets_a_hint() {
        let said = find("mi_svn").err().unwrap().to_string();
        assert!(said.contains("did you mean `mi-svm`?"), "{said}");
    }
}
