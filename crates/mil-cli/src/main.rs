//! The `mil` program; everything is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    mil_cli::run(std::env::args_os())
}
