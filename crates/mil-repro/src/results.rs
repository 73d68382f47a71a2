//! What a run found out: the content of `results.json`.
//!
//! The same seed gives the same file whatever the number of threads, but for the blocks `timing`, `figure_timing` and `machine`, which are kept apart for that reason.

use serde::{Deserialize, Serialize};

use crate::figure::{Panel, Picture, PictureRow, Table};
use crate::row::Row;

/// Name and version of the layout of `results.json`.
pub const SCHEMA: &str = "mil-repro/6";

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Version of this package.
    pub version: String,
    /// How it was measured.
    pub protocol: Protocol,
    /// The data sets, in the order of the columns.
    pub data: Vec<Data>,
    /// The rows, each with one cell per data set.
    pub rows: Vec<RowResult>,
    /// The figures, as far as the seed fixes them.
    pub figures: Vec<FigureResult>,
    /// Seconds spent fitting, summed over all folds; row by row, data set by data set.
    pub timing: Vec<Vec<Option<f64>>>,
    /// What the figures tell of times, one for each.
    pub figure_timing: Vec<FigureTiming>,
    /// Where it ran.
    pub machine: Machine,
}

impl Results {
    /// How many cells and figures have data and came to nothing.
    #[must_use]
    pub fn n_failed(&self) -> usize {
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        cells.filter(|cell| matches!(cell, Cell::Failed { .. })).count()
            + self.figures.iter().filter(|figure| matches!(figure.state, FigureState::Failed { .. })).count()
    }
}

/// How it was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protocol {
    /// Folds of each cross-validation.
    pub n_folds: usize,
    /// Repetitions with other folds, of rows that state none of their own.
    pub n_repeats: usize,
    /// Whether the repetitions were asked for, and so hold for all rows.
    pub repeats_given: bool,
    /// Fixes the folds.
    pub seed: u64,
    /// Whether this is the short run.
    pub quick: bool,
}

impl Protocol {
    /// Repetitions of a row: its own in a full run in which none were asked for.
    #[must_use]
    pub fn repeats_of(&self, row: &Row) -> usize {
        match row.repeats {
            Some(n_repeats) if !self.quick && !self.repeats_given => n_repeats,
            _ => self.n_repeats,
        }
    }
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
        /// Number of bags.
        n_bags: usize,
        /// Number of positive bags.
        n_positive: usize,
        /// Number of instances.
        n_instances: usize,
        /// Number of features.
        n_features: usize,
    },
    /// Not there, or not the file meant.
    Absent {
        /// What is missing and how to get it.
        reason: String,
    },
}

/// A row and what its cells came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowResult {
    /// Short name of the row.
    pub id: String,
    /// Name of the method for people.
    pub method: String,
    /// The parameters.
    pub settings: String,
    /// Repetitions of its cross-validations.
    pub n_repeats: usize,
    /// One per data set, in their order.
    pub cells: Vec<Cell>,
}

/// What one method came to on one data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum Cell {
    /// Measured.
    Measured {
        /// Share of bags labelled right.
        accuracy: Estimate,
        /// Area under the ROC curve.
        auc: Option<Estimate>,
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

/// A figure and what it came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureResult {
    /// Short name of the figure.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// Paper and figure.
    pub source: String,
    /// Data, fixed parameters and what is drawn.
    pub protocol: String,
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
        /// The panels that the seed fixes.
        panels: Vec<Panel>,
        /// The pictures, rounded to bytes.
        pictures: Vec<Raster>,
        /// The tables that the seed fixes.
        tables: Vec<Table>,
        /// Sentences with figures measured.
        findings: Vec<String>,
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
}

impl From<mil_core::stats::Summary> for Estimate {
    fn from(summary: mil_core::stats::Summary) -> Estimate {
        Estimate { mean: summary.mean, half_width: summary.half_width }
    }
}

/// Where a run took place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Operating system.
    pub os: String,
    /// Instruction set.
    pub arch: String,
    /// Threads used.
    pub n_threads: usize,
}

impl Machine {
    /// This one.
    #[must_use]
    pub fn this() -> Machine {
        Machine {
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            n_threads: rayon::current_num_threads(),
        }
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
