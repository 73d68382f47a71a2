//! What an atom looks like in the space of instances.
//!
//! An atom $\Phi(Y)a$ need not be the image of any instance; its pre-image is the instance $z$ that minimises
//!
//! $$ \lVert\phi(z)-\Phi(Y)a\rVert^2=k(z,z)-2\sum_ia_ik(z,y_i)+a^\top Ka $$
//!
//! (MIDL, §5.1.1; Schölkopf & Smola 2001, ch. 18). Where the gradient vanishes, $z$ is a mixture of the instances,
//!
//! $$ z=\frac{\sum_ia_iw_i(z)\,y_i}{D(z)}, $$
//!
//! and iterating this finds it: a Gaussian $\exp(-\gamma\lVert z-y\rVert^2)$ adds $\gamma k(z,y_i)$ to $w_i$ and $\gamma\sum_ia_ik(z,y_i)$ to $D$; a polynomial $(s\langle z,y\rangle+c)^p$ adds
//! $\tfrac12ps(s\langle z,y_i\rangle+c)^{p-1}$ to $w_i$ and the same at $y_i=z$ to $D$. Instances of length 1 stay on the sphere, where $D$ is whatever makes the length 1.
//!
//! Choice: histogram intersection, whose gradient is piecewise constant, has no part in the iteration. On the sphere a normalised kernel counts as it is, since it differs from the kernel inside by a constant; elsewhere its lengths are
//! taken for fixed in each step. A step that does not lower the error is halved until it does. We begin at the weighted mean and at the instances of the largest weights, and keep the best end.

use mil_kernels::{Kernel, cross_gram, diagonal, gram};
use nalgebra::{DMatrix, DVector};

use crate::input::to_unit_norm;

/// An instance and how well it stands for an atom.
#[derive(Debug, Clone, PartialEq)]
pub struct PreImage {
    /// $z$, in the form in which the kernel sees instances.
    pub instance: Vec<f64>,
    /// $\lVert\phi(z)-\Phi(Y)a\rVert^2$, at least 0.
    pub squared_error: f64,
}

/// Instances of large weight to begin at, beside the mean.
const N_STARTS: usize = 5;
/// Halvings of a step that leads too far.
const MAX_HALVINGS: usize = 8;
/// Steps from each start.
const MAX_STEPS: usize = 100;
/// A step shorter than this part of the vector is none.
const SETTLED: f64 = 1e-10;

/// The pre-image of $\sum_ia_i\phi(y_i)$, on the unit sphere where asked for. The kernel has been used on these instances before.
pub(crate) fn pre_image(kernel: &Kernel, instances: &DMatrix<f64>, weights: &[f64], on_sphere: bool) -> PreImage {
    let weights = DVector::from_column_slice(weights);
    let used: Vec<usize> = (0..weights.len()).filter(|&idx| weights[idx] != 0.0).collect();
    let instances = instances.select_columns(&used);
    let weights = weights.select_rows(&used);
    let atom = Atom {
        kernel,
        instances: &instances,
        weights: &weights,
        squared_length: squared_length(kernel, &instances, &weights),
    };
    let mut order: Vec<usize> = (0..used.len()).collect();
    order.sort_by(|&i, &j| weights[j].abs().total_cmp(&weights[i].abs()).then(i.cmp(&j)));
    let mut starts: Vec<DVector<f64>> = vec![&instances * &weights];
    starts.extend(order.iter().take(N_STARTS).map(|&idx| instances.column(idx).into_owned()));
    let mut best = PreImage { instance: vec![0.0; instances.nrows()], squared_error: f64::INFINITY };
    for start in starts {
        let Some(mut here) = atom.at(start, on_sphere) else { continue };
        for _ in 0..MAX_STEPS {
            let Some(target) = atom.target(&here.0, on_sphere) else { break };
            let Some(next) = atom.towards(&here, &target, on_sphere) else { break };
            let moved = (&next.0 - &here.0).norm();
            here = next;
            if moved <= SETTLED * here.0.norm() {
                break;
            }
        }
        if here.1 < best.squared_error {
            best = PreImage { instance: here.0.as_slice().to_vec(), squared_error: here.1 };
        }
    }
    best
}

fn squared_length(kernel: &Kernel, instances: &DMatrix<f64>, weights: &DVector<f64>) -> f64 {
    gram(kernel, instances).map_or(0.0, |gram| (gram.to_matrix() * weights).dot(weights))
}

/// A mixture of instances in feature space.
struct Atom<'a> {
    kernel: &'a Kernel,
    instances: &'a DMatrix<f64>,
    weights: &'a DVector<f64>,
    squared_length: f64,
}

impl Atom<'_> {
    /// $\lVert\phi(z)-\Phi(Y)a\rVert^2$, where it is a number.
    fn squared_error(&self, z: &DVector<f64>) -> Option<f64> {
        let z = DMatrix::from_column_slice(z.len(), 1, z.as_slice());
        let own = diagonal(self.kernel, &z).ok()?[0];
        let product = cross_gram(self.kernel, self.instances, &z).ok()?.column(0).dot(self.weights);
        Some((own - 2.0 * product + self.squared_length).max(0.0))
    }

    /// A place and its squared error.
    fn at(&self, mut z: DVector<f64>, on_sphere: bool) -> Option<(DVector<f64>, f64)> {
        if on_sphere {
            to_unit_norm(z.column_mut(0));
        }
        self.squared_error(&z).map(|error| (z, error))
    }

    /// Where the fixed-point iteration leads, if it leads anywhere.
    fn target(&self, z: &DVector<f64>, on_sphere: bool) -> Option<DVector<f64>> {
        let mut pull = Pull { weights: vec![0.0; self.weights.len()], divisor: 0.0 };
        pull.add(self.kernel, 1.0, self, z);
        let pulls = self.weights.iter().zip(&pull.weights).map(|(a, w)| a * w);
        let mut next = self.instances * DVector::from_iterator(self.weights.len(), pulls);
        if on_sphere {
            to_unit_norm(next.column_mut(0));
        } else {
            next /= pull.divisor;
        }
        (next.norm() > 0.0 && next.iter().all(|value| value.is_finite())).then_some(next)
    }

    /// The whole way there, or half of it, or a quarter, until the error is less than here.
    fn towards(
        &self,
        (z, error): &(DVector<f64>, f64),
        target: &DVector<f64>,
        on_sphere: bool,
    ) -> Option<(DVector<f64>, f64)> {
        let mut share = 1.0;
        for _ in 0..MAX_HALVINGS {
            let next = self.at(z + (target - z) * share, on_sphere).filter(|next| next.1 < *error);
            if next.is_some() {
                return next;
            }
            share *= 0.5;
        }
        None
    }
}

/// $w_i(z)$ and $D(z)$.
struct Pull {
    weights: Vec<f64>,
    divisor: f64,
}

impl Pull {
    fn add(&mut self, kernel: &Kernel, factor: f64, atom: &Atom<'_>, z: &DVector<f64>) {
        match kernel {
            Kernel::Linear => self.add_slopes(factor, atom, z, |_| 0.5),
            Kernel::Polynomial { degree, scale, offset } => self.add_slopes(factor, atom, z, |product| {
                0.5 * f64::from(*degree)
                    * scale
                    * (scale * product + offset).powi(i32::try_from(*degree).unwrap_or(i32::MAX) - 1)
            }),
            Kernel::Gaussian { gamma } => {
                for (idx, y) in atom.instances.column_iter().enumerate() {
                    let value = factor * gamma * (-gamma * (z - y).norm_squared()).exp();
                    self.weights[idx] += value;
                    self.divisor += atom.weights[idx] * value;
                }
            }
            Kernel::Intersection => {}
            Kernel::Sum(terms) => terms.iter().for_each(|(weight, kernel)| self.add(kernel, factor * weight, atom, z)),
            Kernel::Normalised(inner) => {
                let own = inner.value(z.as_slice(), z.as_slice());
                if own > 0.0 {
                    self.add(inner, factor / own, atom, z);
                }
            }
        }
    }

    /// A kernel of the inner product, by its slope.
    fn add_slopes(&mut self, factor: f64, atom: &Atom<'_>, z: &DVector<f64>, slope: impl Fn(f64) -> f64) {
        for (idx, y) in atom.instances.column_iter().enumerate() {
            self.weights[idx] += factor * slope(z.dot(&y));
        }
        self.divisor += factor * slope(z.norm_squared());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instances() -> DMatrix<f64> {
        DMatrix::from_column_slice(3, 4, &[1.0, 0.2, 0.1, 0.3, 1.0, 0.0, 0.2, 0.4, 0.9, 0.7, 0.7, 0.2])
    }

    fn on_sphere() -> DMatrix<f64> {
        let mut instances = instances();
        instances.column_iter_mut().for_each(|mut instance| {
            instance.normalize_mut();
        });
        instances
    }

    const KERNELS: [Kernel; 4] = [
        Kernel::Linear,
        Kernel::Polynomial { degree: 3, scale: 1.0, offset: 0.5 },
        Kernel::Gaussian { gamma: 2.0 },
        Kernel::Intersection,
    ];

    #[test]
    fn the_pre_image_of_an_instance_is_the_instance() {
        for kernel in KERNELS {
            for (kernel, instances, sphere) in [
                (kernel.clone(), instances(), false),
                (kernel.clone(), on_sphere(), true),
                (Kernel::Normalised(Box::new(kernel)), on_sphere(), true),
            ] {
                let found = pre_image(&kernel, &instances, &[0.0, 0.0, 1.0, 0.0], sphere);
                assert!(found.squared_error < 1e-12, "{kernel:?}: {found:?}");
                let difference = (DVector::from_vec(found.instance) - instances.column(2)).amax();
                assert!(difference < 1e-6, "{kernel:?}: {difference}");
            }
        }
    }

    #[test]
    fn a_linear_atom_is_its_own_pre_image() {
        let found = pre_image(&Kernel::Linear, &instances(), &[0.5, -0.2, 1.0, 0.3], false);
        let expected = instances() * DVector::from_vec(vec![0.5, -0.2, 1.0, 0.3]);
        assert!((DVector::from_vec(found.instance) - expected).amax() < 1e-9 && found.squared_error < 1e-12);
    }

    #[test]
    fn no_neighbour_is_a_better_pre_image() {
        let weights = [0.5, 0.3, 0.0, 0.4];
        let widths = Kernel::Sum(vec![(0.4, Kernel::Gaussian { gamma: 6.0 }), (0.6, Kernel::Gaussian { gamma: 0.5 })]);
        for kernel in KERNELS[..3].iter().chain([&widths]) {
            let instances = instances();
            let found = pre_image(kernel, &instances, &weights, false);
            let weights = DVector::from_column_slice(&weights);
            let atom = Atom {
                kernel,
                instances: &instances,
                weights: &weights,
                squared_length: squared_length(kernel, &instances, &weights),
            };
            let z = DVector::from_vec(found.instance);
            assert!((atom.squared_error(&z).unwrap() - found.squared_error).abs() < 1e-12);
            for (feature, step) in (0..3).flat_map(|feature| [(feature, 1e-3), (feature, -1e-3)]) {
                let mut near = z.clone();
                near[feature] += step;
                assert!(atom.squared_error(&near).unwrap() >= found.squared_error - 1e-9, "{kernel:?}");
            }
        }
    }
}
