//! A kernel made flat: a sum of terms, each a function of what passes over the features yield for a pair of instances.
//!
//! With $p = \langle x, z\rangle$, $m = \sum_i \min(x_i, z_i)$ and $\delta = \lVert x - z\rVert^2$, every [`Kernel`] reads
//!
//! $$ k(x, z) = \sum_t \frac{w_t\, f_t(p, m, \delta)}{r_t(x)\, r_t(z)} $$
//!
//! since a cosine normalisation divides each term of the sum inside it by the same two lengths $r$. However many terms there are,
//! $p$, $m$ and $\delta$ are computed once each.

use mil_core::{ParamError, ParamRange};
use nalgebra::DMatrix;
use pulp::Simd;

use crate::exp::{exp_non_positive, mul_add};
use crate::kernel::power;
use crate::tile::{HEIGHT, Side, Tile, WIDTH, require_non_negative, right_place};
use crate::{Kernel, KernelError};

/// A pair is near when $\lVert x-z\rVert^2$ is less than this part of $\lVert x\rVert^2 + \lVert z\rVert^2$: subtraction then
/// cancels more than three of sixteen digits.
const NEAR: f64 = 1e-3;
/// Exponents $\gamma\lVert x\rVert^2$ up to here lose less than 1e-10 to cancellation, near or not.
const HARMLESS_EXPONENT: f64 = 1e4;

/// A sum of terms over pairs of instances.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    terms: Vec<Term>,
    /// For each cosine normalisation, the kernels inside it and inside those around it.
    scopes: Vec<Vec<Kernel>>,
}

#[derive(Debug, Clone, Copy)]
struct Term {
    weight: f64,
    function: Function,
    scope: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Function {
    Product,
    Polynomial {
        degree: u32,
        scale: f64,
        offset: f64,
    },
    Gaussian {
        gamma: f64,
    },
    Intersection,
    /// $\lVert x - z\rVert^2$ itself, precise whatever becomes of it.
    SquaredDistance,
}

impl Form {
    /// The flat form of a kernel, whose numbers are in range.
    pub(crate) fn of(kernel: &Kernel) -> Result<Form, ParamError> {
        kernel.check()?;
        let mut form = Form { terms: Vec::new(), scopes: Vec::new() };
        form.flatten(kernel, 1.0, None)?;
        Ok(form)
    }

    /// Squared distances, precise for an exponential of any width to come.
    pub(crate) fn squared_distance() -> Form {
        let term = Term { weight: 1.0, function: Function::SquaredDistance, scope: None };
        Form { terms: vec![term], scopes: Vec::new() }
    }

    fn flatten(&mut self, kernel: &Kernel, weight: f64, scope: Option<usize>) -> Result<(), ParamError> {
        let function = match *kernel {
            Kernel::Linear => Function::Product,
            Kernel::Polynomial { degree, scale, offset } => Function::Polynomial { degree, scale, offset },
            Kernel::Gaussian { gamma } => Function::Gaussian { gamma },
            Kernel::Intersection => Function::Intersection,
            Kernel::Sum(ref terms) => {
                return terms.iter().filter(|(inner, _)| *inner > 0.0).try_for_each(|(inner, kernel)| {
                    ParamRange::Above(0.0).require("product of nested weights", weight * inner)?;
                    self.flatten(kernel, weight * inner, scope)
                });
            }
            Kernel::Normalised(ref kernel) => {
                let mut lengths = scope.map_or(Vec::new(), |scope| self.scopes[scope].clone());
                lengths.push((**kernel).clone());
                self.scopes.push(lengths);
                return self.flatten(kernel, weight, Some(self.scopes.len() - 1));
            }
        };
        self.terms.push(Term { weight, function, scope });
        Ok(())
    }

    /// Whether squared distances are needed, and therefore centred instances.
    pub(crate) fn uses_distances(&self) -> bool {
        self.largest_gamma() > 0.0
    }

    /// Whether inner products are needed for their own sake. Those of centred instances, behind the distances, do not serve: what the
    /// centring adds to a short vector is lost when it is taken away again.
    pub(crate) fn uses_products(&self) -> bool {
        self.terms.iter().any(|term| matches!(term.function, Function::Product | Function::Polynomial { .. }))
    }

    /// Whether minima are needed.
    pub(crate) fn uses_minima(&self) -> bool {
        self.terms.iter().any(|term| term.function == Function::Intersection)
    }

    /// Refuses instances that the form cannot take.
    pub(crate) fn require_suitable(&self, instances: &DMatrix<f64>) -> Result<(), KernelError> {
        if self.uses_minima() { require_non_negative(instances.as_view()) } else { Ok(()) }
    }

    /// Number of scopes: of different lengths that an instance has.
    pub(crate) fn n_scopes(&self) -> usize {
        self.scopes.len()
    }

    /// The length $r$ of an instance in a scope.
    pub(crate) fn length(&self, scope: usize, squared_norm: f64, feature_sum: f64) -> f64 {
        self.scopes[scope].iter().map(|kernel| kernel.value_with_itself(squared_norm, feature_sum).sqrt()).product()
    }

    /// The $\lVert x\rVert^2 + \lVert z\rVert^2$ from which on cancellation in $\lVert x\rVert^2 + \lVert z\rVert^2 - 2\langle x,z\rangle$ could be felt.
    fn harmless_norms(&self) -> f64 {
        HARMLESS_EXPONENT / self.largest_gamma()
    }

    /// The function and weight of a form that is a single term.
    fn lone(&self) -> Option<(Function, f64)> {
        match self.terms[..] {
            [Term { weight, function, scope: None }] => Some((function, weight)),
            _ => None,
        }
    }

    fn largest_gamma(&self) -> f64 {
        self.terms.iter().fold(0.0, |largest, term| match term.function {
            Function::Gaussian { gamma } => gamma.max(largest),
            Function::SquaredDistance => f64::INFINITY,
            _ => largest,
        })
    }
}

/// Two sides and what to compute between them.
#[derive(Clone, Copy)]
pub(crate) struct Pairs<'a> {
    pub(crate) form: &'a Form,
    pub(crate) left: &'a Side<'a>,
    pub(crate) right: &'a Side<'a>,
    uses_distances: bool,
    lone: Option<(Function, f64)>,
    /// Norms up to here leave the distance of a pair precise enough.
    harmless_norms: f64,
    /// Whether some pair may lie beyond. What is done with a pair does not depend on it, nor on any other pair.
    refine: bool,
}

impl<'a> Pairs<'a> {
    pub(crate) fn new(form: &'a Form, left: &'a Side<'a>, right: &'a Side<'a>) -> Pairs<'a> {
        let harmless_norms = form.harmless_norms();
        let refine = left.max_norm + right.max_norm > harmless_norms;
        Pairs { form, left, right, uses_distances: form.uses_distances(), lone: form.lone(), harmless_norms, refine }
    }

    /// Turns what a pass over the features has left into the values of the form, in `tile`: the products of centred instances where the
    /// form uses distances, else the products. The other two count where the form uses them beside distances. Right instances from `n_right` on only fill up the panel.
    #[inline(always)]
    pub(crate) fn apply<S: Simd>(
        &self,
        left_panel: usize,
        right_panel: usize,
        n_right: usize,
        tile: &mut Tile,
        products: &Tile,
        minima: &Tile,
    ) {
        let left_norms = self.left.norms[left_panel].as_flattened();
        let (panel, third) = right_place(right_panel);
        let right_norms = &self.right.norms[panel][third];
        // A lone term goes from product to value in registers.
        match self.lone {
            Some((Function::Product, weight)) => {
                for value in tile.as_flattened_mut() {
                    *value *= weight;
                }
                return;
            }
            Some((Function::Polynomial { degree, scale, offset }, weight)) => {
                for value in tile.as_flattened_mut() {
                    *value = weight * power(mul_add::<S>(scale, *value, offset), degree);
                }
                return;
            }
            // Its weight is 1: see `Form::squared_distance`.
            Some((Function::SquaredDistance, _)) => {
                for (c, column) in tile.iter_mut().enumerate().take(n_right) {
                    *column = self.squared_distances(left_panel, right_panel, c, column);
                }
                return;
            }
            Some((Function::Gaussian { gamma }, weight)) if !self.refine => {
                for c in 0..n_right {
                    for r in 0..HEIGHT {
                        let distance = squared_distance(left_norms[r], right_norms[c], tile[c][r]);
                        tile[c][r] = weight * exp_non_positive::<S>(-gamma * distance);
                    }
                }
                return;
            }
            _ => {}
        }
        for c in 0..n_right {
            let distance = if self.uses_distances {
                self.squared_distances(left_panel, right_panel, c, &tile[c])
            } else {
                [0.0; HEIGHT]
            };
            let product = if self.uses_distances { products[c] } else { tile[c] };
            tile[c] = self.value::<S>(left_panel, right_panel, c, &product, &minima[c], &distance);
        }
    }

    /// The squared distances of a left panel to a right instance from the products of the centred instances, near pairs refined.
    #[inline(always)]
    fn squared_distances(
        &self,
        left_panel: usize,
        right_panel: usize,
        c: usize,
        products: &[f64; HEIGHT],
    ) -> [f64; HEIGHT] {
        let left_norms = self.left.norms[left_panel].as_flattened();
        let (panel, third) = right_place(right_panel);
        let right_norm = self.right.norms[panel][third][c];
        let mut distance = [0.0; HEIGHT];
        for r in 0..HEIGHT {
            distance[r] = squared_distance(left_norms[r], right_norm, products[r]);
        }
        if self.refine {
            // Few panels hold a near pair; whether one does, all lanes tell at once.
            let mut holds_near = false;
            for r in 0..HEIGHT {
                holds_near |= self.is_near(left_norms[r] + right_norm, distance[r]);
            }
            if holds_near {
                for r in 0..HEIGHT {
                    if self.is_near(left_norms[r] + right_norm, distance[r]) {
                        distance[r] = self.distance_by_definition(left_panel * HEIGHT + r, right_panel * WIDTH + c);
                    }
                }
            }
        }
        distance
    }

    #[inline(always)]
    fn is_near(&self, norms: f64, distance: f64) -> bool {
        (norms > self.harmless_norms) & (distance < NEAR * norms)
    }

    #[inline(always)]
    fn value<S: Simd>(
        &self,
        left_panel: usize,
        right_panel: usize,
        c: usize,
        product: &[f64; HEIGHT],
        minimum: &[f64; HEIGHT],
        distance: &[f64; HEIGHT],
    ) -> [f64; HEIGHT] {
        let mut total = [0.0; HEIGHT];
        for term in &self.form.terms {
            let mut value = [0.0; HEIGHT];
            match term.function {
                Function::Product => value = *product,
                Function::Polynomial { degree, scale, offset } => {
                    for r in 0..HEIGHT {
                        value[r] = power(mul_add::<S>(scale, product[r], offset), degree);
                    }
                }
                Function::Gaussian { gamma } => {
                    for r in 0..HEIGHT {
                        value[r] = exp_non_positive::<S>(-gamma * distance[r]);
                    }
                }
                Function::Intersection => value = *minimum,
                Function::SquaredDistance => value = *distance,
            }
            if let Some(scope) = term.scope {
                let (panel, third) = right_place(right_panel);
                let left = self.left.lengths[scope][left_panel].as_flattened();
                let right = self.right.lengths[scope][panel][third][c];
                for r in 0..HEIGHT {
                    value[r] /= left[r] * right;
                }
            }
            for r in 0..HEIGHT {
                total[r] += term.weight * value[r];
            }
        }
        total
    }

    #[cold]
    #[inline(never)]
    fn distance_by_definition(&self, left_idx: usize, right_idx: usize) -> f64 {
        let (x, z) = (self.left.instance(left_idx), self.right.instance(right_idx));
        x.iter().zip(z.iter()).map(|(x, z)| (x - z) * (x - z)).sum()
    }
}

/// |x|^2 + |z|^2 - 2<x,z>, where rounding may leave less than nothing.
#[inline(always)]
fn squared_distance(left_norm: f64, right_norm: f64, product: f64) -> f64 {
    let distance = (left_norm + right_norm) - 2.0 * product;
    if distance > 0.0 { distance } else { 0.0 }
}
