//! Selection among candidates by validation error.
//!
//! Candidates are tried in turn, and the first wins ties. An interrupted search selects among those it has tried.
//! Each method defines its candidates and their error.

use crate::prepared::Prepared;
use thinfit::pieces::require;
use thinfit::{Control, Error, Lambda, Model, Network, Observer, Progress, Record, Result};

/// Reports that `done` of `steps` steps are done; returns whether to stop.
pub(crate) fn stops(observe: &Observer<'_>, done: usize, steps: usize) -> bool {
    observe(&Progress::fraction(done as f64 / steps as f64)) == Control::Stop
}

/// The result with the smallest error, and whether the search was stopped; `attempt` returns (error, result).
pub(crate) fn best_of<C, T>(
    candidates: &[C],
    observe: &Observer<'_>,
    mut attempt: impl FnMut(&C) -> Result<(f64, T)>,
) -> Result<(T, bool)> {
    let mut best: Option<(f64, T)> = None;
    let mut stopped = false;
    for (i, candidate) in candidates.iter().enumerate() {
        let (error, result) = attempt(candidate)?;
        if best.as_ref().is_none_or(|(least, _)| error < *least) {
            best = Some((error, result));
        }
        stopped = stops(observe, i + 1, candidates.len());
        if stopped {
            break;
        }
    }
    let (_, result) = best.expect("the caller has checked that there is a candidate");
    Ok((result, stopped))
}

/// Trains for one λ: the network, and whether it was stopped.
pub(crate) type Train<'a> =
    dyn Fn(&Prepared<'_>, f64, &Observer<'_>) -> Result<(Network, bool)> + Sync + 'a;

/// The values of λ to try.
///
/// # Errors
/// One that is negative or not finite.
pub(crate) fn lambdas(lambda: Lambda) -> Result<Vec<f64>> {
    let lambdas = match lambda {
        Lambda::Fixed(lambda) => vec![lambda],
        Lambda::Auto => Lambda::GRID.to_vec(),
    };
    for &lambda in &lambdas {
        let right = lambda >= 0.0 && lambda.is_finite();
        require(right, "lambda", "a number of at least 0", lambda)?;
    }
    Ok(lambdas)
}

/// The model of the λ with the smallest validation error; λ are tried one after the other.
pub(crate) fn best_lambda(
    prepared: Prepared<'_>,
    lambda: Lambda,
    mut record: Record,
    observe: &Observer<'_>,
    train: &Train<'_>,
) -> Result<Model> {
    let (lambdas, mut tried) = (lambdas(lambda)?, Vec::new());
    for (i, &lambda) in lambdas.iter().enumerate() {
        let part = |at: &Progress<'_>| observe(&at.part(i, lambdas.len()));
        // Inside the pool, because entering it at every step would be slow.
        let trained = rayon::scope(|_| train(&prepared, lambda, &part));
        record.stopped |= matches!(trained, Ok((_, true)));
        let fatal = matches!(&trained, Err(error) if !matches!(error, Error::Diverged { .. }));
        tried.push((lambda, trained.map(|(network, _)| network)));
        if fatal {
            break;
        }
        if record.stopped {
            break;
        }
    }
    best_network(prepared, record, tried)
}

/// The model of the network with the smallest validation error, of those trained with some λ; one whose training
/// diverged is skipped.
pub(crate) fn best_network(
    prepared: Prepared<'_>,
    mut record: Record,
    tried: Vec<(f64, Result<Network>)>,
) -> Result<Model> {
    let (mut best, mut diverged) = (None::<(f64, Network)>, None);
    for (lambda, trained) in tried {
        let network = match trained {
            Err(error @ Error::Diverged { .. }) => {
                diverged = Some(error);
                continue;
            }
            trained => trained?,
        };
        let error = prepared.validate(&network);
        if best.as_ref().is_none_or(|(least, _)| error < *least) {
            best = Some((error, network));
            record.lambda = lambda;
        }
    }
    let network = match (best, diverged) {
        (Some((_, network)), _) => network,
        (None, Some(error)) => return Err(error),
        (None, None) => unreachable!("there is at least one lambda"),
    };
    prepared.model(network.clone(), &network, record)
}
