//! One turn of a conversation at a time, among all processes of a host.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use traj_core::port::{BindingKey, TurnLease, TurnLeaseError, TurnLeases};

/// The pause between two tries to take a lease that another process holds.
const PAUSE: Duration = Duration::from_millis(50);

/// Why a turn may not run now.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoLease {
    #[error("the message was withdrawn")]
    Cancelled,
    #[error("a turn of this conversation is running in another process")]
    Busy,
    #[error(transparent)]
    Unknown(TurnLeaseError),
}

/// Takes the lease of a conversation, if nobody holds it. Without leases, the turn may run.
pub(super) async fn take_lease(
    leases: Option<&Arc<dyn TurnLeases>>,
    key: &BindingKey,
) -> Result<Option<Box<dyn TurnLease>>, NoLease> {
    let Some(leases) = leases.cloned() else { return Ok(None) };
    let key = key.clone();
    // On a blocking thread, since it waits for disks.
    let taken = tokio::task::spawn_blocking(move || leases.try_take(&key)).await;
    match taken {
        Ok(Ok(Some(lease))) => Ok(Some(lease)),
        Ok(Ok(None)) => Err(NoLease::Busy),
        Ok(Err(error)) => Err(NoLease::Unknown(error)),
        Err(_) => Err(NoLease::Cancelled),
    }
}

/// Takes the lease of a conversation, after the turn of another process has ended.
pub(super) async fn wait_for_lease(
    leases: Option<&Arc<dyn TurnLeases>>,
    key: &BindingKey,
    deadline: Option<Instant>,
    cancel: &CancellationToken,
) -> Result<Option<Box<dyn TurnLease>>, NoLease> {
    loop {
        match take_lease(leases, key).await {
            Err(NoLease::Busy) if deadline.is_none_or(|deadline| Instant::now() < deadline) => {}
            settled => return settled,
        }
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(NoLease::Cancelled),
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}
