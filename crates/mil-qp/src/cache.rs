//! Rows of a kernel, kept as long as there is room.

use mil_core::KernelRows;

use crate::ProblemError;

/// Rows restricted to the columns still in play, in a bounded number of bytes but never fewer than two rows. The rows used longest ago leave first.
pub(crate) struct RowCache<'a, K: KernelRows> {
    kernel: &'a K,
    columns: K::Columns,
    /// Values in a row.
    width: usize,
    max_bytes: usize,
    slots: Vec<Slot>,
    /// The slot of each row of the matrix.
    slot_of: Vec<Option<usize>>,
    /// Counts calls of [`fetch`](Self::fetch).
    now: u64,
    n_computed: usize,
}

struct Slot {
    idx: usize,
    used: u64,
    values: Vec<f64>,
}

impl<'a, K: KernelRows> RowCache<'a, K> {
    /// A cache over all columns.
    pub(crate) fn new(kernel: &'a K, max_bytes: usize) -> Self {
        let n = kernel.order();
        let columns = kernel.prepare_columns(&(0..n).collect::<Vec<_>>());
        RowCache {
            kernel,
            columns,
            width: n,
            max_bytes,
            slots: Vec::new(),
            slot_of: vec![None; n],
            now: 0,
            n_computed: 0,
        }
    }

    /// Rows that fit: as many as may be fetched at once.
    pub(crate) fn capacity(&self) -> usize {
        (self.max_bytes / (self.width.max(1) * size_of::<f64>())).clamp(2, self.slot_of.len().max(2))
    }

    /// Whether a row is here.
    pub(crate) fn holds(&self, idx: usize) -> bool {
        self.slot_of[idx].is_some()
    }

    /// Whether further rows would push others out.
    pub(crate) fn is_full(&self) -> bool {
        self.slots.len() == self.capacity()
    }

    /// Rows computed so far, those computed again included.
    pub(crate) fn n_computed(&self) -> usize {
        self.n_computed
    }

    /// Sees to it that the rows, all different and at most as many as fit, are here; those that are missing are computed together.
    pub(crate) fn fetch(&mut self, idxs: &[usize]) -> Result<(), ProblemError> {
        assert!(idxs.len() <= self.capacity(), "more rows asked for than fit");
        self.now += 1;
        let mut missing = Vec::new();
        for &idx in idxs {
            match self.slot_of[idx] {
                Some(slot) => self.slots[slot].used = self.now,
                None => missing.push(idx),
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let places = self.make_room(missing.len());
        let mut rows: Vec<Vec<f64>> = places.iter().map(|&slot| std::mem::take(&mut self.slots[slot].values)).collect();
        rows.iter_mut().for_each(|row| row.resize(self.width, 0.0));
        let mut targets: Vec<&mut [f64]> = rows.iter_mut().map(Vec::as_mut_slice).collect();
        let filled = self.kernel.fill_rows(&missing, &self.columns, &mut targets);
        for ((slot, values), idx) in places.into_iter().zip(rows).zip(missing) {
            self.slots[slot] = Slot { idx, used: self.now, values };
            self.slot_of[idx] = Some(slot);
            self.n_computed += 1;
        }
        if let Err(error) = filled {
            self.clear();
            return Err(ProblemError::Rows(error));
        }
        Ok(())
    }

    /// A row that was fetched last.
    pub(crate) fn row(&self, idx: usize) -> &[f64] {
        &self.slots[self.slot_of[idx].expect("the row was fetched")].values
    }

    /// Goes on with some of the present columns: `kept` are their places among the present ones, ascending, `idxs` their positions in the matrix.
    pub(crate) fn narrow(&mut self, kept: &[usize], idxs: &[usize]) {
        self.columns = self.kernel.prepare_columns(idxs);
        self.width = idxs.len();
        for slot in &mut self.slots {
            for (to, &from) in kept.iter().enumerate() {
                slot.values[to] = slot.values[from];
            }
            slot.values.truncate(kept.len());
            slot.values.shrink_to_fit();
        }
    }

    /// Goes on with other columns, forgetting all rows.
    pub(crate) fn widen(&mut self, idxs: &[usize]) {
        self.clear();
        self.columns = self.kernel.prepare_columns(idxs);
        self.width = idxs.len();
    }

    /// Empty slots for new rows, fresh ones or those of the rows used longest ago.
    fn make_room(&mut self, n_rows: usize) -> Vec<usize> {
        let n_fresh = n_rows.min(self.capacity().saturating_sub(self.slots.len()));
        let mut places: Vec<usize> = (0..self.slots.len()).filter(|&slot| self.slots[slot].used < self.now).collect();
        let n_reused = n_rows - n_fresh;
        if n_reused > 0 && n_reused < places.len() {
            places.select_nth_unstable_by_key(n_reused - 1, |&slot| (self.slots[slot].used, slot));
        }
        places.truncate(n_reused);
        for &slot in &places {
            self.slot_of[self.slots[slot].idx] = None;
        }
        places.extend(self.slots.len()..self.slots.len() + n_fresh);
        self.slots.extend((0..n_fresh).map(|_| Slot { idx: 0, used: self.now, values: Vec::new() }));
        places
    }

    fn clear(&mut self) {
        self.slots.clear();
        self.slot_of.fill(None);
    }
}
