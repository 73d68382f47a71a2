//! Kernels that take their width from the data.

use mil_core::{ParamError, ParamField, ParamRange};
use nalgebra::DMatrixView;

use crate::{Kernel, KernelError, median_squared_distance};

/// A kernel, or how to find one for the instances at hand.
///
/// As a word: `gaussian(4/median)`, or the word of a [`Kernel`].
///
/// ```
/// use mil_core::ParamField;
/// use mil_kernels::{Kernel, KernelChoice};
/// use nalgebra::DMatrix;
/// let instances = DMatrix::from_row_slice(1, 3, &[0.0, 1.0, 3.0]); // three instances of one feature
/// let choice = KernelChoice::parse("gaussian(2/median)").unwrap();
/// assert_eq!(choice, KernelChoice::GaussianOverMedian(2.0));
/// assert_eq!(choice.resolve(&instances, 0)?, Kernel::Gaussian { gamma: 0.5 }); // the median of 1, 4 and 9 is 4
/// # Ok::<(), mil_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum KernelChoice {
    /// This one.
    Fixed(Kernel),
    /// A Gaussian kernel of $\gamma = r/\operatorname{median}\lVert x-z\rVert^2$ over pairs of training instances; this is $r$, above 0.
    GaussianOverMedian(f64),
}

impl KernelChoice {
    /// Refuses numbers out of range.
    ///
    /// # Errors
    /// [`ParamError::OutOfRange`] for the first of them.
    pub fn check(&self) -> Result<(), ParamError> {
        match self {
            KernelChoice::Fixed(kernel) => kernel.check(),
            KernelChoice::GaussianOverMedian(ratio) => ParamRange::Above(0.0).require("gamma over the median", *ratio),
        }
    }

    /// The kernel for these instances, one per column; the seed draws the pairs of the [median](median_squared_distance).
    ///
    /// # Errors
    /// If a number is out of range, or there is no median to divide by.
    pub fn resolve<'a>(&self, instances: impl Into<DMatrixView<'a, f64>>, seed: u64) -> Result<Kernel, KernelError> {
        self.over(|| median_squared_distance(instances, seed))
    }

    /// The kernel for a median that is computed where it is needed.
    ///
    /// # Errors
    /// As for [`resolve`](Self::resolve).
    pub fn over(&self, median: impl FnOnce() -> f64) -> Result<Kernel, KernelError> {
        self.check()?;
        match self {
            KernelChoice::Fixed(kernel) => Ok(kernel.clone()),
            KernelChoice::GaussianOverMedian(ratio) => {
                let median = median();
                let gamma = ratio / median;
                if gamma.is_finite() && 0.0 < gamma {
                    Ok(Kernel::Gaussian { gamma })
                } else {
                    Err(KernelError::NoMedian(median))
                }
            }
        }
    }
}

impl From<Kernel> for KernelChoice {
    fn from(kernel: Kernel) -> KernelChoice {
        KernelChoice::Fixed(kernel)
    }
}

impl ParamField for KernelChoice {
    const KIND: &'static str = "gaussian(RATIO/median), or a kernel: linear, polynomial(degree,scale,offset), gaussian(gamma), intersection, \
                                normalised(kernel) or sum(weight*kernel,...)";

    fn parse(word: &str) -> Option<KernelChoice> {
        let ratio = word.trim().strip_prefix("gaussian(").and_then(|rest| rest.strip_suffix("/median)"));
        match ratio {
            Some(ratio) => ratio.trim().parse().ok().map(KernelChoice::GaussianOverMedian),
            None => Kernel::parse(word).map(KernelChoice::Fixed),
        }
    }

    fn check(&self) -> Result<(), ParamError> {
        KernelChoice::check(self)
    }

    fn show(&self) -> String {
        match self {
            KernelChoice::Fixed(kernel) => kernel.show(),
            KernelChoice::GaussianOverMedian(ratio) => format!("gaussian({}/median)", ratio.show()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DMatrix;

    #[test]
    fn every_choice_is_read_back_from_its_word() {
        for choice in [
            KernelChoice::GaussianOverMedian(0.3),
            Kernel::Linear.into(),
            Kernel::Gaussian { gamma: 4.0 }.into(),
            Kernel::Sum(vec![(1.0, Kernel::Linear), (2.0, Kernel::Gaussian { gamma: 0.5 })]).into(),
        ] {
            assert_eq!(KernelChoice::parse(&choice.show()), Some(choice));
        }
        for word in ["gaussian(/median)", "gaussian(x/median)", "gaussian(1/mean)", "median"] {
            assert_eq!(KernelChoice::parse(word), None, "{word}");
        }
    }

    #[test]
    fn numbers_out_of_range_and_medians_that_are_none_are_refused() {
        let equal = DMatrix::repeat(2, 5, 1.0);
        let error = KernelChoice::GaussianOverMedian(1.0).resolve(&equal, 0).unwrap_err();
        assert_eq!(error, KernelError::NoMedian(0.0));
        assert!(error.to_string().contains("state the kernel's gamma"), "{error}");
        assert_eq!(KernelChoice::Fixed(Kernel::Linear).resolve(&equal, 0), Ok(Kernel::Linear));
        for ratio in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = KernelChoice::GaussianOverMedian(ratio).over(|| 1.0).unwrap_err();
            assert!(matches!(error, KernelError::Param(_)), "{error}");
        }
        // Both are in range, and their ratio is not.
        assert!(KernelChoice::GaussianOverMedian(1e-300).over(|| 1e300).is_err());
        assert!(KernelChoice::GaussianOverMedian(1e300).over(|| 1e-300).is_err());
    }
}
