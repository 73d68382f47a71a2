//! Instance kernels as values.

use mil_core::{ParamError, ParamField, ParamRange};
use serde::{Deserialize, Serialize};

/// A positive semi-definite kernel $k(x, z)$ on instances.
///
/// Plain data: [`check`](Self::check) says whether its numbers are in range, and whatever computes with it checks first. As a word,
/// for a command line or a model file: `linear`, `polynomial(2,0.01,1)`, `gaussian(0.5)`, `intersection`,
/// `normalised(polynomial(3,1,1))`, `sum(0.5*linear,2*gaussian(1))`.
///
/// ```
/// use mil_core::ParamField;
/// use mil_kernels::Kernel;
/// let kernel = Kernel::parse("gaussian(0.5)").unwrap();
/// assert_eq!(kernel, Kernel::Gaussian { gamma: 0.5 });
/// assert_eq!(kernel.value(&[0.0, 0.0], &[1.0, 1.0]), (-1.0_f64).exp());
/// let error = Kernel::Gaussian { gamma: -1.0 }.check().unwrap_err();
/// assert_eq!(error.to_string(), "gamma is -1, expected a finite number above 0");
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub enum Kernel {
    /// $\langle x, z\rangle$.
    #[default]
    Linear,
    /// $(s\,\langle x, z\rangle + c)^p$.
    Polynomial {
        /// The power $p$, at least 1.
        degree: u32,
        /// The factor $s$, finite and above 0.
        scale: f64,
        /// The constant $c$, finite and at least 0: a negative one would cost positive semi-definiteness.
        offset: f64,
    },
    /// $\exp(-\gamma\lVert x - z\rVert^2)$.
    Gaussian {
        /// The inverse squared width $\gamma$, finite and above 0. The literature's $\sigma^2$ in $\exp(-\lVert x-z\rVert^2/\sigma^2)$ is $1/\gamma$.
        gamma: f64,
    },
    /// $\sum_i \min(x_i, z_i)$, the histogram intersection, for features of at least 0.
    Intersection,
    /// $\sum_b \beta_b k_b(x, z)$ with weights $\beta_b \ge 0$, of at least one kernel.
    Sum(Vec<(f64, Kernel)>),
    /// $k(x,z) / \sqrt{k(x,x)\,k(z,z)}$, the cosine of the angle in feature space.
    ///
    /// Choice: 0 where $k(x,x)$ or $k(z,z)$ is 0, since a vector without length has no direction; $k(x,x)$ itself is then 0 too.
    Normalised(Box<Kernel>),
}

impl Kernel {
    /// Refuses numbers out of range.
    ///
    /// # Errors
    /// [`ParamError::OutOfRange`] for the first of them.
    pub fn check(&self) -> Result<(), ParamError> {
        self.check_at_depth(0)
    }

    fn check_at_depth(&self, depth: usize) -> Result<(), ParamError> {
        ParamRange::Within(0.0, MAX_DEPTH as f64 - 1.0).require("depth of kernels within kernels", depth as f64)?;
        match self {
            Kernel::Linear | Kernel::Intersection => Ok(()),
            Kernel::Polynomial { degree, scale, offset } => {
                ParamRange::AtLeast(1.0).require("degree", f64::from(*degree))?;
                ParamRange::Above(0.0).require("scale", *scale)?;
                ParamRange::AtLeast(0.0).require("offset", *offset)
            }
            Kernel::Gaussian { gamma } => ParamRange::Above(0.0).require("gamma", *gamma),
            Kernel::Sum(terms) => {
                ParamRange::AtLeast(1.0).require("number of kernels in the sum", terms.len() as f64)?;
                terms.iter().try_for_each(|(weight, kernel)| {
                    ParamRange::AtLeast(0.0).require("weight", *weight)?;
                    kernel.check_at_depth(depth + 1)
                })
            }
            Kernel::Normalised(kernel) => kernel.check_at_depth(depth + 1),
        }
    }

    /// $k(x, z)$ of one pair, straight from the definition; not finite where the numbers leave the range of `f64`. Matrices of values come
    /// faster from [`gram`](crate::gram), and checked.
    ///
    /// # Panics
    /// If the instances differ in dimension.
    #[must_use]
    pub fn value(&self, x: &[f64], z: &[f64]) -> f64 {
        assert_eq!(x.len(), z.len(), "dimensions of two instances");
        let sum_over = |f: fn(f64, f64) -> f64| x.iter().zip(z).map(|(&x, &z)| f(x, z)).sum::<f64>();
        match self {
            Kernel::Linear => sum_over(|x, z| x * z),
            Kernel::Polynomial { degree, scale, offset } => power(scale * sum_over(|x, z| x * z) + offset, *degree),
            Kernel::Gaussian { gamma } => (-gamma * sum_over(|x, z| (x - z) * (x - z))).exp(),
            Kernel::Intersection => sum_over(f64::min),
            Kernel::Sum(terms) => terms_of(terms).map(|(weight, kernel)| weight * kernel.value(x, z)).sum(),
            Kernel::Normalised(kernel) => {
                cosine(kernel.value(x, z), kernel.value(x, x).sqrt() * kernel.value(z, z).sqrt())
            }
        }
    }

    /// $k(x, x)$, which needs no more of $x$ than its squared norm and the sum of its features.
    pub(crate) fn value_with_itself(&self, squared_norm: f64, feature_sum: f64) -> f64 {
        let again = |kernel: &Kernel| kernel.value_with_itself(squared_norm, feature_sum);
        match self {
            Kernel::Linear => squared_norm,
            Kernel::Polynomial { degree, scale, offset } => power(scale * squared_norm + offset, *degree),
            Kernel::Gaussian { .. } => 1.0,
            Kernel::Intersection => feature_sum,
            Kernel::Sum(terms) => terms_of(terms).map(|(weight, kernel)| weight * again(kernel)).sum(),
            Kernel::Normalised(kernel) => cosine(again(kernel), again(kernel)),
        }
    }
}

/// The terms that count: a weight of 0 silences even what would overflow.
fn terms_of(terms: &[(f64, Kernel)]) -> impl Iterator<Item = &(f64, Kernel)> {
    terms.iter().filter(|(weight, _)| *weight > 0.0)
}

fn cosine(value: f64, lengths: f64) -> f64 {
    if lengths == 0.0 { 0.0 } else { value / lengths }
}

/// `base` to a power of at least 1 by repeated squaring, the same products in the same order on every machine.
#[inline(always)]
pub(crate) fn power(mut base: f64, mut exponent: u32) -> f64 {
    let mut result = 1.0;
    loop {
        if exponent & 1 == 1 {
            result *= base;
        }
        exponent >>= 1;
        if exponent == 0 {
            return result;
        }
        base *= base;
    }
}

/// Kernels within kernels that a word may spell; beyond that it is refused rather than read by ever deeper recursion.
const MAX_DEPTH: usize = 16;

impl ParamField for Kernel {
    const KIND: &'static str = "a kernel: linear, polynomial(degree,scale,offset), gaussian(gamma), intersection, \
                                normalised(kernel) or sum(weight*kernel,...)";

    fn parse(word: &str) -> Option<Kernel> {
        parse_at_depth(word, 0)
    }

    fn check(&self) -> Result<(), ParamError> {
        Kernel::check(self)
    }

    fn show(&self) -> String {
        match self {
            Kernel::Linear => "linear".into(),
            Kernel::Polynomial { degree, scale, offset } => format!("polynomial({degree},{scale:?},{offset:?})"),
            Kernel::Gaussian { gamma } => format!("gaussian({gamma:?})"),
            Kernel::Intersection => "intersection".into(),
            Kernel::Sum(terms) => {
                let terms: Vec<String> =
                    terms.iter().map(|(weight, kernel)| format!("{weight:?}*{}", kernel.show())).collect();
                format!("sum({})", terms.join(","))
            }
            Kernel::Normalised(kernel) => format!("normalised({})", kernel.show()),
        }
    }
}

fn parse_at_depth(word: &str, depth: usize) -> Option<Kernel> {
    if depth == MAX_DEPTH {
        return None;
    }
    let (name, arguments) = match word.trim().split_once('(') {
        None => (word.trim(), Vec::new()),
        Some((name, rest)) => (name.trim(), split_arguments(rest.strip_suffix(')')?)?),
    };
    match (name, arguments.as_slice()) {
        ("linear", []) => Some(Kernel::Linear),
        ("intersection", []) => Some(Kernel::Intersection),
        ("gaussian", [gamma]) => Some(Kernel::Gaussian { gamma: gamma.parse().ok()? }),
        ("polynomial", [degree, scale, offset]) => Some(Kernel::Polynomial {
            degree: degree.parse().ok()?,
            scale: scale.parse().ok()?,
            offset: offset.parse().ok()?,
        }),
        ("normalised", [kernel]) => Some(Kernel::Normalised(Box::new(parse_at_depth(kernel, depth + 1)?))),
        ("sum", terms) => terms
            .iter()
            .map(|term| {
                let (weight, kernel) = term.split_once('*')?;
                Some((weight.trim().parse().ok()?, parse_at_depth(kernel, depth + 1)?))
            })
            .collect::<Option<Vec<_>>>()
            .map(Kernel::Sum),
        _ => None,
    }
}

/// The parts between those commas that stand outside of all brackets, or nothing where brackets do not match.
fn split_arguments(list: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    for (position, letter) in list.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                parts.push(list[start..position].trim());
                start = position + 1;
            }
            _ => {}
        }
    }
    parts.push(list[start..].trim());
    (depth == 0).then_some(parts)
}
