//! The order in which a recorder calls its store.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use mockall::{Sequence, mock};
use traj_core::capture::{Blob, BlobDigest, PendingLine};
use traj_core::event::RunContext;
use traj_core::id::SessionId;
use traj_core::memory::FixedClock;
use traj_core::port::{
    Appended, Room, SidecarError, SidecarOptions, SidecarWriter, TrajectoryStore,
};
use traj_core::settings::Settings;
use traj_core::timestamp::UnixMillis;
use traj_fs::Recorder;
use traj_tests::sidecar::{event, redactor, session};

mock! {
    #[derive(Debug)]
    Writer {}

    impl SidecarWriter for Writer {
        fn append(&mut self, lines: &[PendingLine], room: Room) -> Result<Appended, SidecarError>;
        fn store_blob(&mut self, blob: &Blob) -> Result<(), SidecarError>;
        fn flush(&mut self) -> Result<(), SidecarError>;
    }
}

/// Hands out one writer.
#[derive(Debug)]
struct OneWriter(Mutex<Option<MockWriter>>);

impl TrajectoryStore for OneWriter {
    fn open(
        &self,
        _session: &SessionId,
        _options: &SidecarOptions,
    ) -> Result<Box<dyn SidecarWriter>, SidecarError> {
        let writer = self.0.try_lock().ok().and_then(|mut writer| writer.take());
        writer.map_or_else(|| unreachable!("opened once"), |writer| Ok(Box::new(writer) as _))
    }

    fn visit(
        &self,
        _session: &SessionId,
        _visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), SidecarError> {
        Ok(())
    }

    fn read_blob(
        &self,
        _session: &SessionId,
        _digest: &BlobDigest,
    ) -> Result<Option<String>, SidecarError> {
        Ok(None)
    }
}

#[test]
fn blobs_come_before_the_line_that_names_them_and_the_sync_comes_last() {
    let mut writer = MockWriter::new();
    let mut order = Sequence::new();
    writer.expect_store_blob().times(1).in_sequence(&mut order).returning(|_| Ok(()));
    let appended = |lines: &[PendingLine], _: Room| Ok(Appended::new(1, lines.len() as u64, 0));
    writer.expect_append().times(1).in_sequence(&mut order).returning(appended);
    writer.expect_flush().times(1).in_sequence(&mut order).returning(|| Ok(()));
    // The second flush is the one with which every recorder ends.
    writer.expect_flush().times(2).in_sequence(&mut order).returning(|| Ok(()));

    let mut settings = Settings::standard();
    settings.limits.text_units = 10;
    let store = Arc::new(OneWriter(Mutex::new(Some(writer))));
    let clock = Arc::new(FixedClock::new(UnixMillis::EPOCH));
    let context = RunContext::new(session("chat"));
    let recorder = Recorder::start(store, clock, redactor(), context, &settings);
    recorder.record(event("longer than ten units"));
    let report = recorder.flush();
    assert!(report.is_complete(), "{report:?}");
    let stats = recorder.stats();
    assert_eq!((stats.written_events, stats.stored_blobs, stats.dropped.total()), (1, 1, 0));
}
