//! One turn of a session at a time.

use std::path::Path;
use std::time::Duration;

use traj_core::port::{BindingKey, TurnLease, TurnLeases as _};
use traj_fs::FsTurnLeases;

use crate::command_error::CommandError;
use crate::compose::Host;
use crate::output::CommandOutput;

/// The pause between two tries to get a lease that another process holds.
const PAUSE: Duration = Duration::from_millis(50);

/// Takes the lease of a session, or fails at once if a turn of the session is running.
pub(in super::super) fn lease_now(
    session: &Path,
    host: &Host,
) -> Result<Box<dyn TurnLease>, CommandError> {
    let (leases, key) = leases_of(session, host)?;
    try_take(&leases, &key)?.ok_or_else(|| {
        CommandError::failure("a turn of this session is running in another process")
            .hint("wait for its end, or interrupt it")
    })
}

/// Takes the lease of a session, after the turn of another process has ended.
pub(super) async fn lease_in_time(
    session: &Path,
    host: &Host,
    output: &CommandOutput,
) -> Result<Box<dyn TurnLease>, CommandError> {
    let (leases, key) = leases_of(session, host)?;
    let mut is_waiting = false;
    loop {
        if let Some(lease) = try_take(&leases, &key)? {
            return Ok(lease);
        }
        if !is_waiting {
            output
                .note("a turn of this session is running in another process; waiting for its end");
        }
        is_waiting = true;
        tokio::time::sleep(PAUSE).await;
    }
}

fn leases_of(session: &Path, host: &Host) -> Result<(FsTurnLeases, BindingKey), CommandError> {
    let (folder, name) = host.folder_of(session)?;
    let key = super::super::key_of(&name)?;
    Ok((FsTurnLeases::new(folder), key))
}

fn try_take(
    leases: &FsTurnLeases,
    key: &BindingKey,
) -> Result<Option<Box<dyn TurnLease>>, CommandError> {
    leases.try_take(key).map_err(|error| {
        CommandError::failure("cannot find out whether a turn of this session is running")
            .because(error)
    })
}
