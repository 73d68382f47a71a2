//! Completions and manual pages, made from the definition of the arguments.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::error::CliError;

pub(super) fn completions(shell: Shell) -> Result<(), CliError> {
    use std::io::Write;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "mil", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(())
}

/// `mil.1`, and `mil-NAME.1` for each command.
pub(super) fn man(folder: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(folder).map_err(|error| CliError::io(folder, error))?;
    let mut command = Cli::command();
    command.build();
    page(&command, &folder.join("mil.1"))?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let name = format!("mil-{}", sub.get_name());
        page(&sub.clone().display_name(name.clone()), &folder.join(format!("{name}.1")))?;
    }
    Ok(())
}

fn page(command: &clap::Command, path: &Path) -> Result<(), CliError> {
    let man = clap_mangen::Man::new(command.clone()).title(command.get_display_name().unwrap_or("mil"));
    mil_core::atomic_file::write(path, |mut out| man.render(&mut out)).map_err(|error| CliError::io(path, error))
}
