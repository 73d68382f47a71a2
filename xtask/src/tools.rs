//! Programs that the work needs and a fresh machine may lack.

use std::path::PathBuf;
use std::process::Command;

use crate::process::{Failure, cargo, exists, output_of, root, run, tools_folder};

/// A cargo that can build everything: where the workspace has OSQP in it, cmake is seen to first.
///
/// Tried in turn: the cmake on the PATH; Debian's package, as root; the wheel on PyPI, in `target/tools`, which the `cmake` crate finds
/// through the variable `CMAKE`.
pub fn ready_cargo() -> Result<Command, Failure> {
    let mut cargo = cargo();
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap_or_default();
    if !builds_osqp(&lock) || std::env::var_os("CMAKE").is_some() || exists("cmake") {
        return Ok(cargo);
    }
    eprintln!("xtask: cmake is missing and OSQP needs it to build");
    if is_root() && exists("apt-get") {
        eprintln!("xtask: installing Debian's package cmake");
        run(Command::new("apt-get").args(["update", "--quiet"]))?;
        run(Command::new("apt-get").args(["install", "--yes", "--quiet", "--no-install-recommends", "cmake"]))?;
    } else {
        eprintln!("xtask: installing the cmake wheel into target/tools");
        let cmake = from_pypi("cmake", "cmake", "cmake").map_err(|failure| {
            Failure::new(format!(
                "{failure}\nInstall cmake yourself, on Debian or Ubuntu with: sudo apt-get install cmake"
            ))
        })?;
        cargo.env("CMAKE", cmake);
    }
    Ok(cargo)
}

/// The cargo-deny to call: the one on the PATH, else one built into `target/tools`, unoptimised, which takes two minutes instead of ten.
pub fn cargo_deny() -> Result<PathBuf, Failure> {
    if exists("cargo-deny") {
        return Ok("cargo-deny".into());
    }
    let folder = tools_folder().join("cargo-deny");
    let built = folder.join("bin/cargo-deny");
    if !exists(&built) {
        eprintln!("xtask: building cargo-deny into target/tools");
        let install = ["install", "--locked", "--debug", "--quiet", "cargo-deny@0.20.2", "--root"];
        output_of(cargo().args(install).arg(folder)).map_err(|failure| {
            Failure::new(format!("{failure}\nInstall cargo-deny yourself with: cargo install --locked cargo-deny"))
        })?;
    }
    Ok(built)
}

/// A Python in `target/tools` that has the packages, each with the module it brings, for the peers in benchmarks.
pub fn python_with(packages: &[(&str, &str)]) -> Result<PathBuf, Failure> {
    let environment = virtual_environment("peers")?;
    let python = environment.join("bin/python");
    let imports: Vec<String> = packages.iter().map(|(_, module)| format!("import {module}")).collect();
    if output_of(Command::new(&python).args(["-c", &imports.join("; ")])).is_err() {
        let names: Vec<&str> = packages.iter().map(|(name, _)| *name).collect();
        eprintln!("xtask: installing {} into target/tools", names.join(", "));
        output_of(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(names))?;
    }
    Ok(python)
}

/// A program that a PyPI package brings, installed into a virtual environment of its own.
fn from_pypi(name: &str, requirement: &str, program: &str) -> Result<PathBuf, Failure> {
    let environment = virtual_environment(name)?;
    let installed = environment.join("bin").join(program);
    if !exists(&installed) {
        output_of(Command::new(environment.join("bin/python")).args(["-m", "pip", "install", "--quiet", requirement]))?;
    }
    if exists(&installed) { Ok(installed) } else { Err(Failure::new(format!("{requirement} brought no {program}"))) }
}

fn virtual_environment(name: &str) -> Result<PathBuf, Failure> {
    let environment = tools_folder().join(name);
    if !exists(environment.join("bin/python")) {
        if !exists("python3") {
            return Err(Failure::new("there is no python3 on this machine"));
        }
        output_of(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    }
    Ok(environment)
}

fn builds_osqp(lock: &str) -> bool {
    lock.lines().any(|line| line == "name = \"osqp-sys\"")
}

fn is_root() -> bool {
    output_of(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cmake_is_asked_for_only_where_osqp_is_built() {
        assert!(builds_osqp("[[package]]\nname = \"osqp-sys\"\nversion = \"0.6.3\"\n"));
        assert!(!builds_osqp("[[package]]\nname = \"nalgebra\"\n"));
    }
}
