//! temp
use nalgebra::DMatrix;
use std::time::Instant;
fn main() {
    let text = std::fs::read_to_string("/tmp/musk2.csv").unwrap();
    let mut v: Vec<f64> = Vec::new();
    for l in text.lines() {
        v.extend(l.split(',').skip(2).map(|s| s.trim().parse::<f64>().unwrap()));
    }
    let d = 166;
    let n = v.len() / d;
    let x = DMatrix::from_vec(d, n, v);
    let k = mil_kernels::Kernel::Gaussian { gamma: 1e-6 };
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for _ in 0..6 {
            let t = Instant::now();
            let g = pool.install(|| mil_kernels::gram(&k, &x)).unwrap();
            let e = t.elapsed().as_secs_f64();
            println!("{threads} threads {e:.3} mean {}", g.mean());
        }
    }
}
