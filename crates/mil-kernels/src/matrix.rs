//! The matrix that [`gram`](crate::gram()) fills, and the memory it lives in.

use std::fmt;
use std::ops::Index;

use mil_core::Buffer;
use nalgebra::{Const, DMatrix, DMatrixView, Dyn};

use crate::KernelError;

/// Each row starts at a multiple of this many values, a cache line of most machines.
const LINE: usize = 8;

/// The symmetric matrix of $k(x_i, x_j)$ over $n$ instances.
///
/// Rows are contiguous and begin at whole cache lines. From 4 MiB on a matrix lives in pages of its own, and Linux is asked for huge ones
/// of 2 MiB: it hands out memory page by page, and for Musk2 (348 MB) 85,000 small pages cost almost as much as the arithmetic.
///
/// ```
/// use mil_kernels::{Kernel, gram};
/// use nalgebra::DMatrix;
/// let instances = DMatrix::from_row_slice(1, 3, &[1.0, 2.0, 3.0]); // three instances of one feature
/// let gram = gram(&Kernel::Linear, &instances)?;
/// assert_eq!((gram.row(1), gram[(2, 1)]), (&[2.0, 4.0, 6.0][..], 6.0));
/// assert_eq!(gram.view().sum(), 36.0);
/// # Ok::<(), mil_kernels::KernelError>(())
/// ```
#[derive(Default)]
pub struct Gram {
    n: usize,
    memory: Buffer,
}

impl Gram {
    /// A matrix without instances, whose memory is still to come: what a first [`gram_into`](crate::gram_into) takes.
    #[must_use]
    pub fn new() -> Gram {
        Gram::default()
    }

    /// Number of instances: of rows, and of values in each.
    #[must_use]
    pub fn n_instances(&self) -> usize {
        self.n
    }

    /// The values $k(x_i, \cdot)$ of one instance, which are a column as well.
    ///
    /// # Panics
    /// If the position is out of range.
    #[must_use]
    pub fn row(&self, idx: usize) -> &[f64] {
        assert!(idx < self.n, "row {idx} of {}", self.n);
        &self.memory.values()[idx * stride_of(self.n)..][..self.n]
    }

    /// The matrix for nalgebra, in place.
    #[must_use]
    pub fn view(&self) -> DMatrixView<'_, f64> {
        let (n, stride) = (Dyn(self.n), Dyn(stride_of(self.n)));
        DMatrixView::from_slice_with_strides_generic(self.memory.values(), n, n, Const::<1>, stride)
    }

    /// A copy that nalgebra owns.
    #[must_use]
    pub fn to_matrix(&self) -> DMatrix<f64> {
        self.view().into_owned()
    }

    /// Makes room for `n` instances, in the memory at hand where it has the right size, and hands out all rows and how far apart
    /// they begin.
    pub(crate) fn prepare(&mut self, n: usize) -> Result<(&mut [f64], usize), KernelError> {
        let stride = stride_of(n);
        let too_large = || KernelError::TooLarge { n_instances: n };
        let len = n.checked_mul(stride).ok_or_else(too_large)?;
        if self.memory.values().len() != len {
            // What is there goes first: the two together may be more than the machine has.
            *self = Gram::new();
            self.memory = Buffer::zeroed(len).ok_or_else(too_large)?;
        }
        self.n = n;
        Ok((self.memory.values_mut(), stride))
    }
}

fn stride_of(n: usize) -> usize {
    n.checked_next_multiple_of(LINE).unwrap_or(n)
}

impl Index<(usize, usize)> for Gram {
    type Output = f64;

    fn index(&self, (row, column): (usize, usize)) -> &f64 {
        &self.row(row)[column]
    }
}

impl PartialEq for Gram {
    fn eq(&self, other: &Gram) -> bool {
        self.view() == other.view()
    }
}

impl fmt::Debug for Gram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries((0..self.n).map(|idx| self.row(idx))).finish()
    }
}
