//! Sends the files that wait.

use traj_core::port::DatasetStoreError;
use traj_export::Pace;

use super::outcome::Drained;
use super::reach::NoAnswer;
use super::spool::WaitingSegment;
use super::{ShipError, Shipper, is_any_of};
use crate::layout::{SegmentFolder, TextKey};

impl Shipper<'_> {
    /// Sends what waits, oldest first, as far as the dataset can be reached.
    ///
    /// # Errors
    /// If the dataset or the spool cannot be used.
    pub fn drain(&mut self, pace: &mut dyn Pace) -> Result<Drained, ShipError> {
        let mut drained = Drained::default();
        while let Some((number, waiting)) = self.spool.oldest() {
            if self.is_dry {
                break;
            }
            let mut is_outdated = match self.is_forgotten(&waiting, pace) {
                Ok(is_forgotten) => is_forgotten,
                Err(NoAnswer::Away) => return Ok(drained),
                Err(NoAnswer::Failed(error)) => return Err(error),
            };
            if !is_outdated {
                self.state_sending(&waiting)?;
            }
            for key in &waiting.texts {
                if is_outdated {
                    break;
                }
                let content = self.spool.get_text(number, key).map_err(ShipError::Spool)?;
                match content.map(|content| self.store_text(key, &content, pace)) {
                    None | Some(Ok(())) => {}
                    Some(Err(NoAnswer::Away)) => return Ok(drained),
                    Some(Err(NoAnswer::Failed(error))) => return Err(error),
                }
            }
            for key in &waiting.keys {
                if is_outdated {
                    break;
                }
                let content = self.spool.get(number, key).map_err(ShipError::Spool)?;
                let Some(content) = content else { continue };
                match self.store(key, &content, pace) {
                    Ok(is_equal) => is_outdated = !is_equal,
                    Err(NoAnswer::Away) => return Ok(drained),
                    Err(NoAnswer::Failed(error)) => return Err(error),
                }
            }
            self.spool.remove(number).map_err(ShipError::Spool)?;
            drained.sent += u64::from(!is_outdated);
            drained.outdated += u64::from(is_outdated);
        }
        Ok(drained)
    }

    /// Notes that files that waited are about to be sent. Then, their session is
    /// compared with the dataset before it is trusted again.
    fn state_sending(&mut self, waiting: &WaitingSegment) -> Result<(), ShipError> {
        let Some(key) = waiting.keys.first() else { return Ok(()) };
        let (session, folder) = (key.name.session.clone(), SegmentFolder::of(key));
        let attempt = self.processes.own();
        let known = self.log.session(&session);
        if known.attempts.contains(&attempt) && known.folders.contains(&folder) {
            return Ok(());
        }
        self.note_begun(key)
    }

    /// Whether the session of waiting files must not be in the dataset.
    fn is_forgotten(
        &mut self,
        waiting: &WaitingSegment,
        pace: &mut dyn Pace,
    ) -> Result<bool, NoAnswer> {
        let forgotten = self.forgotten(pace)?;
        Ok(waiting.keys.first().is_some_and(|key| is_any_of(forgotten, &key.name.session)))
    }

    /// Stores a long text. If its name is taken, the text is there: the name is its
    /// digest.
    pub(super) fn store_text(
        &mut self,
        key: &TextKey,
        content: &[u8],
        pace: &mut dyn Pace,
    ) -> Result<(), NoAnswer> {
        let name = key.to_dataset_key().map_err(DatasetStoreError::failed)?;
        self.reach.call(pace, |dataset| dataset.put_if_absent(&name, content))?;
        Ok(())
    }
}
