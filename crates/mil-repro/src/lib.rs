//! The papers' tables and figures, recomputed.
//!
//! A [`method::Method`] is a learner with stated parameters; a [`table::PaperTable`] puts its accuracies beside what a paper prints; a [`figure::Figure`] is plots, and tables of another
//! shape. Each is a small file under `methods/`, `tables/` or `figures/`. [`run::Plan`] computes what a [`store::Store`] does not hold yet, [`results::Results`] is what comes
//! out, as `results.json`, and [`report`] shows it to people.
//!
//! This crate prints and reads clocks; the libraries below it do neither.

pub mod check;
mod code;
pub mod comparison;
pub mod data;
mod drawing;
pub mod figure;
pub mod figures;
pub mod method;
pub mod methods;
mod notes;
pub mod papers;
pub mod progress;
pub mod provenance;
pub mod report;
pub mod results;
pub mod run;
pub mod selection;
pub mod store;
pub mod table;
pub mod tables;

/// The README's examples, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
