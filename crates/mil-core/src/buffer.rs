//! Memory for many numbers.

use bytemuck::{cast_slice, cast_slice_mut};
use memmap2::MmapMut;

/// From this many bytes on, numbers live in pages of their own.
const PAGES_FROM: usize = 4 << 20;

/// Numbers, zeros at first, in memory fit for very many of them.
///
/// From 4 MiB on they live in pages of their own, and Linux is asked for huge ones of 2 MiB: it hands out memory page by page when it is first touched, and
/// a hundred thousand small pages cost as much as the arithmetic that fills them. What is never touched is never handed out.
///
/// ```
/// use mil_core::Buffer;
/// let mut buffer = Buffer::zeroed(3).expect("three numbers fit");
/// buffer.values_mut()[1] = 2.0;
/// assert_eq!(buffer.values(), [0.0, 2.0, 0.0]);
/// ```
#[derive(Debug)]
pub struct Buffer(Memory);

#[derive(Debug)]
enum Memory {
    Heap(Vec<f64>),
    Pages(MmapMut),
}

impl Default for Buffer {
    fn default() -> Buffer {
        Buffer(Memory::Heap(Vec::new()))
    }
}

impl Buffer {
    /// So many zeros; `None` where there is not so much memory.
    #[must_use]
    pub fn zeroed(len: usize) -> Option<Buffer> {
        let n_bytes = len.checked_mul(size_of::<f64>())?;
        if n_bytes >= PAGES_FROM
            && let Ok(pages) = MmapMut::map_anon(n_bytes)
        {
            // Without huge pages it is only slower.
            #[cfg(target_os = "linux")]
            let _ = pages.advise(memmap2::Advice::HugePage);
            return Some(Buffer(Memory::Pages(pages)));
        }
        let mut values = Vec::new();
        values.try_reserve_exact(len).ok()?;
        values.resize(len, 0.0);
        Some(Buffer(Memory::Heap(values)))
    }

    /// The numbers.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        match &self.0 {
            Memory::Heap(values) => values,
            Memory::Pages(pages) => cast_slice(pages),
        }
    }

    /// The numbers, to be changed.
    pub fn values_mut(&mut self) -> &mut [f64] {
        match &mut self.0 {
            Memory::Heap(values) => values,
            Memory::Pages(pages) => cast_slice_mut(pages),
        }
    }
}
