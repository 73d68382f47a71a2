//! Tables 1 and 2: what the five data sets hold.

use mil_core::FitError;
use mil_data::catalogue::{Contents, find};

use crate::figure::{Context, Drawing, Figure, Table};
use crate::papers::Paper;

pub(super) fn figure() -> Figure {
    Figure {
        id: "pmi-table1",
        title: "What the five data sets hold",
        paper: Paper::Pmi,
        place: "Tables 1 and 2",
        protocol: "Counts of the catalogue, which every file is held to when it is read. The numbers of training bags in Table 2 are those of all positive bags; nine of ten folds hold nine tenths of them.",
        data: &[],
        optional: &[],
        code: &["mil-data"],
        source: file!(),
        draw,
    }
}

/// What the paper prints of a set: bags, positive ones, mean size of a bag, features.
struct Printed {
    data: &'static str,
    title: &'static str,
    n_bags: usize,
    n_positive: usize,
    mean_size: f64,
    n_features: usize,
}

const fn printed(
    data: &'static str,
    title: &'static str,
    n_bags: usize,
    n_positive: usize,
    mean_size: f64,
    n_features: usize,
) -> Printed {
    Printed { data, title, n_bags, n_positive, mean_size, n_features }
}

const PRINTED: [Printed; 5] = [
    printed("musk1", "Musk1", 92, 47, 5.17, 166),
    printed("musk2", "Musk2", 102, 36, 64.69, 166),
    printed("elephant", "Elephant", 200, 100, 6.96, 230),
    printed("fox", "Fox", 200, 100, 6.90, 230),
    printed("tiger", "Tiger", 200, 100, 6.10, 230),
];

fn draw(_: &Context<'_>) -> Result<Drawing, FitError> {
    let (mut rows, mut findings) = (Vec::new(), Vec::new());
    for set in &PRINTED {
        let entry = find(set.data).expect("it is in the catalogue");
        let Contents::Binary { n_bags, n_positive, n_instances, n_features } = entry.sections[0].contents else {
            unreachable!("all five are bags of two classes")
        };
        let ours = [
            format!("{n_bags} ({n_positive})"),
            format!("{:.2}", n_instances as f64 / n_bags as f64),
            n_features.to_string(),
        ];
        let printed = [
            format!("{} ({})", set.n_bags, set.n_positive),
            format!("{:.2}", set.mean_size),
            set.n_features.to_string(),
        ];
        let differs = ours.iter().zip(&printed).filter(|(ours, printed)| ours != printed);
        findings.extend(
            differs.map(|(ours, printed)| format!("{}: the file holds {ours}, the paper prints {printed}.", set.title)),
        );
        let pairs = ours.into_iter().zip(printed).flat_map(|(ours, printed)| [ours, printed]);
        rows.push(std::iter::once(set.title.to_owned()).chain(pairs).collect());
    }
    let heads = ["data set", "bags (positive)", "printed", "instances a bag", "printed", "features", "printed"];
    let table = Table { title: "Counts".to_owned(), heads: heads.map(str::to_owned).to_vec(), rows };
    Ok(Drawing { tables: vec![table], findings, ..Drawing::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Progress;

    #[test]
    fn two_misprints_are_found() {
        let progress = Progress::quiet();
        let drawing = draw(&Context::new("pmi-table1", true, 1, Vec::new(), Vec::new(), &progress)).unwrap();
        assert_eq!(
            drawing.findings,
            [
                "Musk2: the file holds 102 (39), the paper prints 102 (36).",
                "Fox: the file holds 6.60, the paper prints 6.90."
            ]
        );
        assert_eq!(drawing.check(), Ok(()));
    }
}
