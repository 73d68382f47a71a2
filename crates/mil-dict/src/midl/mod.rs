//! MIDL: dictionaries for negative instances and for the one positive instance of each positive bag, in a feature space that is learnt along with them.
//!
//! Shrivastava, Pillai & Patel, *Multiple Kernel-based Dictionary Learning for Weakly Supervised Classification*, Pattern Recognition 2015; equations and algorithm lines are the paper's.
//!
//! A dictionary represents what it was learnt from well and other things badly. MIDL learns $D_n=\Phi(Y_n)A_n$ from all instances of negative bags and $D_p=\Phi(Y_p)A_p$ from one instance of each positive bag, chosen by
//! $\Omega$, under a kernel $K=\sum_b\beta_bK_b$ (eqs. 8, 9) that keeps the two apart:
//!
//! $$ \mathcal J=\lVert\Phi(Y_n)(I-A_nX_n)\rVert^2+\eta\lVert\Phi(Y_p)(\Omega-A_pX_p\Omega)\rVert^2+\lambda\lVert A_n^\top K(Y_n,Y_p)\Omega\rVert^2 $$
//!
//! (eq. 10) with codes of at most $T_0$ atoms. An instance is positive if the part of its code on $D_p$ represents it better than the part on $D_n$ (eqs. 39 to 43), a bag if one of its instances is.
//!
//! Deviations: eqs. 36 and 37 select by $\Phi(Y_n)A_p$, whose dimensions do not fit; $A_n$ is meant, with codes on the negative dictionary. Eqs. 41 and 42 lack $Y_p$ and $Y_n$ in their last terms. $\lambda$ and $\eta$ "increase by 10 %" from 0;
//! they do so by equal steps of a tenth of their final values.
//!
//! Choice: where the selection changes, the positive atoms lose what they had of instances no longer chosen and are brought to length 1; an atom of which nothing is left begins anew at a chosen instance drawn at random. After the last
//! iteration the positive dictionary gets one more round on the final selection.
//!
//! Cost of an iteration, of $B$ kernels and $N$ negative instances: $\tfrac12BN^2$ for each of the few kernels whose weight moves, $N^3$ and $N^2K_n$ for errors and lengths of atoms, $N^2T_0^2$ for K-SVD.
//!
//! ```
//! use mil_core::{BagModel, Label, Learner};
//! use mil_data::synth::FromInstancesParams;
//! use mil_data::LabelledInstances;
//! use mil_dict::Midl;
//! use nalgebra::DMatrix;
//!
//! // Instances along four directions; the third is the positive one.
//! let value = |row: usize, i: usize| f64::from(row == i % 4) + 0.1 * ((7 * i + 3 * row) % 5) as f64;
//! let classes = (0..120).map(|i| mil_core::ClassId(i % 4)).collect();
//! let pool = LabelledInstances::new(DMatrix::from_fn(4, 120, value), classes, mil_core::ClassNames::new(["a", "b", "c", "d"]))?;
//! let sizes = FromInstancesParams { n_positive: 6, n_negative: 6, n_test_positive: 6, n_test_negative: 6, ..Default::default() };
//! let bags = sizes.train_test(&pool, "c")?;
//!
//! let (model, trace) = Midl { n_negative_atoms: 9, n_positive_atoms: 3, n_iterations: 15, ..Midl::default() }.fit_traced(&bags.train)?;
//! assert!((trace.kernel_weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
//! assert_eq!(model.predict(bags.test.bag(0))?, bags.test.labels()[0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod fit;
mod model;
mod params;
mod trace;

pub use model::{MidlModel, Side};
pub use params::{Midl, Selection};
pub use trace::{Cost, MidlIteration, MidlTrace, Stop};
