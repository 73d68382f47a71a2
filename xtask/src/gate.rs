//! The gate: every check that a change must pass, the same everywhere.

use std::time::Instant;

use crate::process::{Failure, root, run};
use crate::tidy;
use crate::tools::{cargo_deny, ready_cargo};

/// A check and its name.
type Step = (&'static str, fn() -> Result<(), Failure>);

/// In the order of how soon they fail.
const STEPS: [Step; 6] =
    [("fmt", fmt), ("tidy", tidy::run), ("deny", deny), ("clippy", clippy), ("test", unit_tests), ("docs", docs)];

/// All steps; a machine on which cargo-deny cannot be had is told so and passes without it.
pub fn test() -> Result<(), Failure> {
    let deny_can_run = cargo_deny();
    if let Err(failure) = &deny_can_run {
        eprintln!("xtask: leaving out `deny`: {failure}");
    }
    run_steps(STEPS.iter().filter(|(name, _)| *name != "deny" || deny_can_run.is_ok()))
}

/// All steps, or just those named.
pub fn ci(names: &[String]) -> Result<(), Failure> {
    if let Some(unknown) = names.iter().find(|name| !STEPS.iter().any(|(known, _)| known == name)) {
        let known: Vec<&str> = STEPS.iter().map(|(name, _)| *name).collect();
        return Err(Failure::new(format!("`{unknown}` is not a step; known are {}", known.join(", "))));
    }
    run_steps(STEPS.iter().filter(|(name, _)| names.is_empty() || names.iter().any(|wanted| wanted == name)))
}

fn run_steps<'a>(steps: impl Iterator<Item = &'a Step>) -> Result<(), Failure> {
    let mut passed = Vec::new();
    for (name, step) in steps {
        eprintln!("xtask: {name}");
        let start = Instant::now();
        step()?;
        passed.push(format!("{name} ({:.0} s)", start.elapsed().as_secs_f64()));
    }
    eprintln!("xtask: passed {}", passed.join(", "));
    Ok(())
}

fn fmt() -> Result<(), Failure> {
    run(ready_cargo()?.current_dir(root()).args(["fmt", "--all", "--check"]))
}

/// Everything with its default features, then the crates that promise to do with less.
fn clippy() -> Result<(), Failure> {
    let lint = |what: &[&str]| {
        let mut cargo = ready_cargo()?;
        run(cargo.current_dir(root()).args(["clippy", "--quiet"]).args(what).args(["--", "--deny", "warnings"]))
    };
    lint(&["--workspace", "--all-targets"])?;
    lint(&["--package", "mil-qp", "--package", "mil-data", "--no-default-features", "--lib"])
}

/// Unit, integration and doc tests; benches and examples are built with them.
fn unit_tests() -> Result<(), Failure> {
    run(ready_cargo()?.current_dir(root()).args(["test", "--workspace"]))
}

fn docs() -> Result<(), Failure> {
    let mut cargo = ready_cargo()?;
    run(cargo.current_dir(root()).env("RUSTDOCFLAGS", "--deny warnings").args([
        "doc",
        "--quiet",
        "--workspace",
        "--no-deps",
    ]))
}

/// Licences, bans and sources. The advisories need a database from the network and so are no part of the gate: `cargo deny check` runs them.
fn deny() -> Result<(), Failure> {
    let mut command = std::process::Command::new(cargo_deny()?);
    run(command.current_dir(root()).args(["--log-level", "error", "check", "bans", "licenses", "sources"]))
}
