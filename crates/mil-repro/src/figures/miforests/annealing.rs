//! How labels cool, epoch by epoch, and what that does to accuracy. The paper states neither the end of cooling nor how much depends on it.

use mil_core::stats::Summary;
use mil_core::{BagSet, CrossValidation, FitError, Label};
use mil_forest::{Epoch, MiForest, MiForestTrace};

use crate::figure::{AxisSpec, Context, Drawing, Figure, Level, Panel, Point, Series, Style};
use crate::papers::Paper;

const PROTOCOL: &str = "The default MIForest cooled along T = exp(-t/2) down to 0.01, nine epochs. Entropy, objective and members are of fits on all bags, means over five seeds with 95 % intervals; the objective is that of the labels p* and the forest \
                        that they were computed from, and after the forest was grown anew. Accuracy is that of five repetitions of ten-fold cross-validation, cooling stopped after so many epochs, 0 for the plain forest. \
                        In a quick run the first set alone, three seeds, three repetitions and at most two epochs of these.";

pub(super) fn figures() -> Vec<Figure> {
    let figure = |id, title, data, draw| Figure {
        id,
        title,
        paper: Paper::MiForests,
        place: "Algorithm 1, against its Table 1",
        protocol: PROTOCOL,
        data,
        optional: &[],
        code: &["mil-data", "mil-forest", "mil-mio"],
        source: file!(),
        draw,
    };
    vec![
        figure("miforest-annealing", "MIForest on Musk: how the labels cool", &["musk1", "musk2"], |context| {
            draw(context, &MUSK)
        }),
        figure(
            "miforest-annealing-images",
            "MIForest on images: how the labels cool",
            &["elephant", "fox", "tiger"],
            |context| draw(context, &IMAGES),
        ),
    ]
}

/// A data set, its name for people, and what Table 1 prints for MIForest in percent.
type Printed = (&'static str, &'static str, f64);

const MUSK: [Printed; 2] = [("musk1", "Musk1", 85.0), ("musk2", "Musk2", 82.0)];
const IMAGES: [Printed; 3] = [("elephant", "Elephant", 84.0), ("fox", "Fox", 64.0), ("tiger", "Tiger", 82.0)];

/// How long to cool where accuracies are measured; 0 is the plain forest.
const EPOCHS: [usize; 7] = [0, 1, 2, 3, 5, 7, 9];
const QUICK_EPOCHS: [usize; 3] = [0, 1, 2];
/// Epochs from T = 1 down to [`END`].
const ALL_EPOCHS: usize = 9;
const END: f64 = 0.01;

fn cooled(max_epochs: usize, seed: u64) -> MiForest {
    MiForest { end_temperature: END, max_epochs, seed, ..MiForest::default() }
}

fn draw(context: &Context<'_>, sets: &[Printed]) -> Result<Drawing, FitError> {
    let (sets, epochs, n_repeats) =
        if context.quick { (&sets[..1], &QUICK_EPOCHS[..], 3) } else { (sets, &EPOCHS[..], 5) };
    context.start(sets.len() * (1 + epochs.len()));
    let mut drawing = Drawing { panels: panels(), ..Drawing::default() };
    for &(data, title, printed) in sets {
        let bags = context.bags(data);
        let cooling = Cooling::of(bags, context.seed, n_repeats)?;
        context.step(&format!("{data} cooled"));
        let mut accuracies = Vec::new();
        for &n_epochs in epochs {
            let plan = CrossValidation { n_folds: 10, n_repeats, seed: context.seed };
            let accuracy = plan.run(&cooled(n_epochs, 0), bags, &())?.accuracy();
            accuracies.push(point(n_epochs, 100.0, accuracy));
            context.step(&format!("epochs: {n_epochs} on {data}"));
        }
        let [entropy, objective, members, accuracy] = &mut drawing.panels[..] else { panic!("there are four panels") };
        entropy.series.push(line(title, cooling.curve(|epoch| epoch.entropy / epoch.n_hidden as f64)));
        objective.series.push(line(
            &format!("{title}, before growth"),
            cooling.curve(|epoch| epoch.objective / epoch.n_hidden as f64),
        ));
        objective.series.push(Series {
            style: Style::Dashed,
            ..line(&format!("{title}, after"), cooling.curve(|epoch| epoch.objective_after / epoch.n_hidden as f64))
        });
        members.series.push(line(title, cooling.curve(|epoch| epoch.expected_members / cooling.n_hidden_bags as f64)));
        drawing.findings.push(cooling.finding(title, &accuracies, printed));
        accuracy.series.push(line(title, accuracies));
        accuracy.levels.push(Level { name: format!("{title}, printed"), y: printed });
    }
    Ok(drawing)
}

/// The panels, without their curves.
fn panels() -> Vec<Panel> {
    let panel = |title: &str, x: &str, y: &str| Panel {
        title: title.to_owned(),
        x: AxisSpec::linear(x),
        y: AxisSpec::linear(y),
        series: Vec::new(),
        levels: Vec::new(),
    };
    let epoch = "epoch t, at T = exp(-t/2)";
    let uniform = Level { name: "both labels alike".to_owned(), y: std::f64::consts::LN_2 };
    vec![
        Panel { levels: vec![uniform], ..panel("a. entropy of the labels", epoch, "nats per hidden instance") },
        panel("b. objective", epoch, "loss less T times entropy, per hidden instance"),
        panel("c. members", epoch, "expected positive instances per bag that hides labels"),
        panel("d. accuracy", "epochs", "bags labelled right, %"),
    ]
}

fn line(name: &str, points: Vec<Point>) -> Series {
    Series { name: name.to_owned(), style: Style::Line, points }
}

fn point(epoch: usize, unit: f64, value: Summary) -> Point {
    Point { x: epoch as f64, y: unit * value.mean, half_width: value.half_width.map(|half_width| unit * half_width) }
}

/// How fits on all bags of a set went.
struct Cooling {
    /// One for each seed.
    traces: Vec<MiForestTrace>,
    n_hidden_bags: usize,
    n_hidden_instances: usize,
}

impl Cooling {
    fn of(bags: &BagSet<Label>, seed: u64, n_seeds: usize) -> Result<Cooling, FitError> {
        let fit = |seed_idx| Ok(cooled(ALL_EPOCHS, seed.wrapping_add(seed_idx as u64)).fit_traced(bags)?.1);
        let traces = (0..n_seeds).map(fit).collect::<Result<Vec<MiForestTrace>, FitError>>()?;
        let sizes: Vec<usize> = bags.positive_bags().map(|bag| bag.n_instances()).filter(|size| *size > 1).collect();
        Ok(Cooling { traces, n_hidden_bags: sizes.len(), n_hidden_instances: sizes.iter().sum() })
    }

    /// A value of each epoch, the mean over the seeds.
    fn curve(&self, value: impl Fn(&Epoch) -> f64) -> Vec<Point> {
        let of_epoch = |idx: usize| {
            let values: Vec<f64> = self.traces.iter().map(|trace| value(&trace.epochs[idx])).collect();
            point(idx + 1, 1.0, Summary::of(&values))
        };
        (0..ALL_EPOCHS).map(of_epoch).collect()
    }

    fn finding(&self, title: &str, accuracies: &[Point], printed: f64) -> String {
        let ends = |curve: Vec<Point>| (curve[0].y, curve[curve.len() - 1].y);
        let entropy = ends(self.curve(|epoch| epoch.entropy / epoch.n_hidden as f64));
        let members = ends(self.curve(|epoch| epoch.expected_members / self.n_hidden_bags as f64));
        let epochs = self.traces.iter().flat_map(|trace| &trace.epochs);
        let n_lower = epochs.clone().filter(|epoch| epoch.objective_after < epoch.objective).count();
        let by_epochs: Vec<String> =
            accuracies.iter().map(|point| format!("{:.1} after {}", point.y, point.x)).collect();
        format!(
            "{title}: {ALL_EPOCHS} epochs take the entropy from {:.3} to {:.3} nats per hidden instance and the expected members of a positive bag from {:.2} to {:.2} of {:.2} on average; growing anew lowers the objective in {n_lower} of {} \
             epochs of {} seeds. Accuracy {} epochs; printed {printed}.",
            entropy.0,
            entropy.1,
            members.0,
            members.1,
            self.n_hidden_instances as f64 / self.n_hidden_bags as f64,
            epochs.count(),
            self.traces.len(),
            by_epochs.join(", "),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mil_forest::temperatures;

    #[test]
    fn the_schedule_has_as_many_epochs_as_are_shown() {
        assert_eq!(temperatures(1.0, 0.5, END).count(), ALL_EPOCHS);
        assert_eq!(EPOCHS.last(), Some(&ALL_EPOCHS));
    }

    #[test]
    fn labels_cool_over_all_epochs_and_lone_instances_hide_nothing() {
        let mut builder = BagSet::builder();
        for i in 0..8 {
            let x = 0.1 * f64::from(i);
            builder.bag(format!("p{i}"), Label::Positive, [[x], [3.0 + x]]).unwrap();
            builder.bag(format!("n{i}"), Label::Negative, [[x + 0.05], [x]]).unwrap();
        }
        builder.bag("lone", Label::Positive, [[3.0]]).unwrap();
        let bags = builder.build().unwrap();
        let cooling = Cooling::of(&bags, 1, 3).unwrap();
        assert_eq!((cooling.n_hidden_bags, cooling.n_hidden_instances), (8, 16));
        let entropy = cooling.curve(|epoch| epoch.entropy);
        assert!(entropy.iter().map(|point| point.x).eq((1..=ALL_EPOCHS).map(|epoch| epoch as f64)));
        assert!(entropy[ALL_EPOCHS - 1].y < entropy[0].y && entropy[0].half_width.is_some());
        let finding = cooling.finding("Toy", &[Point::at(0.0, 71.0), Point::at(9.0, 72.0)], 85.0);
        assert!(finding.contains("of 2.00 on average") && finding.contains("of 27 epochs of 3 seeds"), "{finding}");
        assert!(finding.ends_with("Accuracy 71.0 after 0, 72.0 after 9 epochs; printed 85."), "{finding}");
    }
}
