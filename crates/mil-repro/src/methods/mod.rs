//! The methods that are cross-validated, one file a family. A new family adds its file and a line in each list.
//!
//! Stored results are told apart by the content of these files: what does not change a figure, such as a remark about one, has its place elsewhere.

mod forest;
mod mio;
mod nearest_centroid;
mod pmi;
mod svm;

use crate::method::Method;

/// The five data sets that the papers share.
pub const DATA: [&str; 5] = ["musk1", "musk2", "elephant", "fox", "tiger"];

/// All methods.
#[must_use]
pub fn all() -> Vec<Method> {
    let families: [fn() -> Vec<Method>; 5] =
        [nearest_centroid::methods, svm::methods, mio::methods, forest::methods, pmi::methods];
    families.iter().flat_map(|family| family()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_a_name_of_its_own() {
        let mut ids: Vec<&str> = all().iter().map(|method| method.id).collect();
        let n_methods = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), n_methods);
    }

    #[test]
    fn every_method_states_code_that_is_known() {
        for method in all() {
            assert!(!method.code_version().is_empty(), "{}", method.id);
            assert!(method.quick.iter().all(|data| DATA.contains(data)), "{}", method.id);
        }
    }
}
