//! Reading Musk2 (102 bags, 6598 instances, 166 features) from memory, in each format, plain and compressed.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mil_core::BagSet;
use mil_data::{Compression, Format, ReadOptions, WriteOptions, read, read_path, write};

fn read_musk2(criterion: &mut Criterion) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/musk2.csv.gz");
    let bags = read_path(path, &ReadOptions::default()).unwrap().binary(None).unwrap();
    let mut group = criterion.benchmark_group("read/musk2-102x6598x166");
    for format in Format::ALL {
        for compression in [Compression::Plain, Compression::Gzip] {
            let mut bytes = Vec::new();
            write(&mut bytes, &bags, format, &WriteOptions { compression, ..Default::default() }).unwrap();
            let read_back = || read(&bytes[..], "bench", format, &ReadOptions::default()).unwrap();
            let same: BagSet<_> = read_back().binary(None).unwrap();
            assert_eq!(same, bags);
            group.throughput(Throughput::Bytes(bytes.len() as u64));
            group.bench_function(format!("{}-{compression:?}", format.extension()), |bencher| bencher.iter(read_back));
        }
    }
    group.finish();
}

criterion_group!(benches, read_musk2);
criterion_main!(benches);
