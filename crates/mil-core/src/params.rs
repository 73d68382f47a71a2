//! Parameters stated once: the struct, its defaults, ranges and documentation, from which everything else is derived.
//!
//! [`params!`](crate::params!) writes a plain struct with `Default` and a table of [`ParamSpec`], one row per field. Code uses the fields; a command
//! line, a documentation page or a grid search uses the table and [`Params::set`]. A fit begins with [`Params::check`] and passes the
//! [`Checked`] value on, so that nothing below it has to check again.

use std::fmt;
use std::ops::Deref;

/// States the parameters of a learner in one place.
///
/// Each field is `name: type = default, range, "documentation"`; the documentation becomes the field's own.
///
/// ```
/// use mil_core::{ParamRange, Params};
///
/// mil_core::params! {
///     /// Parameters of a toy learner.
///     pub struct ToyParams {
///         penalty: f64 = 1.0, ParamRange::Above(0.0), "Cost `C` of one unit of slack.";
///         max_rounds: usize = 50, ParamRange::AtLeast(1.0), "Rounds before we stop.";
///     }
/// }
///
/// let mut params = ToyParams { penalty: 10.0, ..Default::default() };
/// params.set("max_rounds", "7")?;
/// assert_eq!(params.check()?.max_rounds, 7);
/// assert_eq!(
///     params.set("penalti", "3").unwrap_err().to_string(),
///     "there is no parameter \"penalti\"; did you mean `penalty`? Known: penalty, max_rounds"
/// );
/// params.penalty = f64::NAN;
/// assert_eq!(params.check().unwrap_err().to_string(), "penalty is NaN, expected a finite number above 0");
/// # Ok::<(), mil_core::ParamError>(())
/// ```
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($field:ident : $kind:ty = $default:expr, $range:expr, $doc:literal;)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $(#[doc = $doc] pub $field: $kind,)+
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)+ }
            }
        }

        impl $crate::Params for $name {
            fn specs() -> Vec<$crate::ParamSpec> {
                let default = $name::default();
                vec![$($crate::ParamSpec {
                    name: stringify!($field),
                    kind: <$kind as $crate::ParamField>::KIND,
                    range: $range,
                    default: $crate::ParamField::show(&default.$field),
                    doc: $doc,
                },)+]
            }

            fn get(&self, name: &str) -> Option<String> {
                match name {
                    $(stringify!($field) => Some($crate::ParamField::show(&self.$field)),)+
                    _ => None,
                }
            }

            fn number(&self, name: &str) -> Option<f64> {
                match name {
                    $(stringify!($field) => $crate::ParamField::number(&self.$field),)+
                    _ => None,
                }
            }

            fn check_fields(&self) -> Result<(), $crate::ParamError> {
                $($crate::ParamField::check(&self.$field)?;)+
                Ok(())
            }

            fn assign(&mut self, name: &str, word: &str) -> bool {
                match name {
                    $(stringify!($field) => match <$kind as $crate::ParamField>::parse(word) {
                        Some(value) => {
                            self.$field = value;
                            true
                        }
                        None => false,
                    },)+
                    _ => false,
                }
            }
        }
    };
}

/// Gives an enum without fields its words, so that it can be a parameter.
///
/// ```
/// use mil_core::ParamField;
///
/// /// What a test should make small.
/// #[derive(Debug, PartialEq)]
/// pub enum Criterion {
///     /// Entropy.
///     Entropy,
///     /// Gini's index.
///     Gini,
/// }
///
/// mil_core::choice!(Criterion { Entropy = "entropy", Gini = "gini" });
///
/// assert_eq!(Criterion::KIND, "one of entropy, gini");
/// assert_eq!(Criterion::parse("gini"), Some(Criterion::Gini));
/// assert_eq!(Criterion::Entropy.show(), "entropy");
/// ```
#[macro_export]
macro_rules! choice {
    ($name:ident { $first:ident = $first_word:literal $(, $variant:ident = $word:literal)* $(,)? }) => {
        impl $crate::ParamField for $name {
            const KIND: &'static str = concat!("one of ", $first_word $(, ", ", $word)*);

            fn parse(word: &str) -> Option<$name> {
                match word {
                    $first_word => Some($name::$first),
                    $($word => Some($name::$variant),)*
                    _ => None,
                }
            }

            fn show(&self) -> String {
                match self {
                    $name::$first => $first_word,
                    $($name::$variant => $word,)*
                }
                .to_owned()
            }
        }
    };
}

/// The type of one parameter.
pub trait ParamField: Sized {
    /// What the value is called in a message: `number`, `integer`, `one of max, mean`.
    const KIND: &'static str;

    /// Reads the value from a word.
    fn parse(word: &str) -> Option<Self>;

    /// Writes the value so that [`parse`](Self::parse) gives it back.
    fn show(&self) -> String;

    /// Checks what no range of numbers can, such as the parameter of a bag rule.
    ///
    /// # Errors
    /// What is out of range.
    fn check(&self) -> Result<(), ParamError> {
        Ok(())
    }

    /// The value as a number, where its range is one of numbers.
    fn number(&self) -> Option<f64> {
        None
    }
}

impl ParamField for f64 {
    const KIND: &'static str = "number";

    fn parse(word: &str) -> Option<f64> {
        word.parse().ok()
    }

    fn show(&self) -> String {
        format!("{self:?}")
    }

    fn number(&self) -> Option<f64> {
        Some(*self)
    }
}

impl ParamField for usize {
    const KIND: &'static str = "integer";

    fn parse(word: &str) -> Option<usize> {
        word.parse().ok()
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn number(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

impl ParamField for u64 {
    const KIND: &'static str = "integer";

    fn parse(word: &str) -> Option<u64> {
        word.parse().ok()
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn number(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

impl ParamField for bool {
    const KIND: &'static str = "true or false";

    fn parse(word: &str) -> Option<bool> {
        word.parse().ok()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// What a value must satisfy. Infinite and NaN values satisfy none of the bounded ranges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParamRange {
    /// Every value of the type will do.
    Any,
    /// Finite and above the bound.
    Above(f64),
    /// Finite and not below the bound.
    AtLeast(f64),
    /// Between the bounds, both included.
    Within(f64, f64),
    /// Above the first bound, up to and including the second.
    UpTo(f64, f64),
}

impl ParamRange {
    /// Whether a number lies in the range.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        match *self {
            ParamRange::Any => true,
            ParamRange::Above(bound) => value.is_finite() && bound < value,
            ParamRange::AtLeast(bound) => value.is_finite() && bound <= value,
            ParamRange::Within(low, high) => value.is_finite() && low <= value && value <= high,
            ParamRange::UpTo(low, high) => value.is_finite() && low < value && value <= high,
        }
    }
}

impl ParamRange {
    /// Refuses a number outside the range.
    ///
    /// # Errors
    /// [`ParamError::OutOfRange`], under the name given.
    pub fn require(&self, name: &'static str, value: f64) -> Result<(), ParamError> {
        if self.contains(value) {
            return Ok(());
        }
        Err(ParamError::OutOfRange { name, value: value.to_string(), expected: self.to_string() })
    }
}

impl fmt::Display for ParamRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamRange::Any => write!(f, "any value"),
            ParamRange::Above(bound) => write!(f, "a finite number above {bound}"),
            ParamRange::AtLeast(bound) => write!(f, "a finite number, at least {bound}"),
            ParamRange::Within(low, high) => write!(f, "a number from {low} to {high}"),
            ParamRange::UpTo(low, high) => write!(f, "a number above {low}, at most {high}"),
        }
    }
}

/// One row of a learner's table of parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct ParamSpec {
    /// Name of the field.
    pub name: &'static str,
    /// What the type is called in a message.
    pub kind: &'static str,
    /// What the value must satisfy.
    pub range: ParamRange,
    /// The default, as [`ParamField::show`] writes it.
    pub default: String,
    /// What the parameter means.
    pub doc: &'static str,
}

/// Why a parameter is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParamError {
    /// No parameter has this name.
    #[error("there is no parameter {name:?}; {}Known: {}", hint(name, known), known.join(", "))]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// The word does not read as a value of the parameter's type.
    #[error("{name} is {word:?}, expected {kind}")]
    Unreadable {
        /// Name of the parameter.
        name: &'static str,
        /// The word given.
        word: String,
        /// What was expected.
        kind: &'static str,
    },
    /// The value is out of its range.
    #[error("{name} is {value}, expected {expected}")]
    OutOfRange {
        /// Name of the parameter.
        name: &'static str,
        /// The value given.
        value: String,
        /// The range in words.
        expected: String,
    },
}

/// Parameters that know their own table. Written by [`params!`](crate::params!).
pub trait Params: Sized + Clone + Default {
    /// The table, one row per parameter, in the order of the fields.
    fn specs() -> Vec<ParamSpec>;

    /// A value by name, as a word.
    fn get(&self, name: &str) -> Option<String>;

    /// A value by name, as a number.
    fn number(&self, name: &str) -> Option<f64>;

    /// Checks each value by [`ParamField::check`].
    ///
    /// # Errors
    /// The first that is out of range.
    fn check_fields(&self) -> Result<(), ParamError>;

    /// Sets a value by name from a word, without looking at its range. False if there is no such name or the word does not read.
    fn assign(&mut self, name: &str, word: &str) -> bool;

    /// Sets a value by name from a word, and checks it.
    ///
    /// # Errors
    /// If the name is unknown, the word does not read as the type, or the value is out of range.
    fn set(&mut self, name: &str, word: &str) -> Result<(), ParamError> {
        let specs = Self::specs();
        let Some(spec) = specs.iter().find(|spec| spec.name == name) else {
            return Err(ParamError::Unknown {
                name: name.to_owned(),
                known: specs.iter().map(|spec| spec.name).collect(),
            });
        };
        let mut changed = self.clone();
        if !changed.assign(name, word) {
            return Err(ParamError::Unreadable { name: spec.name, word: word.to_owned(), kind: spec.kind });
        }
        check_one(&changed, spec)?;
        changed.check_fields()?;
        *self = changed;
        Ok(())
    }

    /// Checks every value against its range.
    ///
    /// # Errors
    /// The first parameter that is out of range.
    fn check(&self) -> Result<Checked<&Self>, ParamError> {
        for spec in Self::specs() {
            check_one(self, &spec)?;
        }
        self.check_fields()?;
        Ok(Checked(self))
    }

    /// All values as pairs of words, as they are kept in a model file.
    fn to_pairs(&self) -> Vec<(String, String)> {
        Self::specs()
            .iter()
            .map(|spec| (spec.name.to_owned(), self.get(spec.name).expect("a row of the table names a field")))
            .collect()
    }
}

fn check_one<P: Params>(params: &P, spec: &ParamSpec) -> Result<(), ParamError> {
    params.number(spec.name).map_or(Ok(()), |value| spec.range.require(spec.name, value))
}

/// Parameters that have passed [`Params::check`]; nothing else makes one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Checked<P>(P);

impl<P: Deref> Deref for Checked<P> {
    type Target = P::Target;

    fn deref(&self) -> &P::Target {
        &self.0
    }
}

/// The known name nearest to a mistyped one, the first on ties; `None` where none is near. Case and punctuation do not count.
///
/// ```
/// use mil_core::nearest_name;
/// assert_eq!(nearest_name("penalti", &["penalty", "max_rounds"]), Some("penalty"));
/// assert_eq!(nearest_name("MaxRounds", &["penalty", "max_rounds"]), Some("max_rounds"));
/// assert_eq!(nearest_name("seed", &["penalty", "max_rounds"]), None);
/// ```
#[must_use]
pub fn nearest_name<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let bare = |word: &str| word.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect::<Vec<_>>();
    // A third of the letters may be wrong; beyond that a hint misleads.
    let limit = bare(name).len().max(3) / 3;
    known
        .iter()
        .map(|candidate| (edit_distance(&bare(name), &bare(candidate)), *candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn hint(name: &str, known: &[&str]) -> String {
    nearest_name(name, known).map_or(String::new(), |candidate| format!("did you mean `{candidate}`? "))
}

/// Insertions, deletions and replacements that lead from one word to the other.
fn edit_distance(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    // The macro writes public structs, as learners need them.
    #[expect(unreachable_pub)]
    mod toy {
        use super::ParamRange;

        crate::params! {
            /// Parameters of a toy learner.
            pub struct ToyParams {
                share: f64 = 0.5, ParamRange::UpTo(0.0, 1.0), "A share.";
                n_trees: usize = 10, ParamRange::AtLeast(1.0), "Trees.";
                seed: u64 = 0, ParamRange::Any, "Seed.";
                exact: bool = true, ParamRange::Any, "Whether exact.";
            }
        }
    }
    use toy::ToyParams;

    #[test]
    fn the_table_lists_every_field_with_its_default() {
        let defaults: Vec<_> = ToyParams::specs().into_iter().map(|spec| (spec.name, spec.default)).collect();
        let expected = [("share", "0.5"), ("n_trees", "10"), ("seed", "0"), ("exact", "true")];
        assert_eq!(defaults, expected.map(|(name, word)| (name, word.to_owned())));
    }

    #[test]
    fn pairs_restore_the_parameters() {
        let original = ToyParams { share: 0.1 + 0.2, n_trees: 3, seed: u64::MAX, exact: false };
        let mut copy = ToyParams::default();
        for (name, word) in original.to_pairs() {
            copy.set(&name, &word).unwrap();
        }
        assert_eq!(copy, original);
    }

    #[test]
    fn a_refused_value_leaves_the_parameters_as_they_were() {
        let mut params = ToyParams::default();
        for (name, word) in [("share", "0"), ("share", "NaN"), ("n_trees", "0"), ("n_trees", "-1"), ("exact", "yes")] {
            assert!(params.set(name, word).is_err(), "{name} = {word}");
        }
        assert_eq!(params, ToyParams::default());
        assert_eq!(params.set("n_trees", "2.5").unwrap_err().to_string(), "n_trees is \"2.5\", expected integer");
    }

    #[test]
    fn bounded_ranges_refuse_what_is_not_finite() {
        let ranges = [
            ParamRange::Above(0.0),
            ParamRange::AtLeast(0.0),
            ParamRange::Within(0.0, 1.0),
            ParamRange::UpTo(0.0, 1.0),
        ];
        for range in ranges {
            assert!(!range.contains(f64::NAN) && !range.contains(f64::INFINITY), "{range}");
        }
    }

    #[test]
    fn edit_distance_counts_single_changes() {
        for (from, to, distance) in
            [("", "abc", 3), ("kitten", "sitting", 3), ("penalty", "penalty", 0), ("ab", "ba", 2)]
        {
            let letters = |word: &str| word.chars().collect::<Vec<_>>();
            assert_eq!(edit_distance(&letters(from), &letters(to)), distance);
        }
    }
}
