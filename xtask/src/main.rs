//! The driver of the workspace: `cargo xtask COMMAND`.
//!
//! It depends on the standard library alone, so that it builds in seconds on a fresh machine; it looks for what is missing there, and starts
//! the real work with cargo.

mod gate;
mod process;
mod tidy;
mod tools;

use std::process::{Command, ExitCode};

use process::Failure;

const USAGE: &str = "\
cargo xtask COMMAND

  test                    everything a contributor must pass, in one
  ci [STEP...]            the gate: fmt, tidy, deny, clippy, test, docs; or just the steps named
  tidy                    the checks on the source tree that no compiler makes
  data [list|verify|fetch NAME] [--data DIR]
                          which data sets are known, present and sound; obtain what can be obtained
  reproduce [ARGS...]     recompute the tables and figures; `reproduce --help` tells more
  bench [ARGS...]         benchmarks side by side with the peers (Python is used where present), and growth curves; `bench --help` tells more
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<(), Failure> {
    let Some((command, rest)) = args.split_first() else {
        print!("{USAGE}");
        return Ok(());
    };
    match command.as_str() {
        "test" if rest.is_empty() => gate::test(),
        "ci" => gate::ci(rest),
        "tidy" if rest.is_empty() => tidy::run(),
        "data" => mil_repro("data", rest),
        "reproduce" => mil_repro("reproduce", rest),
        "bench" => bench(rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        _ => Err(Failure::new(format!("`{}` is not a command.\n\n{USAGE}", args.join(" ")))),
    }
}

fn mil_repro(command: &str, rest: &[String]) -> Result<(), Failure> {
    let mut cargo = tools::ready_cargo()?;
    process::hand_over(run_in_release(&mut cargo, "mil-repro").arg(command).args(rest))
}

fn bench(args: &[String]) -> Result<(), Failure> {
    let mut cargo = tools::ready_cargo()?;
    if only_asks(args) {
        return process::hand_over(run_in_release(&mut cargo, "mil-benches").args(args));
    }
    match tools::python_with(&[("numpy", "numpy"), ("scikit-learn", "sklearn"), ("osqp", "osqp")]) {
        Ok(python) => {
            cargo.env("MIL_PEER_PYTHON", python);
        }
        Err(failure) => eprintln!("xtask: the Python peers are left out: {failure}"),
    }
    process::hand_over(run_in_release(&mut cargo, "mil-benches").args(args))
}

/// Whether nothing will be measured, so that no peer need be installed.
fn only_asks(args: &[String]) -> bool {
    args.iter().any(|arg| ["--list", "--help", "-h", "--version", "-V"].contains(&arg.as_str()))
}

/// `cargo run` of a package, in the folder the user is in, so that the paths he gives mean what he means.
fn run_in_release<'a>(cargo: &'a mut Command, package: &str) -> &'a mut Command {
    cargo.env("MIL_TARGET", process::target_folder());
    cargo.env("MIL_ROOT", process::root());
    cargo.env("MIL_COMMIT", process::commit());
    cargo.args(["run", "--release", "--package", package, "--manifest-path"]);
    cargo.arg(process::root().join("Cargo.toml")).arg("--")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_about_benchmarks_installs_no_peer() {
        let asks = |args: &[&str]| only_asks(&args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>());
        assert!(asks(&["--list"]) && asks(&["gram", "-h"]));
        assert!(!asks(&[]) && !asks(&["gram", "--quick", "--snapshot", "list.md"]));
    }
}
