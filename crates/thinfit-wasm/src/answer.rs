//! Computes the answer to a request, both as text. An answer has either the requested fields or the field `error`.

use crate::request::Request;
use crate::samples;
use crate::session::Session;
use serde_json::{Value, json};
use std::sync::Mutex;

/// Why a request cannot be met, for the user.
pub type Answer = Result<Value, String>;

static SESSION: Mutex<Option<Session>> = Mutex::new(None);

/// Answers a request.
pub fn answer(request: &str) -> String {
    let answer = serde_json::from_str(request).map_err(|error| format!("the request: {error}"));
    let answer = answer.and_then(met);
    answer
        .unwrap_or_else(|message| json!({ "error": message }))
        .to_string()
}

fn met(request: Request) -> Answer {
    let mut session = crate::locked(&SESSION);
    let begun = |session: &mut Option<Session>, of: &dyn Fn(&mut Session) -> Answer| match session {
        Some(session) => of(session),
        None => Err("no fit is running; start one with `learn`".into()),
    };
    match request {
        Request::Columns { name } => samples::columns(&name),
        Request::Learn(learn) => {
            // The memory of the last fit is free before the next one needs some.
            *session = None;
            let (fresh, opening) = Session::new(*learn)?;
            *session = Some(fresh);
            Ok(opening)
        }
        Request::Advance {
            milliseconds,
            steps,
        } => begun(&mut session, &|session| {
            session.advance(milliseconds, steps)
        }),
        Request::Model => begun(&mut session, &|session| session.model()),
        Request::Findings => begun(&mut session, &|session| session.findings()),
    }
}
