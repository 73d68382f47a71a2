//! Starting other programs, and what is said when they fail.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What went wrong, in words for the person at the terminal.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    pub fn new(message: impl Into<String>) -> Failure {
        Failure(message.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The root of the workspace.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().expect("xtask lies in the workspace").to_owned()
}

/// Where what we install for ourselves goes: out of the way of the system, gone with `cargo clean`.
pub fn tools_folder() -> PathBuf {
    target_folder().join("tools")
}

/// The folder that cargo builds in.
pub fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The cargo that started us.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a command to its end, its output going to the terminal.
pub fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| Failure::new(format!("{}: {error}", shown(command))))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("{} failed ({status})", shown(command)))) }
}

/// Hands over to a program that speaks for itself, and ends as it ends.
pub fn hand_over(command: &mut Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| Failure::new(format!("{}: {error}", shown(command))))?;
    std::process::exit(status.code().unwrap_or(1))
}

/// Runs a command to its end and gives what it printed.
pub fn output_of(command: &mut Command) -> Result<String, Failure> {
    let output = command.output().map_err(|error| Failure::new(format!("{}: {error}", shown(command))))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last_lines: Vec<&str> = said.lines().rev().take(5).collect::<Vec<_>>().into_iter().rev().collect();
    Err(Failure::new(format!("{} failed ({}):\n{}", shown(command), output.status, last_lines.join("\n"))))
}

/// The commit of the sources, with `-dirty` behind it where they have been changed since; empty outside a checkout.
pub fn commit() -> String {
    let describe = ["describe", "--always", "--dirty", "--exclude", "*"];
    output_of(Command::new("git").current_dir(root()).args(describe)).unwrap_or_default().trim().to_owned()
}

/// Whether a program can be started at all.
pub fn exists(program: impl AsRef<OsStr>) -> bool {
    let silent = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    silent.is_ok_and(|status| status.success())
}

fn shown(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or(command.get_program()).to_string_lossy();
    let args = command.get_args().map(OsStr::to_string_lossy);
    format!("`{}`", std::iter::once(name).chain(args).collect::<Vec<_>>().join(" "))
}
