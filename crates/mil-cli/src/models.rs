//! Models whose type is known to the file alone.
//!
//! A model goes into a [model file](mil_core::model_file) as the crate that fitted it would write it, so that Rust code reads it as well. What only this program needs stands among the creation parameters, under
//! names that begin with `mil.`: the learner, the scaling, the names of features and classes.

use std::path::Path;

use mil_core::model_file::{self, Header, ModelFileError, SavedModel};
use mil_core::stats::Summary;
use mil_core::{
    BagLabel, BagModel, BagSet, ClassId, ClassNames, CvReport, Label, NearestCentroidModel, ScaledModel, Target,
};
use mil_dict::MidlModel;
use mil_forest::{ForestModel, OnlineForestStream};
use mil_mio::{EmbeddingModel, MioStream};
use mil_pmi::OneClassModel;
use mil_svm::{InstanceSvm, SetSvm, StatisticSvm};

use crate::error::CliError;

const LEARNER: &str = "mil.learner";
const SCALING: &str = "mil.scale";
const FEATURES: &str = "mil.features";
const CLASSES: &str = "mil.classes";

/// A model of any learner.
pub trait AnyModel<Y: Target>: BagModel<Y> {
    /// The bytes of its file.
    ///
    /// # Errors
    /// If it does not serialise.
    fn encoded(&self, params: &[(String, String)]) -> Result<Vec<u8>, ModelFileError>;
}

impl<Y: Target, M: BagModel<Y> + SavedModel> AnyModel<Y> for M {
    fn encoded(&self, params: &[(String, String)]) -> Result<Vec<u8>, ModelFileError> {
        model_file::encode(self, params)
    }
}

/// A model of two classes or of many.
pub enum Model {
    /// The sign of its score decides.
    Two(Box<dyn AnyModel<Label>>),
    /// It gives a posterior for each class.
    Many(Box<dyn AnyModel<ClassId>>),
}

/// What this program knows of a model beside the model.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// Name of the learner.
    pub learner: String,
    /// How features were scaled.
    pub scaling: String,
    /// Names of the features, where the training data had any.
    pub features: Option<Vec<String>>,
    /// Names of the classes, where there are many.
    pub classes: Option<Vec<String>>,
    /// The learner's parameters.
    pub params: Vec<(String, String)>,
}

impl About {
    /// As it is kept in the file.
    ///
    /// # Panics
    /// Never: names are plain text.
    #[must_use]
    pub fn to_pairs(&self) -> Vec<(String, String)> {
        let list = |names: &Vec<String>| serde_json::to_string(names).expect("words are JSON");
        let mut pairs = vec![(LEARNER.to_owned(), self.learner.clone()), (SCALING.to_owned(), self.scaling.clone())];
        pairs.extend(self.features.as_ref().map(|names| (FEATURES.to_owned(), list(names))));
        pairs.extend(self.classes.as_ref().map(|names| (CLASSES.to_owned(), list(names))));
        pairs.extend(self.params.clone());
        pairs
    }

    /// What a header tells. A model that another program wrote tells only its kind.
    pub(crate) fn of(header: Header) -> About {
        let find = |name: &str| header.params.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        let list = |name: &str| find(name).and_then(|text| serde_json::from_str(&text).ok());
        About {
            learner: find(LEARNER).unwrap_or_else(|| header.kind.clone()),
            scaling: find(SCALING).unwrap_or_else(|| "unknown".to_owned()),
            features: list(FEATURES),
            classes: list(CLASSES),
            params: header.params.into_iter().filter(|(key, _)| !key.starts_with("mil.")).collect(),
        }
    }

    /// Refuses bags whose features bear other names than those the model was fitted on.
    ///
    /// # Errors
    /// The first name that differs.
    pub fn require_features<Y: BagLabel>(&self, bags: &BagSet<Y>) -> Result<(), CliError> {
        let (Some(expected), Some(found)) = (&self.features, bags.feature_names()) else { return Ok(()) };
        let differing = expected.iter().zip(found).position(|(expected, found)| expected != found);
        match differing {
            None => Ok(()),
            Some(idx) => Err(CliError::FeatureName {
                position: idx + 1,
                found: found[idx].clone(),
                expected: expected[idx].clone(),
            }),
        }
    }
}

/// Writes a model to a file, whole or not at all.
///
/// # Errors
/// If it cannot be written.
pub fn save<Y: Target>(path: &Path, model: &dyn AnyModel<Y>, about: &About) -> Result<(), CliError> {
    let bytes = model.encoded(&about.to_pairs()).map_err(|error| CliError::model(path, error))?;
    mil_core::atomic_file::write(path, |out| out.write_all(&bytes)).map_err(|error| CliError::io(path, error))
}

/// Reads a model of any learner.
///
/// # Errors
/// If the file cannot be read, is damaged, or holds something else.
pub fn load(path: &Path) -> Result<(Model, About), CliError> {
    let bytes = std::fs::read(path).map_err(|error| CliError::io(path, error))?;
    let header = model_file::header(&bytes).map_err(|error| CliError::model(path, error))?;
    let kind = header.kind.clone();
    let Some(decode) = decoders().into_iter().find(|(known, _)| *known == kind).map(|(_, decode)| decode) else {
        return Err(CliError::ModelKind { path: path.to_owned(), kind });
    };
    let model = decode(&bytes).map_err(|error| CliError::model(path, error))?;
    Ok((model, About::of(header)))
}

/// Makes a model of the bytes of its file.
type Decode = fn(&[u8]) -> Result<Model, ModelFileError>;

/// The kinds of models there are. Models of streams see features as they come, all others may stand behind a scaler.
fn decoders() -> Vec<(String, Decode)> {
    fn two<M: BagModel + SavedModel + 'static>() -> [(String, Decode); 2] {
        [(M::kind(), plain_two::<M>), (ScaledModel::<M>::kind(), plain_two::<ScaledModel<M>>)]
    }
    fn many<M: BagModel<ClassId> + SavedModel + 'static>() -> [(String, Decode); 2] {
        [(M::kind(), plain_many::<M>), (ScaledModel::<M>::kind(), plain_many::<ScaledModel<M>>)]
    }
    fn plain_two<M: BagModel + SavedModel + 'static>(bytes: &[u8]) -> Result<Model, ModelFileError> {
        model_file::decode::<M>(bytes).map(|model| Model::Two(Box::new(model)))
    }
    fn plain_many<M: BagModel<ClassId> + SavedModel + 'static>(bytes: &[u8]) -> Result<Model, ModelFileError> {
        model_file::decode::<M>(bytes).map(|model| Model::Many(Box::new(model)))
    }
    [
        two::<InstanceSvm>(),
        two::<SetSvm>(),
        two::<StatisticSvm>(),
        two::<EmbeddingModel>(),
        two::<MioStream>(),
        two::<ForestModel<Label>>(),
        two::<OnlineForestStream<Label>>(),
        two::<OneClassModel>(),
        two::<MidlModel>(),
        two::<NearestCentroidModel<Label>>(),
        many::<ForestModel<ClassId>>(),
        many::<OnlineForestStream<ClassId>>(),
        many::<NearestCentroidModel<ClassId>>(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What a command has to know of a label to tell about it.
pub trait Told: Target {
    /// Its word.
    fn word(self, classes: &ClassNames) -> String;

    /// How much a score speaks for this label.
    fn strength(self, score: &Self::Score) -> f64;

    /// The numbers of a score, under the names of their columns.
    fn numbers(score: &Self::Score, classes: &ClassNames) -> Vec<(String, f64)>;

    /// Area under the curve, where there is one.
    fn auc(report: &CvReport<Self>) -> Option<Summary>;
}

impl Told for Label {
    fn word(self, _: &ClassNames) -> String {
        self.to_string()
    }

    fn strength(self, score: &f64) -> f64 {
        *score
    }

    fn numbers(score: &f64, _: &ClassNames) -> Vec<(String, f64)> {
        vec![("score".to_owned(), *score)]
    }

    fn auc(report: &CvReport<Label>) -> Option<Summary> {
        report.roc_auc()
    }
}

impl Told for ClassId {
    fn word(self, classes: &ClassNames) -> String {
        classes.name(self).map_or_else(|| self.0.to_string(), str::to_owned)
    }

    fn strength(self, score: &Vec<f64>) -> f64 {
        score[self.idx()]
    }

    fn numbers(score: &Vec<f64>, classes: &ClassNames) -> Vec<(String, f64)> {
        let name = |idx: usize| format!("posterior_{}", ClassId(idx as u32).word(classes));
        score.iter().enumerate().map(|(idx, value)| (name(idx), *value)).collect()
    }

    fn auc(_: &CvReport<ClassId>) -> Option<Summary> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_decoder() {
        let mut kinds: Vec<String> = decoders().into_iter().map(|(kind, _)| kind).collect();
        let n_kinds = kinds.len();
        kinds.sort();
        kinds.dedup();
        assert_eq!(kinds.len(), n_kinds);
    }

    #[test]
    fn what_is_known_of_a_model_survives_its_file() {
        let about = About {
            learner: "mi-svm".to_owned(),
            scaling: "min-max".to_owned(),
            features: Some(vec!["a,\"b\"".to_owned(), "c".to_owned()]),
            classes: None,
            params: vec![("penalty".to_owned(), "10.0".to_owned())],
        };
        let header = Header { kind: "scaled instance-svm".to_owned(), params: about.to_pairs() };
        assert_eq!(About::of(header), about);
    }
}
