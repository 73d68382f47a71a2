//! The base kernels whose mixture is learnt.

use mil_core::{ParamError, ParamField, ParamRange};
use mil_kernels::Kernel;
use serde::{Deserialize, Serialize};

/// Which base kernels $k_1,\dots,k_B$ are mixed. As a word: `paper(0.01)`, or a list such as `list(linear;gaussian(2))`.
#[derive(Debug, Clone, PartialEq)]
pub enum BaseKernels {
    /// The 50 of MIDL's §5: linear, histogram intersection, polynomials $(\langle x,z\rangle+c)^p$ of degree 2 and 3 with $c=0.5,1,\dots,5$, and 28 Gaussians $\exp(-\lVert x-z\rVert^2/c)$ whose $c$ grows in steps of 0.01.
    /// Histogram intersection is left out where a training instance has a feature below 0.
    Paper {
        /// The first $c$ of the Gaussians, which the paper leaves open; finite, above 0.
        first_width: f64,
    },
    /// These, as they are.
    List(Vec<Kernel>),
}

/// Gaussians among the base kernels, and the step between their $c$.
const N_GAUSSIANS: usize = 28;
const WIDTH_STEP: f64 = 0.01;

impl BaseKernels {
    /// The kernels for instances of which some feature is below 0, or none.
    pub(crate) fn kernels(&self, any_negative: bool) -> Vec<Kernel> {
        let all = match self {
            BaseKernels::List(kernels) => return kernels.clone(),
            BaseKernels::Paper { first_width } => paper_kernels(*first_width),
        };
        all.into_iter().filter(|kernel| !any_negative || *kernel != Kernel::Intersection).collect()
    }
}

/// Whether a kernel is for features of at least 0.
pub(crate) fn uses_intersection(kernel: &Kernel) -> bool {
    match kernel {
        Kernel::Intersection => true,
        Kernel::Sum(terms) => terms.iter().any(|(weight, kernel)| *weight > 0.0 && uses_intersection(kernel)),
        Kernel::Normalised(kernel) => uses_intersection(kernel),
        Kernel::Linear | Kernel::Polynomial { .. } | Kernel::Gaussian { .. } => false,
    }
}

fn paper_kernels(first_width: f64) -> Vec<Kernel> {
    let mut kernels = vec![Kernel::Linear, Kernel::Intersection];
    for degree in [2, 3] {
        let offsets = (1..=10).map(|step| 0.5 * f64::from(step));
        kernels.extend(offsets.map(|offset| Kernel::Polynomial { degree, scale: 1.0, offset }));
    }
    let widths = (0..N_GAUSSIANS).map(|step| first_width + WIDTH_STEP * step as f64);
    kernels.extend(widths.map(|width| Kernel::Gaussian { gamma: 1.0 / width }));
    kernels
}

impl ParamField for BaseKernels {
    const KIND: &'static str = "base kernels: paper(first width), or list(kernel;kernel;...)";

    fn parse(word: &str) -> Option<BaseKernels> {
        let (name, arguments) = word.trim().strip_suffix(')')?.split_once('(')?;
        match name.trim() {
            "paper" => Some(BaseKernels::Paper { first_width: arguments.trim().parse().ok()? }),
            "list" => arguments.split(';').map(Kernel::parse).collect::<Option<Vec<_>>>().map(BaseKernels::List),
            _ => None,
        }
    }

    fn check(&self) -> Result<(), ParamError> {
        match self {
            BaseKernels::Paper { first_width } => ParamRange::Above(0.0).require("first width", *first_width)?,
            BaseKernels::List(kernels) => {
                ParamRange::AtLeast(1.0).require("number of base kernels", kernels.len() as f64)?;
            }
        }
        self.kernels(false).iter().try_for_each(Kernel::check)
    }

    fn show(&self) -> String {
        match self {
            BaseKernels::Paper { first_width } => format!("paper({first_width:?})"),
            BaseKernels::List(kernels) => {
                format!("list({})", kernels.iter().map(Kernel::show).collect::<Vec<_>>().join(";"))
            }
        }
    }
}

/// Whether base kernels are brought to one scale.
///
/// The 50 base kernels differ in $k(x,x)$ by two orders of magnitude, and every term of the cost depends on that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum KernelScale {
    /// $k(x,z)/\sqrt{k(x,x)\,k(z,z)}$, so that all instances have length 1 under every kernel.
    Cosine,
    /// As the paper's formulas stand. Where instances are as given and their features much above 1, cubic kernels are so large that the weights of others are lost in rounding; the certificates of the trace tell.
    Raw,
}

mil_core::choice!(KernelScale { Cosine = "cosine", Raw = "raw" });

impl KernelScale {
    /// The kernel in this scale.
    pub(crate) fn of(self, kernel: Kernel) -> Kernel {
        match (self, kernel) {
            (KernelScale::Cosine, kernel @ Kernel::Gaussian { .. }) | (KernelScale::Raw, kernel) => kernel,
            (KernelScale::Cosine, kernel) => Kernel::Normalised(Box::new(kernel)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_has_fifty_kernels() {
        let kernels = BaseKernels::Paper { first_width: 0.01 }.kernels(false);
        assert_eq!(kernels.len(), 50);
        assert_eq!(kernels[21], Kernel::Polynomial { degree: 3, scale: 1.0, offset: 5.0 });
        let Kernel::Gaussian { gamma } = kernels[49] else { panic!("the last is a Gaussian") };
        assert!((gamma - 1.0 / 0.28).abs() < 1e-12);
    }

    #[test]
    fn intersection_is_left_out_for_features_below_zero() {
        let kernels = BaseKernels::Paper { first_width: 0.01 }.kernels(true);
        assert!(kernels.len() == 49 && !kernels.contains(&Kernel::Intersection));
    }

    #[test]
    fn words_are_read_as_they_are_shown() {
        let list = vec![Kernel::Linear, Kernel::Polynomial { degree: 2, scale: 1.0, offset: 0.5 }];
        for kernels in [BaseKernels::Paper { first_width: 0.3 }, BaseKernels::List(list)] {
            assert_eq!(BaseKernels::parse(&kernels.show()), Some(kernels));
        }
        assert_eq!(BaseKernels::parse("paper"), None);
        assert!(BaseKernels::List(Vec::new()).check().is_err());
        assert!(BaseKernels::Paper { first_width: 0.0 }.check().is_err());
    }
}
