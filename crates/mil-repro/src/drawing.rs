//! What a figure draws: panels, pictures, tables and sentences, and whether all of it can be drawn.

use serde::{Deserialize, Serialize};

use crate::comparison::Comparison;

/// Series of one panel that a reader can still tell apart by colour and mark; those of one name and style count once.
pub const MAX_SERIES: usize = 6;
/// Levels of one panel that a reader can still tell apart by their dashes.
pub const MAX_LEVELS: usize = 3;

/// What came out: panels, pictures, tables and findings that the seed fixes, and panels, tables and findings of times, which it does not.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Drawing {
    /// The panels that the seed fixes.
    pub panels: Vec<Panel>,
    /// Grids of grey images; fixed by the seed as well.
    pub pictures: Vec<Picture>,
    /// The tables that the seed fixes.
    pub tables: Vec<Table>,
    /// Sentences with figures measured, such as "slope over the last decade -0.49"; fixed by the seed as well.
    pub findings: Vec<String>,
    /// Figures that the paper prints as well, in its order.
    pub comparisons: Vec<Comparison>,
    /// Panels that show times.
    pub timed: Vec<Panel>,
    /// Tables that tell times.
    pub timed_tables: Vec<Table>,
    /// Sentences that tell times.
    pub timed_findings: Vec<String>,
}

impl Drawing {
    /// Sees whether all of it can be drawn.
    ///
    /// # Errors
    /// If a number is not finite or has no place on its axis, if a series has no points, if there are too many to tell apart, if a picture lacks images or an image values, or if
    /// a table is not a rectangle.
    pub fn check(&self) -> Result<(), DrawingError> {
        self.panels.iter().chain(&self.timed).try_for_each(Panel::check)?;
        self.pictures.iter().try_for_each(Picture::check)?;
        self.tables.iter().chain(&self.timed_tables).try_for_each(Table::check)?;
        self.comparisons.iter().try_for_each(|comparison| {
            if !comparison.runs.is_empty() && comparison.runs.iter().all(|value| value.is_finite()) {
                return Ok(());
            }
            let Comparison { line, column, .. } = comparison.clone();
            Err(DrawingError::Comparison { line, column })
        })
    }
}

/// A table of text: what it is about, a head for each column, and rows. The first cell of a row names it, the others are figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// What it shows, with the unit.
    pub title: String,
    /// A head for each column, that of the names first.
    pub heads: Vec<String>,
    /// The rows, each as long as the heads; an empty cell says that there is nothing to tell.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    fn check(&self) -> Result<(), DrawingError> {
        if self.heads.is_empty() {
            return Err(DrawingError::NoColumns { table: self.title.clone() });
        }
        let uneven = self.rows.iter().enumerate().find(|(_, row)| row.len() != self.heads.len());
        match uneven {
            None => Ok(()),
            Some((row_idx, row)) => Err(DrawingError::Cells {
                table: self.title.clone(),
                row_idx,
                found: row.len(),
                expected: self.heads.len(),
            }),
        }
    }
}

/// A grid of grey images of one size, such as the atoms of dictionaries, a dictionary a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// Pixels of an image from left to right. At least 1.
    pub width: usize,
    /// Pixels of an image from top to bottom. At least 1.
    pub height: usize,
    /// The rows of the grid from top to bottom. At least one.
    pub rows: Vec<PictureRow>,
}

/// A row of a [`Picture`].
#[derive(Debug, Clone, PartialEq)]
pub struct PictureRow {
    /// What stands beside it: a word or two.
    pub head: String,
    /// Its images from left to right, at least one; rows may differ in number. An image is `width * height` values line by line from the top left, 0 for paper to 1 for ink.
    pub images: Vec<Vec<f64>>,
}

impl Picture {
    fn check(&self) -> Result<(), DrawingError> {
        let picture = || self.title.clone();
        let Picture { width, height, .. } = *self;
        if width == 0 || height == 0 {
            return Err(DrawingError::NoPixels { picture: picture(), width, height });
        }
        if self.rows.is_empty() {
            return Err(DrawingError::NoRows { picture: picture() });
        }
        for (row_idx, row) in self.rows.iter().enumerate() {
            if row.images.is_empty() {
                return Err(DrawingError::NoImages { picture: picture(), row_idx });
            }
            for (image_idx, image) in row.images.iter().enumerate() {
                let (found, expected) = (image.len(), width * height);
                if found != expected {
                    return Err(DrawingError::Values { picture: picture(), row_idx, image_idx, found, expected });
                }
                // A range does not contain NaN.
                if let Some(value_idx) = image.iter().position(|value| !(0.0..=1.0).contains(value)) {
                    let fault = Fault { quantity: "value", value: image[value_idx], expected: "a number from 0 to 1" };
                    return Err(DrawingError::Value { picture: picture(), row_idx, image_idx, value_idx, fault });
                }
            }
        }
        Ok(())
    }
}

/// One plot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: AxisSpec,
    /// The vertical axis.
    pub y: AxisSpec,
    /// At least one, of at most [`MAX_SERIES`] names and styles. Series that share both look alike and have one key, as the parts of one contour do.
    pub series: Vec<Series>,
    /// Horizontal lines, as for a figure that a paper prints; at most [`MAX_LEVELS`].
    pub levels: Vec<Level>,
}

impl Panel {
    /// The names and styles there are, each once, in the order of the series.
    pub(crate) fn looks(&self) -> Vec<(&str, Style)> {
        let mut looks = Vec::new();
        for look in self.series.iter().map(Series::look) {
            if !looks.contains(&look) {
                looks.push(look);
            }
        }
        looks
    }

    /// Whether it shows places in the plane rather than a quantity that depends on another.
    pub(crate) fn shows_the_plane(&self) -> bool {
        self.series.iter().all(|series| match series.style {
            Style::Line | Style::Dashed => false,
            Style::Marks | Style::Curve | Style::Rings => true,
        })
    }

    fn check(&self) -> Result<(), DrawingError> {
        let panel = || self.title.clone();
        for (what, found, least, most) in
            [("series", self.looks().len(), 1, MAX_SERIES), ("levels", self.levels.len(), 0, MAX_LEVELS)]
        {
            if !(least..=most).contains(&found) {
                return Err(DrawingError::Count { panel: panel(), what, found, least, most });
            }
        }
        for series in &self.series {
            if series.points.is_empty() {
                return Err(DrawingError::NoPoints { panel: panel(), series: series.name.clone() });
            }
            for (point_idx, point) in series.points.iter().enumerate() {
                self.check_point(point).map_err(|fault| DrawingError::Point {
                    panel: panel(),
                    series: series.name.clone(),
                    point_idx,
                    fault,
                })?;
            }
        }
        for level in &self.levels {
            self.y.scale.check("y", level.y).map_err(|fault| DrawingError::Level {
                panel: panel(),
                level: level.name.clone(),
                fault,
            })?;
        }
        Ok(())
    }

    fn check_point(&self, point: &Point) -> Result<(), Fault> {
        self.x.scale.check("x", point.x)?;
        self.y.scale.check("y", point.y)?;
        match point.half_width {
            Some(value) if !(value.is_finite() && value >= 0.0) => {
                Err(Fault { quantity: "half_width", value, expected: "a finite number, at least 0" })
            }
            _ => Ok(()),
        }
    }
}

/// An axis of a panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisSpec {
    /// What is on it, with the unit.
    pub label: String,
    /// How numbers become lengths.
    pub scale: Scale,
}

impl AxisSpec {
    /// An axis on which equal differences are equal lengths.
    #[must_use]
    pub fn linear(label: &str) -> AxisSpec {
        AxisSpec { label: label.to_owned(), scale: Scale::Linear }
    }

    /// An axis on which equal ratios are equal lengths.
    #[must_use]
    pub fn log(label: &str) -> AxisSpec {
        AxisSpec { label: label.to_owned(), scale: Scale::Log }
    }
}

/// How numbers become lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal differences are equal lengths.
    Linear,
    /// Equal ratios are equal lengths; all numbers are above 0.
    Log,
}

impl Scale {
    fn check(self, quantity: &'static str, value: f64) -> Result<(), Fault> {
        let (is_sound, expected) = match self {
            Scale::Linear => (value.is_finite(), "a finite number"),
            Scale::Log => (value.is_finite() && value > 0.0, "a finite number above 0, since the axis is logarithmic"),
        };
        if is_sound { Ok(()) } else { Err(Fault { quantity, value, expected }) }
    }
}

/// Points, and the curve through them in the order given where the style has one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// How they look.
    pub style: Style,
    /// At least one.
    pub points: Vec<Point>,
}

impl Series {
    /// What tells it from other series.
    pub(crate) fn look(&self) -> (&str, Style) {
        (&self.name, self.style)
    }
}

/// How a series looks; colour and mark follow from the place of its name and style among those of the panel.
///
/// Where all series of a panel are `Marks`, `Curve` or `Rings` it is a picture of the plane: if both axes are linear, a unit is as long on one as on the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// A solid line with filled marks.
    Line,
    /// A dashed line with hollow marks, as for what a theory predicts.
    Dashed,
    /// Small marks one sees through and no line, as for a cloud of instances.
    Marks,
    /// A solid line without marks, as for a decision boundary; it is closed if its last point is its first.
    Curve,
    /// Large circles, hollow and without a line, around points to single out; several such series differ by colour alone.
    Rings,
}

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Place on the horizontal axis.
    pub x: f64,
    /// Place on the vertical axis.
    pub y: f64,
    /// Half the width of an interval around `y`, such as the 95 % confidence interval.
    pub half_width: Option<f64>,
}

impl Point {
    /// A point without an interval.
    #[must_use]
    pub fn at(x: f64, y: f64) -> Point {
        Point { x, y, half_width: None }
    }
}

/// A horizontal line over the whole panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Its name in the legend.
    pub name: String,
    /// Place on the vertical axis.
    pub y: f64,
}

/// Why a drawing cannot be drawn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DrawingError {
    /// A figure to be compared with what is printed has no run, or one that is not a finite number.
    #[error("comparison {line:?}, {column:?}: expected at least one run, each a finite number")]
    Comparison {
        /// The line of the paper's table.
        line: String,
        /// The column.
        column: String,
    },
    /// A number of a series has no place in the panel.
    #[error("panel {panel:?}, series {series:?}, point {point_idx}: {fault}")]
    Point {
        /// Title of the panel.
        panel: String,
        /// Name of the series.
        series: String,
        /// Position of the point.
        point_idx: usize,
        /// What is wrong.
        fault: Fault,
    },
    /// A level has no place in the panel.
    #[error("panel {panel:?}, level {level:?}: {fault}")]
    Level {
        /// Title of the panel.
        panel: String,
        /// Name of the level.
        level: String,
        /// What is wrong.
        fault: Fault,
    },
    /// A series has no points.
    #[error("panel {panel:?}, series {series:?} has no points; expected at least one")]
    NoPoints {
        /// Title of the panel.
        panel: String,
        /// Name of the series.
        series: String,
    },
    /// The images of a picture have no pixels.
    #[error("picture {picture:?} has images of {width} x {height} pixels, expected at least 1 x 1")]
    NoPixels {
        /// Title of the picture.
        picture: String,
        /// Pixels of an image from left to right.
        width: usize,
        /// Pixels of an image from top to bottom.
        height: usize,
    },
    /// A picture has no rows.
    #[error("picture {picture:?} has no rows; expected at least one")]
    NoRows {
        /// Title of the picture.
        picture: String,
    },
    /// A row of a picture has no images.
    #[error("picture {picture:?}, row {row_idx} has no images; expected at least one")]
    NoImages {
        /// Title of the picture.
        picture: String,
        /// Position of the row.
        row_idx: usize,
    },
    /// An image has more or fewer values than pixels.
    #[error("picture {picture:?}, row {row_idx}, image {image_idx} has {found} values, expected {expected}")]
    Values {
        /// Title of the picture.
        picture: String,
        /// Position of the row.
        row_idx: usize,
        /// Position of the image in its row.
        image_idx: usize,
        /// How many values it has.
        found: usize,
        /// How many pixels there are.
        expected: usize,
    },
    /// A value of an image is no grey.
    #[error("picture {picture:?}, row {row_idx}, image {image_idx}, pixel {value_idx}: {fault}")]
    Value {
        /// Title of the picture.
        picture: String,
        /// Position of the row.
        row_idx: usize,
        /// Position of the image in its row.
        image_idx: usize,
        /// Position of the value in its image.
        value_idx: usize,
        /// What is wrong.
        fault: Fault,
    },
    /// A table has not even the column that names its rows.
    #[error("table {table:?} has no columns; expected at least one")]
    NoColumns {
        /// Title of the table.
        table: String,
    },
    /// A row of a table is longer or shorter than its heads.
    #[error("table {table:?}, row {row_idx} has {found} cells, expected {expected}")]
    Cells {
        /// Title of the table.
        table: String,
        /// Position of the row.
        row_idx: usize,
        /// How many cells it has.
        found: usize,
        /// How many columns there are.
        expected: usize,
    },
    /// There is nothing to draw, or too much to tell apart.
    #[error("panel {panel:?} has {found} {what}, expected {least} to {most}")]
    Count {
        /// Title of the panel.
        panel: String,
        /// What was counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there must be.
        least: usize,
        /// How many there may be.
        most: usize,
    },
}

/// A number that cannot be drawn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{quantity} is {value}, expected {expected}")]
pub struct Fault {
    /// What the number stands for.
    pub quantity: &'static str,
    /// The number.
    pub value: f64,
    /// What it should be.
    pub expected: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(points: &[Point]) -> Panel {
        let series = |name: &str, points: &[Point]| Series {
            name: name.to_owned(),
            style: Style::Line,
            points: points.to_vec(),
        };
        Panel {
            title: "Error".to_owned(),
            x: AxisSpec::log("bags"),
            y: AxisSpec::linear("error"),
            series: vec![series("sound", &[Point::at(1.0, 0.0)]), series("ours", points)],
            levels: Vec::new(),
        }
    }

    fn refusal(panel: Panel) -> String {
        Drawing { timed: vec![panel], ..Drawing::default() }.check().unwrap_err().to_string()
    }

    #[test]
    fn a_number_without_a_place_is_refused_by_panel_series_and_point() {
        let sound = Point::at(10.0, -1.0);
        assert_eq!(Drawing { panels: vec![panel(&[sound])], ..Drawing::default() }.check(), Ok(()));
        let place = "panel \"Error\", series \"ours\", point 1: ";
        for (point, fault) in [
            (Point::at(10.0, f64::NAN), "y is NaN, expected a finite number"),
            (Point::at(0.0, 1.0), "x is 0, expected a finite number above 0"),
            (Point { half_width: Some(-0.5), ..sound }, "half_width is -0.5"),
            (Point { half_width: Some(f64::INFINITY), ..sound }, "half_width is inf"),
        ] {
            let said = refusal(panel(&[sound, point]));
            assert!(said.starts_with(&format!("{place}{fault}")), "{said}");
        }
        let level = Level { name: "printed".to_owned(), y: f64::NAN };
        assert!(refusal(Panel { levels: vec![level], ..panel(&[sound]) }).contains("level \"printed\": y is NaN"));
    }

    #[test]
    fn a_row_of_a_table_is_as_long_as_its_heads() {
        let table = |row: &[&str]| Table {
            title: "Accuracy".to_owned(),
            heads: ["method", "ours", "printed"].map(str::to_owned).to_vec(),
            rows: [&["sound", "1", "2"][..], row].map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).to_vec(),
        };
        assert_eq!(Drawing { tables: vec![table(&["whole", "3", ""])], ..Drawing::default() }.check(), Ok(()));
        let drawing = Drawing { timed_tables: vec![table(&["short", "3"])], ..Drawing::default() };
        let said = drawing.check().unwrap_err().to_string();
        assert_eq!(said, "table \"Accuracy\", row 1 has 2 cells, expected 3");
        let nothing = Table { heads: Vec::new(), ..table(&[]) };
        let said = Drawing { tables: vec![nothing], ..Drawing::default() }.check().unwrap_err().to_string();
        assert_eq!(said, "table \"Accuracy\" has no columns; expected at least one");
    }

    #[test]
    fn a_picture_without_its_images_or_with_a_value_that_is_no_grey_is_refused() {
        let row = |images: &[&[f64]]| PictureRow {
            head: "0".to_owned(),
            images: images.iter().map(|image| image.to_vec()).collect(),
        };
        let picture = |rows: Vec<PictureRow>| Picture { title: "Atoms".to_owned(), width: 3, height: 1, rows };
        let check = |picture: Picture| {
            let drawing = Drawing { pictures: vec![picture], ..Drawing::default() };
            drawing.check().map_err(|error| error.to_string())
        };
        let sound = [0.0, 0.5, 1.0];
        assert_eq!(check(picture(vec![row(&[&sound]), row(&[&sound, &sound])])), Ok(()), "rows may differ in number");
        let refusals = [
            (picture(Vec::new()), "has no rows; expected at least one"),
            (picture(vec![row(&[&sound]), row(&[])]), "row 1 has no images; expected at least one"),
            (picture(vec![row(&[&sound, &sound[1..]])]), "row 0, image 1 has 2 values, expected 3"),
            (Picture { width: 0, ..picture(vec![row(&[&[]])]) }, "has images of 0 x 1 pixels, expected at least 1 x 1"),
            (Picture { height: 0, ..picture(vec![row(&[&[]])]) }, "has images of 3 x 0 pixels"),
        ];
        for (picture, fault) in refusals {
            let said = check(picture).unwrap_err();
            assert!(said.starts_with("picture \"Atoms\"") && said.contains(fault), "{said}");
        }
        for (value, text) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (-0.001, "-0.001"), (1.001, "1.001")] {
            let said = check(picture(vec![row(&[&sound]), row(&[&sound, &[0.0, 1.0, value]])])).unwrap_err();
            let place = "picture \"Atoms\", row 1, image 1, pixel 2";
            assert_eq!(said, format!("{place}: value is {text}, expected a number from 0 to 1"));
        }
    }

    #[test]
    fn a_panel_has_something_to_draw_and_not_too_much() {
        let sound = panel(&[Point::at(1.0, 1.0)]);
        assert!(refusal(panel(&[])).contains("series \"ours\" has no points"));
        assert!(refusal(Panel { series: Vec::new(), ..sound.clone() }).contains("0 series"));
        let named = |idx: usize| Series { name: format!("series {idx}"), ..sound.series[0].clone() };
        let many = (0..=MAX_SERIES).map(named).collect();
        assert!(refusal(Panel { series: many, ..sound.clone() }).contains("7 series, expected 1 to 6"));
        let many = vec![Level { name: "printed".to_owned(), y: 1.0 }; MAX_LEVELS + 1];
        assert!(refusal(Panel { levels: many, ..sound }).contains("4 levels, expected 0 to 3"));
    }

    #[test]
    fn series_of_one_name_and_style_count_once() {
        let sound = panel(&[Point::at(1.0, 1.0)]);
        let part = Series { style: Style::Curve, ..sound.series[0].clone() };
        let parts = |n_parts: usize| Panel { series: vec![part.clone(); n_parts], ..sound.clone() };
        assert_eq!(Drawing { panels: vec![parts(3 * MAX_SERIES)], ..Drawing::default() }.check(), Ok(()));
        let mut styles = parts(2);
        styles.series.push(Series { style: Style::Rings, ..part.clone() });
        styles.series.push(Series { name: "other".to_owned(), ..part });
        let looks = [("sound", Style::Curve), ("sound", Style::Rings), ("other", Style::Curve)];
        assert_eq!(styles.looks(), looks);
    }

    #[test]
    fn a_panel_shows_the_plane_unless_a_series_is_a_line_with_marks() {
        let drawn_as = |styles: &[Style]| {
            let mut panel = panel(&[Point::at(1.0, 1.0)]);
            panel.series.iter_mut().zip(styles).for_each(|(series, &style)| series.style = style);
            panel.shows_the_plane()
        };
        assert!(drawn_as(&[Style::Marks, Style::Curve]) && drawn_as(&[Style::Rings, Style::Marks]));
        assert!(!drawn_as(&[Style::Marks, Style::Line]) && !drawn_as(&[Style::Dashed, Style::Curve]));
    }

    #[test]
    fn styles_are_written_in_lower_case() {
        let styles = [Style::Line, Style::Dashed, Style::Marks, Style::Curve, Style::Rings];
        let written = serde_json::to_string(&styles).unwrap();
        assert_eq!(written, r#"["line","dashed","marks","curve","rings"]"#);
    }
}
