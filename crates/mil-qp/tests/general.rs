//! x
mod common;
use mil_qp::strategies::*;
use mil_qp::*;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

#[test]
fn explore() {
    let n: usize = std::env::var("N").ok().and_then(|s| s.parse().ok()).unwrap_or(300);
    for tol in [1e-7, 1e-9] {
        for flavour in FLAVOURS {
            let mut runner = TestRunner::deterministic();
            let mut ends = std::collections::BTreeMap::<String, usize>::new();
            let mut steps = vec![];
            for _ in 0..n {
                let case = quadratic_programs_of(flavour).new_tree(&mut runner).unwrap().current();
                let settings = GeneralSettings { tolerance: tol, ..Default::default() };
                let outcome = case.program.solve(&settings);
                let name = match &outcome {
                    Ok(Outcome::Solved(s)) => {
                        steps.push(s.n_steps);
                        "solved".to_string()
                    }
                    Ok(Outcome::OutOfBudget(s)) => {
                        eprintln!("{flavour:?} {} {:?}\n x {:.7?}\n y {:.4?}", s.n_steps, s.certificate, s.primal, s.dual);
                        "budget".to_string()
                    }
                    Ok(Outcome::Infeasible(_)) => "infeasible".to_string(),
                    Ok(Outcome::Unbounded(_)) => "unbounded".to_string(),
                    Err(e) => format!("{e}"),
                };
                *ends.entry(name).or_default() += 1;
            }
            steps.sort();
            eprintln!(
                "{tol} {flavour:?}: {ends:?} steps median {:?} 95% {:?} max {:?}",
                steps.get(steps.len() / 2),
                steps.get(steps.len() * 95 / 100),
                steps.last()
            );
        }
    }
}
