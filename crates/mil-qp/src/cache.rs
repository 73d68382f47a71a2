//! Rows of a kernel, kept as long as there is room; those that a kernel keeps itself are passed on.

use mil_core::{Buffer, KernelRows};
use rayon::prelude::*;

use crate::ProblemError;

/// Rows restricted to the columns still in play, in a bounded number of bytes but never fewer than two rows. The rows used longest ago leave first.
pub(crate) struct RowCache<'a, K: KernelRows> {
    kernel: &'a K,
    /// The columns, some of them at a time as they came, and how many these are; none where rows are read from the kernel.
    columns: Vec<(K::Prepared, usize)>,
    /// Values in a row.
    width: usize,
    /// Room for a row; at least its width.
    stride: usize,
    buffer: Buffer,
    slots: Vec<Slot>,
    /// The slot of each row of the matrix.
    slot_of: Vec<Option<usize>>,
    /// Whether all columns are in play, in order, and the kernel keeps its rows: then they are read there.
    is_resident: bool,
    /// Counts calls of [`fetch`](Self::fetch).
    now: u64,
}

/// Which row is in a place of the buffer, and when it was last used.
struct Slot {
    idx: usize,
    used: u64,
}

impl<'a, K: KernelRows> RowCache<'a, K> {
    /// A cache over all columns.
    ///
    /// # Errors
    /// If there is not even memory for two rows.
    pub(crate) fn new(kernel: &'a K, max_bytes: usize) -> Result<Self, ProblemError> {
        let mut cache = RowCache::without_columns(kernel, max_bytes)?;
        cache.add_columns(&(0..kernel.order()).collect::<Vec<_>>());
        Ok(cache)
    }

    /// A cache whose columns are still to come.
    ///
    /// # Errors
    /// If there is not even memory for two rows.
    pub(crate) fn without_columns(kernel: &'a K, max_bytes: usize) -> Result<Self, ProblemError> {
        let n = kernel.order();
        let n_rows = (max_bytes / (n.max(1) * size_of::<f64>())).clamp(2, n.max(2));
        let buffer = Buffer::zeroed(n_rows.saturating_mul(n))
            .or_else(|| Buffer::zeroed(n.checked_mul(2)?))
            .ok_or(ProblemError::NoMemory { n_values: 2 * n })?;
        let slot_of = vec![None; n];
        Ok(RowCache {
            kernel,
            columns: Vec::new(),
            width: 0,
            stride: n.max(1),
            buffer,
            slots: Vec::new(),
            slot_of,
            is_resident: false,
            now: 0,
        })
    }

    /// Rows that fit: as many as may be fetched at once.
    pub(crate) fn capacity(&self) -> usize {
        if self.is_resident {
            return self.slot_of.len().max(2);
        }
        (self.buffer.values().len() / self.stride).min(self.slot_of.len()).max(2)
    }

    /// Whether a row is here, or as good as: one that the kernel keeps may be kept for others, and what they have asked for so far must not decide our way.
    pub(crate) fn holds(&self, idx: usize) -> bool {
        self.is_resident || self.slot_of[idx].is_some()
    }

    /// Whether further rows would push others out.
    pub(crate) fn is_full(&self) -> bool {
        !self.is_resident && self.slots.len() == self.capacity()
    }

    /// Sees to it that the rows, all different and at most as many as fit, are here; those that are missing are computed together.
    pub(crate) fn fetch(&mut self, idxs: &[usize]) -> Result<(), ProblemError> {
        assert!(idxs.len() <= self.capacity(), "more rows asked for than fit");
        if self.is_resident {
            return self.kernel.keep(idxs).map_err(ProblemError::Rows);
        }
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
        for (slot, idx) in self.make_room(missing.len()).into_iter().zip(missing.iter().copied()) {
            self.slots[slot] = Slot { idx, used: self.now };
            self.slot_of[idx] = Some(slot);
        }
        self.fill(&missing, 0)
    }

    /// A row that was fetched last, or is known to be here.
    pub(crate) fn row(&self, idx: usize) -> &[f64] {
        if self.is_resident {
            return self.kernel.kept_row(idx).expect("the row was fetched");
        }
        let slot = self.slot_of[idx].expect("the row was fetched");
        &self.buffer.values()[slot * self.stride..][..self.width]
    }

    /// Goes on with some of the present columns: `kept` are their places among the present ones, ascending, `idxs` their positions in the matrix.
    pub(crate) fn narrow(&mut self, kept: &[usize], idxs: &[usize]) {
        self.columns.clear();
        self.width = 0;
        self.is_resident = false;
        self.add_columns(idxs);
        let (old, new) = (self.stride, kept.len().max(1));
        let values = self.buffer.values_mut();
        for slot in 0..self.slots.len() {
            for (to, &from) in kept.iter().enumerate() {
                values[slot * new + to] = values[slot * old + from];
            }
        }
        self.stride = new;
    }

    /// Goes on with further columns behind the present ones. Of the rows only those in `kept` stay, as far as they fit, and are extended.
    pub(crate) fn widen(&mut self, idxs: &[usize], kept: &[usize]) -> Result<(), ProblemError> {
        let (old_width, old, first_new) = (self.width, self.stride, self.columns.len());
        self.add_columns(idxs);
        self.stride = old.max(self.width);
        let mut staying: Vec<usize> = kept.iter().filter_map(|&idx| self.slot_of[idx]).collect();
        staying.sort_by_key(|&slot| std::cmp::Reverse(self.slots[slot].used));
        staying.truncate(self.capacity());
        staying.sort_unstable();
        self.slot_of.fill(None);
        let values = self.buffer.values_mut();
        for (to, &from) in staying.iter().enumerate() {
            values.copy_within(from * old..from * old + old_width, to * old);
        }
        if self.stride > old {
            for slot in (0..staying.len()).rev() {
                values.copy_within(slot * old..slot * old + old_width, slot * self.stride);
            }
        }
        self.slots =
            staying.iter().map(|&slot| Slot { idx: self.slots[slot].idx, used: self.slots[slot].used }).collect();
        for (slot, owner) in self.slots.iter().enumerate() {
            self.slot_of[owner.idx] = Some(slot);
        }
        let rows: Vec<usize> = self.slots.iter().map(|slot| slot.idx).collect();
        self.fill(&rows, first_new)
    }

    fn add_columns(&mut self, idxs: &[usize]) {
        if idxs.is_empty() {
            return;
        }
        let are_all = self.width == 0 && idxs.iter().copied().eq(0..self.slot_of.len());
        self.is_resident = are_all && self.kernel.keeps_rows();
        self.width += idxs.len();
        if !self.is_resident {
            self.columns.push((self.kernel.prepare(idxs), idxs.len()));
        }
    }

    /// Computes rows that have their slots, from some group of columns on. After an error no row is here.
    fn fill(&mut self, idxs: &[usize], first: usize) -> Result<(), ProblemError> {
        let mut start: usize = self.columns[..first].iter().map(|(_, n)| n).sum();
        let mut by_slot: Vec<(usize, usize)> =
            idxs.iter().map(|&idx| (self.slot_of[idx].expect("the row has a slot"), idx)).collect();
        by_slot.sort_unstable();
        let idxs: Vec<usize> = by_slot.iter().map(|&(_, idx)| idx).collect();
        let rows = self.kernel.prepare(&idxs);
        for (columns, n) in &self.columns[first..] {
            let mut wanted = by_slot.iter().map(|&(slot, _)| slot).peekable();
            let mut places: Vec<&mut [f64]> = Vec::with_capacity(idxs.len());
            for (slot, row) in self.buffer.values_mut().chunks_mut(self.stride).enumerate() {
                if wanted.next_if_eq(&slot).is_some() {
                    places.push(&mut row[start..start + n]);
                }
            }
            if let Err(error) = self.kernel.fill(&rows, columns, &mut places) {
                self.slots.clear();
                self.slot_of.fill(None);
                return Err(ProblemError::Rows(error));
            }
            start += n;
        }
        Ok(())
    }

    /// Slots for new rows, fresh ones or those of the rows used longest ago.
    fn make_room(&mut self, n_rows: usize) -> Vec<usize> {
        let n_fresh = n_rows.min(self.capacity() - self.slots.len());
        let mut places: Vec<usize> = (0..self.slots.len()).filter(|&slot| self.slots[slot].used < self.now).collect();
        let n_reused = n_rows - n_fresh;
        if 0 < n_reused && n_reused < places.len() {
            places.select_nth_unstable_by_key(n_reused - 1, |&slot| (self.slots[slot].used, slot));
        }
        places.truncate(n_reused);
        for &slot in &places {
            self.slot_of[self.slots[slot].idx] = None;
        }
        places.extend(self.slots.len()..self.slots.len() + n_fresh);
        self.slots.extend((0..n_fresh).map(|_| Slot { idx: 0, used: self.now }));
        places
    }
}

/// Sums that one thread brings up to date.
const CHUNK: usize = 4096;

/// Adds multiples of rows, four at a time: sums are read and written once for all four.
pub(crate) fn add_rows(sums: &mut [f64], moves: &[(f64, &[f64])]) {
    sums.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk_idx, sums)| {
        let start = chunk_idx * CHUNK;
        let (fours, rest) = moves.as_chunks::<4>();
        for [(a, row_a), (b, row_b), (c, row_c), (d, row_d)] in fours {
            let span = start..start + sums.len();
            let rows = row_a[span.clone()].iter().zip(&row_b[span.clone()]).zip(&row_c[span.clone()]).zip(&row_d[span]);
            for (sum, (((ra, rb), rc), rd)) in sums.iter_mut().zip(rows) {
                *sum += a * ra + b * rb + (c * rc + d * rd);
            }
        }
        for (a, row) in rest {
            let row = &row[start..start + sums.len()];
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += a * value);
        }
    });
}
