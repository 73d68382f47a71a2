//! A view of one bag.

use nalgebra::DMatrixView;

use crate::error::{BagError, ScoreError};

/// A view of one bag: its name and its instances, never its label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bag<'a> {
    pub(super) name: &'a str,
    pub(super) n_features: usize,
    /// Instance after instance.
    pub(super) values: &'a [f64],
}

impl<'a> Bag<'a> {
    /// A bag over instances laid out one after the other, for streams of bags that never form a set.
    ///
    /// ```
    /// use mil_core::Bag;
    /// let bag = Bag::new("frame 7", 2, &[1.0, 2.0, 3.0, 4.0])?;
    /// assert_eq!(bag.instance(1), [3.0, 4.0]);
    /// # Ok::<(), mil_core::BagError>(())
    /// ```
    ///
    /// # Errors
    /// If there is no instance or no feature, the values do not fill the last instance, or one of them is not finite.
    pub fn new(name: &'a str, n_features: usize, values: &'a [f64]) -> Result<Bag<'a>, BagError> {
        let owned = || name.to_owned();
        if n_features == 0 {
            return Err(BagError::NoFeatures { bag_idx: 0, name: owned(), instance_idx: 0 });
        }
        if values.is_empty() {
            return Err(BagError::EmptyBag { bag_idx: 0, name: owned() });
        }
        let (instance_idx, found) = (values.len() / n_features, values.len() % n_features);
        if found != 0 {
            return Err(BagError::Dimension { bag_idx: 0, name: owned(), instance_idx, found, expected: n_features });
        }
        let bag = Bag { name, n_features, values };
        bag.check_finite(0)?;
        Ok(bag)
    }

    /// Name of the bag.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Number of instances, at least 1.
    #[must_use]
    pub fn n_instances(&self) -> usize {
        self.values.len() / self.n_features
    }

    /// Dimension of the instances.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// One instance.
    ///
    /// # Panics
    /// If the position is out of range.
    #[must_use]
    pub fn instance(&self, instance_idx: usize) -> &'a [f64] {
        &self.values[instance_idx * self.n_features..][..self.n_features]
    }

    /// The instances in order.
    pub fn instances(&self) -> impl DoubleEndedIterator<Item = &'a [f64]> + ExactSizeIterator + Clone + use<'a> {
        self.values.chunks_exact(self.n_features)
    }

    /// All values, instance after instance.
    #[must_use]
    pub fn values(&self) -> &'a [f64] {
        self.values
    }

    /// The instances as a matrix, one column each.
    #[must_use]
    pub fn matrix(&self) -> DMatrixView<'a, f64> {
        DMatrixView::from_slice(self.values, self.n_features, self.n_instances())
    }

    /// Refuses a bag of another dimension than the model's.
    ///
    /// # Errors
    /// [`ScoreError::Dimension`].
    pub fn require_features(&self, expected: usize) -> Result<(), ScoreError> {
        if self.n_features == expected {
            return Ok(());
        }
        Err(ScoreError::Dimension { name: self.name.to_owned(), found: self.n_features, expected })
    }

    pub(super) fn check_finite(&self, bag_idx: usize) -> Result<(), BagError> {
        match self.values.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(position) => Err(BagError::NotFinite {
                bag_idx,
                name: self.name.to_owned(),
                instance_idx: position / self.n_features,
                feature_idx: position % self.n_features,
                value: self.values[position],
            }),
        }
    }
}
