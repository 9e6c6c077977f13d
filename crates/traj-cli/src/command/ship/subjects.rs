//! What to ship: the sessions and bundles that the user named, or all sessions.

use std::path::PathBuf;

use super::Job;
use crate::command::sessions::files::{SessionFiles, every_session};
use crate::command_error::{CommandError, ErrorKind};
use crate::resolve::{Subject, SubjectArguments, Unnamed, subject};

/// What to ship.
#[derive(Debug, Default)]
pub(super) struct Subjects {
    pub(super) sessions: Vec<SessionFiles>,
    pub(super) bundles: Vec<PathBuf>,
    /// Files that cannot be read, and why.
    pub(super) problems: Vec<(String, String)>,
}

/// Finds what to ship.
pub(super) fn find(job: &Job<'_>) -> Result<Subjects, CommandError> {
    let mut subjects = Subjects::default();
    if job.arguments.all {
        let found = every_session(job.host)?;
        subjects.sessions = found.sessions;
        subjects.problems = found.problems;
        // Those that wait longest go first.
        subjects.sessions.sort_by_key(SessionFiles::modified);
        return Ok(subjects);
    }
    for word in &job.arguments.subjects {
        let named = SubjectArguments::named(word);
        let outcome = subject(&named, Unnamed::Refused, job.host, job.output)
            .and_then(|subject| subjects.add(subject, job));
        match outcome {
            Err(error) if error.kind == ErrorKind::Failure => {
                // The others can be shipped.
                let problem = std::iter::once(error.message.clone()).chain(error.causes());
                let problem = problem.collect::<Vec<_>>().join(": ");
                subjects.problems.push((word.display().to_string(), problem));
            }
            outcome => outcome?,
        }
    }
    Ok(subjects)
}

impl Subjects {
    fn add(&mut self, subject: Subject, job: &Job<'_>) -> Result<(), CommandError> {
        match subject {
            Subject::Bundle { path } => self.bundles.push(path),
            Subject::Session(chosen) => self.sessions.push(SessionFiles::named(&chosen, job.host)?),
            Subject::Stream => {
                return Err(CommandError::usage("a session is not read from standard input")
                    .hint("name the session, or a bundle"));
            }
        }
        Ok(())
    }
}
