//! Kernels.
mod error;
mod exp;
mod form;
mod gram;
mod kernel;
mod tile;
pub use error::KernelError;
pub use gram::gram;
pub use kernel::Kernel;
