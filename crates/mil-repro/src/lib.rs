//! The papers' tables and figures, recomputed.
//!
//! A [`row::Row`] is one method with fixed, stated parameters, and its cells are the data sets it is measured on; one file under `rows/` adds rows. A
//! [`figure::Figure`] is plots, and tables of another shape; one file under `figures/` adds those of a paper. [`run`] cross-validates the cells and draws the figures whose data are
//! present, [`results::Results`] is what comes out, as `results.json`, and [`report`] shows it to people.
//!
//! This crate prints and reads clocks; the libraries below it do neither.

pub mod data;
mod drawing;
pub mod figure;
pub mod figures;
pub mod provenance;
pub mod report;
pub mod results;
pub mod row;
pub mod rows;
pub mod run;

/// The README's examples, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
