//! How far a run is: a bar on a terminal, a line for each cell and step elsewhere.

use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on a terminal, lines elsewhere, nothing when quiet.
pub struct Progress {
    bar: ProgressBar,
    lines: bool,
}

impl Progress {
    /// Reports to standard error.
    ///
    /// # Panics
    /// Never: the template is a constant.
    #[must_use]
    pub fn to_stderr() -> Progress {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style =
            ProgressStyle::with_template("{bar:30} {pos}/{len} pieces, {elapsed} gone, about {eta} left  {wide_msg}");
        bar.set_style(style.expect("a constant template"));
        Progress { bar, lines: !std::io::stderr().is_terminal() }
    }

    /// Reports nothing.
    #[must_use]
    pub fn quiet() -> Progress {
        Progress { bar: ProgressBar::hidden(), lines: false }
    }

    /// So many pieces are to be computed.
    pub(crate) fn start(&self, n_pieces: usize) {
        self.bar.reset();
        self.bar.set_length(n_pieces as u64);
    }

    /// A piece is done.
    pub(crate) fn advance(&self) {
        self.bar.inc(1);
    }

    /// Says what is going on: on the bar alone.
    pub(crate) fn mention(&self, text: &str) {
        self.bar.set_message(text.to_owned());
    }

    /// Says how far it is.
    pub(crate) fn say(&self, text: &str) {
        self.mention(text);
        if self.lines {
            self.print(text);
        }
    }

    /// Says what the user should know in any case.
    pub(crate) fn warn(&self, text: &str) {
        self.print(&format!("warning: {text}"));
    }

    fn print(&self, text: &str) {
        if !self.bar.is_hidden() || self.lines {
            // Who no longer listens does not end the work.
            self.bar.suspend(|| drop(writeln!(std::io::stderr(), "{text}")));
        }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
