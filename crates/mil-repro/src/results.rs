//! What a run found out: the content of `results.json` and of `run.json`.
//!
//! The same code, data and seed give the same `results.json` to the byte, whatever the number of threads and however often the run was interrupted. When, where and how long is
//! in `run.json`, which is kept apart for that reason.

use mil_core::stats::Summary;
use serde::{Deserialize, Serialize};

use crate::comparison::{Comparison, Printed, Verdict};
use crate::figure::{Drawing, Panel, Picture, PictureRow, Table};
use crate::papers::Paper;
use crate::provenance::Provenance;

/// Name and version of the layout of `results.json`.
pub const SCHEMA: &str = "mil-repro/7";

/// Name and version of the layout of `run.json`.
pub const RUN_SCHEMA: &str = "mil-repro-run/1";

/// The outcome of a run, as far as code, data and seed fix it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// How it was measured.
    pub protocol: Protocol,
    /// The data sets that were asked for.
    pub data: Vec<Data>,
    /// The methods that were cross-validated, each with its cells.
    pub methods: Vec<MethodResult>,
    /// The tables of papers, which put these cells beside what is printed.
    pub tables: Vec<TableResult>,
    /// The figures, and tables of other kinds.
    pub figures: Vec<FigureResult>,
}

impl Results {
    /// How many cells and figures have data and came to nothing.
    #[must_use]
    pub fn n_failed(&self) -> usize {
        let cells = self.methods.iter().flat_map(|method| &method.cells);
        cells.filter(|cell| matches!(cell.state, CellState::Failed { .. })).count()
            + self.figures.iter().filter(|figure| matches!(figure.state, FigureState::Failed { .. })).count()
    }

    /// What a method came to on a data set, where that was asked for.
    #[must_use]
    pub fn cell(&self, method: &str, data: &str) -> Option<&Cell> {
        let method = self.methods.iter().find(|known| known.id == method)?;
        method.cells.iter().find(|cell| cell.data == data)
    }
}

/// How it was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protocol {
    /// Folds of each cross-validation.
    pub n_folds: usize,
    /// Repetitions that were asked for, for all cells.
    pub repeats: Option<usize>,
    /// Fixes the folds, and what figures draw at random.
    pub seed: u64,
    /// Whether this is the short run.
    pub quick: bool,
}

/// A data set and whether it was there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Data {
    /// Name in the catalogue.
    pub name: String,
    /// What it is.
    pub title: String,
    /// What was found.
    pub state: DataState,
}

/// Whether a data set was there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum DataState {
    /// Read and verified.
    Present {
        /// What it holds.
        contents: String,
        /// Share of the larger of two classes: what always saying the same would reach.
        larger_class: Option<f64>,
        /// SHA-256 of the uncompressed file of each part, that of the first of several equally good ones.
        sha256: Vec<String>,
    },
    /// Not there, or not the file meant.
    Absent {
        /// What is missing and how to get it.
        reason: String,
    },
}

/// A method and what its cells came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodResult {
    /// Short name.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// The parameters.
    pub settings: String,
    /// Tells the code from any other.
    pub code: String,
    /// One for each data set that was asked for.
    pub cells: Vec<Cell>,
}

/// What one method came to on one data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The data set.
    pub data: String,
    /// What it came to.
    #[serde(flatten)]
    pub state: CellState,
}

/// What a cell came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum CellState {
    /// Measured.
    Measured {
        /// Share of bags labelled right, of each repetition.
        accuracies: Vec<f64>,
        /// Area under the ROC curve, of each repetition; none where a repetition has none.
        aucs: Vec<f64>,
    },
    /// The data set was not there.
    NoData,
    /// The run was a quick one, and this cell takes long.
    LeftOut,
    /// The method refused the data.
    Failed {
        /// Why.
        reason: String,
    },
}

impl CellState {
    /// Accuracy over the repetitions, where it was measured.
    #[must_use]
    pub fn accuracy(&self) -> Option<Estimate> {
        match self {
            CellState::Measured { accuracies, .. } => Some(Estimate::of(accuracies)),
            _ => None,
        }
    }

    /// Area under the ROC curve over the repetitions, where it was measured.
    #[must_use]
    pub fn auc(&self) -> Option<Estimate> {
        match self {
            CellState::Measured { aucs, .. } if !aucs.is_empty() => Some(Estimate::of(aucs)),
            _ => None,
        }
    }
}

/// A table of a paper: what it prints, and how our cells stand to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableResult {
    /// Short name.
    pub id: String,
    /// The paper.
    pub paper: Paper,
    /// Where in the paper.
    pub place: String,
    /// What it shows.
    pub title: String,
    /// How it is measured here.
    pub protocol: String,
    /// The data sets, by name.
    pub columns: Vec<String>,
    /// The lines.
    pub lines: Vec<LineResult>,
}

/// A line of a paper's table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LineResult {
    /// What the paper calls the method.
    pub name: String,
    /// Our method; none where there is none.
    pub method: Option<String>,
    /// One for each column.
    pub cells: Vec<TableCell>,
}

/// What a paper prints in a cell, and how ours stands to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableCell {
    /// The paper's figure, in percent, where it has one.
    pub printed: Option<Printed>,
    /// How ours stands to it, where both are there.
    pub verdict: Option<Verdict>,
    /// What is to be said of it.
    pub note: Option<String>,
}

/// A figure and what it came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureResult {
    /// Short name of the figure.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// The paper.
    pub paper: Paper,
    /// Where in the paper.
    pub place: String,
    /// Data, fixed parameters and what is drawn.
    pub protocol: String,
    /// Tells the code from any other.
    pub code: String,
    /// The data sets it needs, by name.
    pub data: Vec<String>,
    /// The data sets it uses where they are there, by name.
    pub optional: Vec<String>,
    /// For each of these that was not there or not the file meant, what is missing and how to get it; the figure runs on generated data in its place.
    pub absent: Vec<String>,
    /// What came out.
    pub state: FigureState,
}

/// What a figure came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum FigureState {
    /// Drawn.
    Drawn {
        /// What the seed fixes.
        #[serde(flatten)]
        drawn: Drawn,
        /// How its figures stand to those printed, one for each of its comparisons.
        judged: Vec<Judged>,
    },
    /// A data set that it needs was not there.
    NoData {
        /// What is missing and how to get it.
        reason: String,
    },
    /// It could not be computed or drawn.
    Failed {
        /// Why.
        reason: String,
    },
}

/// What the seed fixes of a figure.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Drawn {
    /// The panels.
    pub panels: Vec<Panel>,
    /// The pictures, rounded to bytes.
    pub pictures: Vec<Raster>,
    /// The tables.
    pub tables: Vec<Table>,
    /// Sentences with figures measured.
    pub findings: Vec<String>,
    /// Figures that the paper prints as well.
    pub comparisons: Vec<Comparison>,
}

impl Drawn {
    /// Sees whether all of it can be shown.
    ///
    /// # Errors
    /// What cannot.
    pub fn check(&self) -> Result<(), String> {
        let is_whole = |raster: &Raster| {
            let n_pixels = raster.width.checked_mul(raster.height);
            raster.width > 0
                && raster.rows.iter().flat_map(|row| &row.images).all(|image| Some(image.len()) == n_pixels)
        };
        if let Some(raster) = self.pictures.iter().find(|raster| !is_whole(raster)) {
            return Err(format!("picture {:?} lacks pixels", raster.title));
        }
        let Drawn { panels, tables, comparisons, .. } = self.clone();
        let drawing = Drawing { panels, tables, comparisons, ..Drawing::default() };
        drawing.check().map_err(|error| error.to_string())
    }
}

/// How a comparison came out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// How ours stands to what is printed.
    pub verdict: Verdict,
    /// What is to be said of it.
    pub note: Option<String>,
}

/// When, where and how long: what differs from run to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Always [`RUN_SCHEMA`].
    pub schema: String,
    /// When, where and from which code the results were put together; and computed, as far as they were not stored before.
    pub provenance: Provenance,
    /// Pieces of the run.
    pub n_pieces: usize,
    /// Those among them that earlier runs, or other machines, had computed and stored.
    pub n_stored_before: usize,
    /// Seconds spent fitting for each cell, summed over folds and repetitions; method by method, cell by cell.
    pub fit_seconds: Vec<Vec<Option<f64>>>,
    /// What the figures tell of times, one for each.
    pub figure_timing: Vec<FigureTiming>,
}

/// A [`Picture`] as it is kept: a byte for each pixel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raster {
    /// What it shows.
    pub title: String,
    /// Pixels of an image from left to right.
    pub width: usize,
    /// Pixels of an image from top to bottom.
    pub height: usize,
    /// The rows of the grid from top to bottom.
    pub rows: Vec<RasterRow>,
}

/// A row of a [`Raster`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RasterRow {
    /// What stands beside it.
    pub head: String,
    /// Its images from left to right. An image is a byte for each pixel, line by line from the top left, 0 for paper to 255 for ink; in the file it is a string, these bytes in base64.
    #[serde(with = "base64_strings")]
    pub images: Vec<Vec<u8>>,
}

impl From<&Picture> for Raster {
    /// Rounds the values, which are from 0 to 1, to the nearest of 256 levels.
    fn from(picture: &Picture) -> Raster {
        let bytes = |image: &Vec<f64>| image.iter().map(|value| (255.0 * value).round() as u8).collect();
        let row = |PictureRow { head, images }: &PictureRow| RasterRow {
            head: head.clone(),
            images: images.iter().map(bytes).collect(),
        };
        let Picture { width, height, .. } = *picture;
        Raster { title: picture.title.clone(), width, height, rows: picture.rows.iter().map(row).collect() }
    }
}

/// A list of bytes as a string, several as several.
mod base64_strings {
    use base64::prelude::{BASE64_STANDARD, Engine};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(lists: &[Vec<u8>], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(lists.iter().map(|bytes| BASE64_STANDARD.encode(bytes)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<u8>>, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        texts.iter().map(|text| BASE64_STANDARD.decode(text).map_err(D::Error::custom)).collect()
    }
}

/// What a figure tells of times, which differ from run to run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FigureTiming {
    /// Seconds that the figure took, where it was drawn.
    pub seconds: Option<f64>,
    /// Panels that show times.
    pub panels: Vec<Panel>,
    /// Tables that tell times.
    pub tables: Vec<Table>,
    /// Sentences that tell times.
    pub findings: Vec<String>,
}

impl FigureTiming {
    /// Whether there is more than the time of the figure itself.
    #[must_use]
    pub fn tells_anything(&self) -> bool {
        !(self.panels.is_empty() && self.tables.is_empty() && self.findings.is_empty())
    }
}

/// A mean over repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval, from two repetitions on.
    pub half_width: Option<f64>,
    /// The repetitions.
    pub n_runs: usize,
}

impl Estimate {
    /// Of these, of which there is at least one.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn of(values: &[f64]) -> Estimate {
        Summary::of(values).into()
    }
}

/// `78.3 ± 2.1`, in percent.
pub(crate) fn percent(estimate: Estimate) -> String {
    match estimate.half_width {
        Some(half_width) => format!("{:.1} ± {:.1}", 100.0 * estimate.mean, 100.0 * half_width),
        None => format!("{:.1}", 100.0 * estimate.mean),
    }
}

impl From<Summary> for Estimate {
    fn from(summary: Summary) -> Estimate {
        Estimate { mean: summary.mean, half_width: summary.half_width, n_runs: summary.n }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_kept_as_strings_of_base64_and_reads_back_equal() {
        let images = vec![vec![0.0, 0.5, 1.0], vec![0.001, 0.002, 0.999]];
        let rows = vec![PictureRow { head: "first".to_owned(), images }];
        let raster = Raster::from(&Picture { title: "Atoms".to_owned(), width: 3, height: 1, rows });
        assert_eq!(raster.rows[0].images, [[0, 128, 255], [0, 1, 255]]);
        let written = serde_json::to_string(&raster).unwrap();
        // RFC 4648: 00 80 ff is AID/, 00 01 ff is AAH/.
        assert!(written.ends_with(r#""rows":[{"head":"first","images":["AID/","AAH/"]}]}"#), "{written}");
        assert_eq!(serde_json::from_str::<Raster>(&written).unwrap(), raster);
        assert!(serde_json::from_str::<Raster>(&written.replace("AID/", "AID?")).is_err(), "not base64");
    }
}
