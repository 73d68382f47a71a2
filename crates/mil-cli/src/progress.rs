//! How far long work is: a bar on a terminal, nothing elsewhere.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use mil_core::{Event, Observer, Stage};

/// A bar that also adds up the time of fits.
pub struct Progress {
    bar: ProgressBar,
    since: Mutex<HashMap<(usize, usize), Instant>>,
    fitting: Mutex<Duration>,
}

impl Progress {
    /// A bar of so many steps, hidden when quiet and where standard error is no terminal.
    ///
    /// # Panics
    /// Never: the template is a constant.
    #[must_use]
    pub fn new(n_steps: usize, what: &str, is_quiet: bool) -> Progress {
        let bar = if is_quiet || !std::io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(n_steps as u64)
        };
        let style =
            ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}, {eta} left").expect("a constant template");
        bar.set_style(style);
        bar.set_message(what.to_owned());
        Progress { bar, since: Mutex::default(), fitting: Mutex::default() }
    }

    /// A sign of life for work of unknown length.
    ///
    /// # Panics
    /// Never: the template is a constant.
    #[must_use]
    pub fn spinner(what: &str, is_quiet: bool) -> Progress {
        let progress = Progress::new(1, what, is_quiet);
        progress
            .bar
            .set_style(ProgressStyle::with_template("{spinner} {msg} ({elapsed})").expect("a constant template"));
        progress.bar.enable_steady_tick(Duration::from_millis(120));
        progress
    }

    /// One step is done.
    pub fn step(&self) {
        self.bar.inc(1);
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Seconds spent in fits, all threads together.
    ///
    /// # Panics
    /// If a fold panicked.
    #[must_use]
    pub fn fit_seconds(&self) -> f64 {
        self.fitting.lock().expect("no fold panicked").as_secs_f64()
    }
}

impl Observer for Progress {
    fn on_event(&self, event: Event) {
        let fold = (event.repeat_idx, event.fold_idx);
        match event.stage {
            Stage::Fitting => {
                self.since.lock().expect("no fold panicked").insert(fold, Instant::now());
            }
            Stage::Scoring => {
                let start = self.since.lock().expect("no fold panicked").remove(&fold).expect("fitting came first");
                *self.fitting.lock().expect("no fold panicked") += start.elapsed();
            }
            Stage::Done => self.step(),
        }
    }
}
