//! The last resort: a panic of the `parquet` crate becomes a value, and says nothing on standard error.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static IS_CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`; `None` if it panicked.
///
/// The panic hook belongs to the whole program, so ours, installed once, hands everything to the one before it except what panics in
/// here, on this thread. A program that sets a hook later wins, and merely sees the message.
pub(super) fn contained<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    // The hook cannot be changed while this thread unwinds, as when a file is read inside a `drop`.
    if !std::thread::panicking() {
        HOOK.call_once(|| {
            let before = take_hook();
            set_hook(Box::new(move |info| {
                if !IS_CONTAINED.get() {
                    before(info);
                }
            }));
        });
    }
    let was_contained = IS_CONTAINED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work)).ok();
    IS_CONTAINED.set(was_contained);
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_none_and_the_next_one_is_free_again() {
        assert_eq!(contained(|| 7), Some(7));
        assert_eq!(contained(|| -> i32 { panic!("contained") }), None);
        assert!(!IS_CONTAINED.get());
    }
}
