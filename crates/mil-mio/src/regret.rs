//! Regret: what a stream lost beyond a machine that knew all bags beforehand.
//!
//! After $T$ rounds, with $w$ any weights of the candidates of all bags,
//!
//! $$ R_T(w) = \sum_{t\le T}g_t(w_t) - \sum_{t\le T}g_t(w). $$
//!
//! # The bound
//!
//! With the elastic net $f_t$ of round $t$, never below that of the round before, and $\tilde\lambda_t\in\partial g_t(w_t)$ ($\lVert\tilde\lambda_t\rVert^2=C_t^2\lVert z_t\rVert^2$ where there is a loss, else 0),
//!
//! $$ R_T(w) \le f_T(w) + \sum_{t\le T}\frac{\lVert\tilde\lambda_t\rVert^2}{2\beta_t}. $$
//!
//! For a fixed net this is Theorem 1, $f(w)+LT/(2\beta)$; with $\alpha=\alpha_0\sqrt T$, $\beta=\beta_0\sqrt T$ it is the paper's $(f_0(w)+L/(2\beta_0))\sqrt T$. For a net that grows it is shown in the same way: a step raises
//! $D_t=\sum_{s}\tau_s-f_t^*(v)$ by at least $g_t(w_t)-\lVert\tilde\lambda_t\rVert^2/(2\beta_t)$, the growth of $f_t$ lowers $f_t^*$ and raises it further, and in the end $D_T\le f_T(w)+\sum_tg_t(w)$ by weak duality. With
//! $\beta_t=\beta_0\sqrt t$ and $\sum_{t\le T}1/\sqrt t\le2\sqrt T$ it is $(f_0(w)+\max_t\lVert\tilde\lambda_t\rVert^2/\beta_0)\sqrt T$, twice the second term for not knowing $T$.
//!
//! In all of this $z_t$ has zeros for candidates that arrive later (§3.3), for $w$ as for $w_t$. What the comparator would lose if it knew all candidates from the first round on, as a batch machine does, is in the books as well
//! ([`Account::hindsight`]); against that nothing is proved.
//!
//! $L$, the mean of $\lVert\tilde\lambda_t\rVert^2$, grows with the number of candidates, and so does the bound; only a [budget](crate::Budget) keeps it of the order of $\sqrt T$.
//!
//! ```
//! use mil_core::{BagSet, Label};
//! use mil_mio::{Mio, Miles, Width};
//! let mut builder = BagSet::builder();
//! for i in 0..40 {
//!     let x = 0.1 * f64::from(i);
//!     builder.bag(format!("p{i}"), Label::Positive, [[x, 0.0], [9.0, 3.0 + x]])?;
//!     builder.bag(format!("n{i}"), Label::Negative, [[x, 0.1], [1.0, x]])?;
//! }
//! let bags = builder.build()?;
//! let comparator = Miles { width: Width::Squared(4.0), ..Miles::default() }.select(&bags)?;
//! let account = Mio::default().account(&bags, &comparator)?;
//! assert!(account.regret(80) <= account.bound[79]);
//! assert!(account.regret_in_hindsight(80) / 80.0 < account.regret_in_hindsight(8) / 8.0); // it learns
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::{Bag, BagSet, FitError, Label, Params, ScoreError};
use mil_kernels::Candidates;

use crate::model::refused;
use crate::{Mio, MioError, Selection, Width};

/// The books of a stream, one entry for each round; losses are sums over all rounds up to it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Account {
    /// $\sum g_t(w_t)$, what the stream lost.
    pub loss: Vec<f64>,
    /// $\sum g_t(w)$ of the comparator, which like the stream does not know candidates before they arrive.
    pub comparator: Vec<f64>,
    /// The same of the comparator that knows them all.
    pub hindsight: Vec<f64>,
    /// The bound on the difference of the first two. Under a budget it is proved for comparators whose candidates have not gone.
    pub bound: Vec<f64>,
    /// Rounds whose bag was on the wrong side.
    pub n_mistakes: Vec<usize>,
    /// Candidates there were in the round, those of its own bag included.
    pub n_candidates: Vec<usize>,
    /// Candidates whose weight was not 0.
    pub n_selected: Vec<usize>,
}

impl Account {
    /// Rounds played.
    #[must_use]
    pub fn n_rounds(&self) -> usize {
        self.loss.len()
    }

    /// $R_T(w)$ after so many rounds, at least 1.
    ///
    /// # Panics
    /// If so many rounds have not been played.
    #[must_use]
    pub fn regret(&self, n_rounds: usize) -> f64 {
        self.loss[n_rounds - 1] - self.comparator[n_rounds - 1]
    }

    /// The regret against the comparator that knows all candidates, of which nothing is proved.
    ///
    /// # Panics
    /// As for [`regret`](Self::regret).
    #[must_use]
    pub fn regret_in_hindsight(&self, n_rounds: usize) -> f64 {
        self.loss[n_rounds - 1] - self.hindsight[n_rounds - 1]
    }
}

impl Mio {
    /// Plays all bags once, as a stream, and keeps books against a comparator: weights of instances of these bags, such as those that MILES selects. The width is the comparator's, so that both see the
    /// same features; whether the number of rounds counts as known is the `schedule`'s to say.
    ///
    /// Cost: that of the stream, and one similarity of each bag to the comparator's instances.
    ///
    /// # Errors
    /// If a parameter is out of range, numbers are too large, or the comparator has a bias and the game has none.
    ///
    /// # Panics
    /// If the comparator names an instance that is not in these bags, or has not one weight for each.
    pub fn account(&self, bags: &BagSet<Label>, comparator: &Selection) -> Result<Account, FitError> {
        let game = Mio { width: Width::Squared(comparator.sigma2), n_passes: 1, ..self.clone() };
        game.check()?;
        let rival = Rival::new(&game, bags, comparator).map_err(|error| error.of("MIO"))?;
        let order = game.presentation(&(0..bags.n_bags()).collect::<Vec<_>>());
        let mut stream = game.stream(bags.n_features(), game.horizon(bags.n_bags()))?;
        let mut account = Account::default();
        let (mut loss, mut known, mut all, mut gradients, mut n_mistakes) = (0.0, 0.0, 0.0, 0.0, 0);
        let mut has_arrived = vec![false; bags.n_bags()];
        for bag_idx in order {
            has_arrived[bag_idx] = true;
            let (bag, label) = (bags.bag(bag_idx), bags.labels()[bag_idx]);
            let (alpha, beta) = stream.regularisers();
            let (n_selected, n_candidates) = (stream.n_selected(), stream.n_candidates() + bag.n_instances());
            let round = stream.round(bag, label)?;
            let rival_losses = rival.losses(bags, bag_idx, &has_arrived)?;
            loss += round.loss;
            known += rival_losses[0];
            all += rival_losses[1];
            gradients += round.subgradient / (2.0 * beta);
            n_mistakes += usize::from(round.is_mistake(label));
            account.loss.push(loss);
            account.comparator.push(known);
            account.hindsight.push(all);
            account.bound.push(rival.regulariser(alpha, beta) + gradients);
            account.n_mistakes.push(n_mistakes);
            account.n_candidates.push(n_candidates);
            account.n_selected.push(n_selected);
        }
        Ok(account)
    }
}

/// A comparator, ready to meet bags.
struct Rival<'a> {
    selection: &'a Selection,
    concepts: Candidates,
    /// The bag of each of its instances.
    bag_of: Vec<usize>,
    game: &'a Mio,
}

impl<'a> Rival<'a> {
    fn new(game: &'a Mio, bags: &BagSet<Label>, selection: &'a Selection) -> Result<Rival<'a>, MioError> {
        if selection.bias != 0.0 && game.bias == 0.0 {
            return Err(MioError::ComparatorBias(selection.bias));
        }
        assert_eq!(selection.columns.len(), selection.weights.len(), "a weight for each instance");
        let mut concepts = Candidates::new(bags.n_features(), selection.sigma2)?;
        let values: Vec<f64> = bags.instances().select_columns(&selection.columns).data.into();
        if !values.is_empty() {
            concepts.extend(&Bag::new("comparator", bags.n_features(), &values).expect("instances of bags"))?;
        }
        let starts: Vec<usize> = (0..bags.n_bags()).map(|bag_idx| bags.columns_of(bag_idx).start).collect();
        let bag_of = selection.columns.iter().map(|column| starts.partition_point(|start| start <= column) - 1);
        Ok(Rival { selection, concepts, bag_of: bag_of.collect(), game })
    }

    /// $g_t(w)$ with the candidates that have arrived, and with all.
    fn losses(&self, bags: &BagSet<Label>, bag_idx: usize, has_arrived: &[bool]) -> Result<[f64; 2], ScoreError> {
        let (bag, label) = (bags.bag(bag_idx), bags.labels()[bag_idx]);
        let similarities = self.concepts.similarity().to_bag(&bag).map_err(|error| refused(bag, &error))?;
        let mut scores = [self.selection.bias; 2];
        for ((similarity, weight), &bag_of) in similarities.iter().zip(&self.selection.weights).zip(&self.bag_of) {
            scores[0] += if has_arrived[bag_of] { weight * similarity } else { 0.0 };
            scores[1] += weight * similarity;
        }
        let penalty = self.game.penalty(label);
        Ok(scores.map(|score| penalty * (1.0 - label.sign() * score).max(0.0)))
    }

    /// $\alpha\lVert w\rVert_1 + \tfrac\beta2\lVert w\rVert^2$, the bias with a weight of $b/B$ that the 1-norm spares.
    fn regulariser(&self, alpha: f64, beta: f64) -> f64 {
        let weights = &self.selection.weights;
        let of_bias = if self.selection.bias == 0.0 { 0.0 } else { self.selection.bias / self.game.bias };
        let squares: f64 = weights.iter().map(|weight| weight * weight).sum::<f64>() + of_bias * of_bias;
        alpha * weights.iter().map(|weight| weight.abs()).sum::<f64>() + 0.5 * beta * squares
    }
}
