//! A figure of a paper and how to recompute it: plots, and tables other than those of accuracies.

use std::sync::atomic::{AtomicUsize, Ordering};

use mil_core::{BagSet, ClassId, FitError, Label};
use mil_data::LabelledInstances;
use mil_data::catalogue::DataSet;

use crate::code;
pub use crate::comparison::{Better, Comparison, Printed, Spread};
pub use crate::drawing::{
    AxisSpec, Drawing, DrawingError, Fault, Level, MAX_LEVELS, MAX_SERIES, Panel, Picture, PictureRow, Point, Scale,
    Series, Style, Table,
};
use crate::papers::Paper;
use crate::progress::Progress;

/// A figure of a paper, or a table of another kind than those of accuracies, and how to recompute it.
pub struct Figure {
    /// Short name, as given on the command line.
    pub id: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// The paper.
    pub paper: Paper,
    /// Where in the paper: the figure or table.
    pub place: &'static str,
    /// Data, fixed parameters and what is drawn, in a sentence or two.
    pub protocol: &'static str,
    /// The data sets of the catalogue it needs, by name; none where it generates its own.
    pub data: &'static [&'static str],
    /// The data sets of the catalogue it uses where they are there, by name; where one is not, it runs on generated data, and the report says so.
    pub optional: &'static [&'static str],
    /// The crates of the workspace that compute it.
    pub code: &'static [&'static str],
    /// The file that states it: `file!()`.
    pub source: &'static str,
    /// Computes it. Whatever it draws at random follows from the context's seed, and not from the number of threads.
    pub draw: fn(&Context<'_>) -> Result<Drawing, FitError>,
}

impl Figure {
    /// Tells this code from another.
    #[must_use]
    pub fn code_version(&self) -> String {
        code::version(self.code, self.source)
    }
}

/// What a figure is drawn from.
pub struct Context<'a> {
    /// Whether this is the short run.
    pub quick: bool,
    /// Fixes what is drawn at random.
    pub seed: u64,
    id: &'a str,
    data: Vec<(&'a str, &'a DataSet)>,
    optional: Vec<(&'a str, Option<&'a DataSet>)>,
    progress: &'a Progress,
    n_steps: AtomicUsize,
    n_done: AtomicUsize,
}

impl<'a> Context<'a> {
    /// For the figure of this name, with the data it needs, and those it would like, as far as they are there.
    #[must_use]
    pub fn new(
        id: &'a str,
        quick: bool,
        seed: u64,
        data: Vec<(&'a str, &'a DataSet)>,
        optional: Vec<(&'a str, Option<&'a DataSet>)>,
        progress: &'a Progress,
    ) -> Context<'a> {
        Context { quick, seed, id, data, optional, progress, n_steps: AtomicUsize::new(0), n_done: AtomicUsize::new(0) }
    }

    /// The bags of a data set of two classes that [`Figure::data`] lists, verified.
    ///
    /// # Panics
    /// If the figure does not list it, or it is of another kind.
    #[must_use]
    pub fn bags(&self, name: &str) -> &'a BagSet<Label> {
        match self.data_set(name) {
            DataSet::Binary(bags) => bags,
            _ => panic!("{}: {name} is not a set of bags of two classes", self.id),
        }
    }

    /// The bags of a data set of many classes that [`Figure::data`] lists, verified.
    ///
    /// # Panics
    /// As for [`bags`](Self::bags).
    #[must_use]
    pub fn classes(&self, name: &str) -> &'a BagSet<ClassId> {
        match self.data_set(name) {
            DataSet::Classes(bags) => bags,
            _ => panic!("{}: {name} is not a set of bags of many classes", self.id),
        }
    }

    /// The instances of a data set that [`Figure::optional`] lists, verified; `None` where it is not there.
    ///
    /// # Panics
    /// If the figure does not list it there, or it is of another kind.
    #[must_use]
    pub fn instances(&self, name: &str) -> Option<Instances<'a>> {
        let found = self.optional.iter().find(|(known, _)| *known == name);
        let (_, data_set) = found.unwrap_or_else(|| panic!("{} does not list {name} among its optional data", self.id));
        match (*data_set)? {
            DataSet::Instances { train, test } => Some(Instances { train, test }),
            _ => panic!("{}: {name} is not a set of instances", self.id),
        }
    }

    fn data_set(&self, name: &str) -> &'a DataSet {
        let found = self.data.iter().find(|(known, _)| *known == name);
        found.unwrap_or_else(|| panic!("{} does not list {name} among its data", self.id)).1
    }

    /// Announces how many steps there are.
    pub fn start(&self, n_steps: usize) {
        self.n_steps.store(n_steps, Ordering::Relaxed);
        self.n_done.store(0, Ordering::Relaxed);
    }

    /// Tells that a step is done, and which; from any thread.
    pub fn step(&self, what: &str) {
        let n_done = self.n_done.fetch_add(1, Ordering::Relaxed) + 1;
        self.progress.say(&format!("{}: {n_done} of {}, {what}", self.id, self.n_steps.load(Ordering::Relaxed)));
    }

    /// Says something else of interest on the way.
    pub fn note(&self, text: &str) {
        self.progress.say(&format!("{}: {text}", self.id));
    }
}

/// Instances in no bag, divided by those who published them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instances<'a> {
    /// Instances to train on.
    pub train: &'a LabelledInstances,
    /// Instances to test on.
    pub test: &'a LabelledInstances,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_gets_the_bags_of_its_data_by_their_kind() {
        let names = mil_core::ClassNames::new(["a", "b", "c"]);
        let mut builder = BagSet::builder_of_classes(names);
        builder.bag("only", ClassId(2), [[1.0]]).unwrap();
        let classes = DataSet::Classes(builder.build().unwrap());
        let musk1 = DataSet::Binary(mil_data::catalogue::musk1());
        let progress = Progress::quiet();
        let pool = |text: &str| LabelledInstances::read_esl(text.as_bytes(), "digits.txt").unwrap();
        let digits = DataSet::Instances { train: pool("6 0.5\n9 -1\n"), test: pool("9 1\n") };
        let data = vec![("musk1", &musk1), ("corel-1000", &classes)];
        let optional = vec![("usps", Some(&digits)), ("mnist", None), ("musk2", Some(&musk1))];
        let context = Context::new("toy", true, 1, data, optional, &progress);
        assert_eq!((context.bags("musk1").n_bags(), context.classes("corel-1000").n_classes()), (92, 3));
        let digits = context.instances("usps").unwrap();
        assert_eq!((digits.train.n_instances(), digits.test.instance(0)), (2, &[1.0][..]));
        assert_eq!(context.instances("mnist"), None, "it is optional and absent");
        let refused = |ask: fn(&Context<'_>) -> usize| {
            let fault = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ask(&context))).unwrap_err();
            fault.downcast_ref::<String>().expect("a message").clone()
        };
        let said = refused(|context| context.bags("corel-1000").n_bags());
        assert_eq!(said, "toy: corel-1000 is not a set of bags of two classes");
        let said = refused(|context| context.classes("corel-2000").n_bags());
        assert_eq!(said, "toy does not list corel-2000 among its data");
        let said = refused(|context| context.instances("musk2").iter().len());
        assert_eq!(said, "toy: musk2 is not a set of instances");
        let said = refused(|context| context.instances("musk1").iter().len());
        assert_eq!(said, "toy does not list musk1 among its optional data");
        let said = refused(|context| context.bags("musk2").n_bags());
        assert_eq!(said, "toy does not list musk2 among its data", "a figure must not count on what is optional");
    }
}
