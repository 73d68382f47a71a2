//! What makes a test pure, and the threshold of a feature that makes it purest.

use crate::columns::Feature;

/// The two parts that a purity is made of: $S = \mathrm{close}(\sum_k\mathrm{term}(w_k), w)$.
pub(crate) trait Measure {
    /// Whether a purity costs more than to find out that it is not needed.
    const IS_DEAR: bool;

    fn term(&self, weight: f64) -> f64;
    fn close(&self, sum: f64, total: f64) -> f64;
}

pub(crate) struct Gini;

impl Measure for Gini {
    const IS_DEAR: bool = false;

    fn term(&self, weight: f64) -> f64 {
        weight * weight
    }

    fn close(&self, sum: f64, total: f64) -> f64 {
        sum / total
    }
}

#[derive(Default)]
pub(crate) struct Entropy {
    /// The terms of small integers.
    table: Vec<f64>,
}

/// Weights beyond it are rare enough to have their logarithms computed.
const MAX_TABLE: f64 = 65536.0;

impl Entropy {
    /// For weights that are integers up to a total: their terms are looked up.
    pub(crate) fn of_integers(total: f64) -> Entropy {
        Entropy { table: (0..=total.min(MAX_TABLE) as u32).map(|n| x_ln_x(f64::from(n))).collect() }
    }
}

impl Measure for Entropy {
    const IS_DEAR: bool = true;

    fn term(&self, weight: f64) -> f64 {
        match self.table.get(weight as usize) {
            Some(value) => *value,
            None => x_ln_x(weight),
        }
    }

    fn close(&self, sum: f64, total: f64) -> f64 {
        sum - self.term(total)
    }
}

fn x_ln_x(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}

/// A threshold that moves up through the values of a node.
///
/// While all that moves is of one class, the score is a convex function of the weight that has moved, for $S$ is convex: it is largest at an end of such a run, and a threshold inside one need not be looked at
/// (Fayyad & Irani, *On the Handling of Continuous-Valued Attributes in Decision Tree Generation*, Machine Learning 8, 1992).
pub(crate) struct Sweep<'a, M> {
    measure: &'a M,
    sides: &'a mut [Sides],
    /// The class that has moved last. Under a purity that is dear its terms may be those from before; of two classes, both.
    moving: usize,
    /// $\sum_k\mathrm{term}$ on either side.
    sums: [f64; 2],
    totals: [f64; 2],
    /// The last code that was arrived at, and the class of its instances where they are all of one.
    last: Option<(u32, Option<u32>)>,
    /// Whether it was not the first.
    varies: bool,
    /// The best score, and the codes on either side of the threshold.
    best: (f64, u32, u32),
}

/// What a sweep knows of a class: its weight on the left and in all, and its terms left and right.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sides {
    left: f64,
    all: f64,
    terms: [f64; 2],
}

impl<'a, M: Measure> Sweep<'a, M> {
    pub(crate) fn new(measure: &'a M, weights: &[f64], sides: &'a mut Vec<Sides>) -> Self {
        sides.clear();
        sides.extend(weights.iter().map(|weight| Sides {
            left: 0.0,
            all: *weight,
            terms: [0.0, measure.term(*weight)],
        }));
        let sum = sides.iter().map(|sides| sides.terms[1]).sum();
        let totals = [0.0, weights.iter().sum()];
        Sweep {
            measure,
            sides,
            moving: 0,
            sums: [0.0, sum],
            totals,
            last: None,
            varies: false,
            best: (f64::NEG_INFINITY, 0, 0),
        }
    }

    /// Moves through a histogram from its first code on.
    pub(crate) fn bars(&mut self, first: u32, histogram: &[f64]) {
        let n_classes = self.sides.len();
        for (code, weights) in (first..).zip(histogram.chunks_exact(n_classes)) {
            // Weights are above 0, so that a code without any has no instance.
            let mut classes = (0..n_classes).filter(|class| weights[*class] > 0.0);
            let Some(class) = classes.next() else { continue };
            let is_pure = M::IS_DEAR && classes.next().is_none();
            self.arrive(code, is_pure.then_some(class as u32));
            for (class, weight) in weights.iter().enumerate().skip(class).filter(|(_, weight)| **weight > 0.0) {
                self.move_left(class, *weight);
            }
        }
    }

    /// The best threshold of the feature that was swept; `None` where there was but one code.
    pub(crate) fn finish(self, feature: &Feature) -> Option<(f64, u32, f64)> {
        let (score, below, above) = self.best;
        self.varies.then(|| (score, below, feature.between(below, above)))
    }

    /// Comes to the next code, whose instances are all of one class or of several.
    pub(crate) fn arrive(&mut self, code: u32, class: Option<u32>) {
        self.varies = self.last.is_some();
        match self.last {
            Some((below, class_below)) if class.is_none() || class != class_below => self.stop(below, code),
            _ => {}
        }
        self.last = Some((code, class));
    }

    pub(crate) fn move_left(&mut self, class: usize, weight: f64) {
        if M::IS_DEAR && self.sides.len() > 2 && class != self.moving {
            self.settle(self.moving);
        }
        self.moving = class;
        self.sides[class].left += weight;
        self.totals[0] += weight;
        self.totals[1] -= weight;
        if !M::IS_DEAR {
            self.settle(class);
        }
    }

    /// Brings the terms of a class up to date.
    fn settle(&mut self, class: usize) {
        let Sides { left, all, terms } = &mut self.sides[class];
        let settled = [self.measure.term(*left), self.measure.term(*all - *left)];
        self.sums[0] += settled[0] - terms[0];
        self.sums[1] += settled[1] - terms[1];
        *terms = settled;
    }

    fn stop(&mut self, below: u32, above: u32) {
        if M::IS_DEAR {
            match *self.sides {
                [a, b] if Self::bound(a, b, self.totals) <= self.best.0 => return,
                [_, _] => {
                    self.settle(0);
                    self.settle(1);
                }
                _ => self.settle(self.moving),
            }
        }
        let score = self.measure.close(self.sums[0], self.totals[0]) + self.measure.close(self.sums[1], self.totals[1]);
        // Of weights that differ by more than rounding holds, nothing may be left on a side.
        if score > self.best.0 && self.totals[1] > 0.0 {
            self.best = (score, below, above);
        }
    }

    /// What the score under the entropy of two classes cannot exceed: $H(p,1-p)\ge4\ln2\;p(1-p)$, with equality at 0, 1/2 and 1.
    fn bound(a: Sides, b: Sides, totals: [f64; 2]) -> f64 {
        let impurity = a.left * b.left / totals[0] + (a.all - a.left) * (b.all - b.left) / totals[1];
        -4.0 * std::f64::consts::LN_2 * impurity
    }
}
