//! The schedules on a server that speaks S3, which `cargo xtask ci` starts.

use std::sync::Arc;

use traj_core::settings::host::Variables;

use super::World;
use crate::{DatasetRoot, ObjectStoreDataset, StoreEnvironment};

/// What `cargo xtask` says about the server, if it started one.
#[expect(clippy::disallowed_methods, reason = "whoever starts the server says where it is")]
fn said(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[test]
fn every_event_is_in_s3_exactly_once_whatever_happens() {
    let Some(address) = said("FLEET_S3") else {
        eprintln!("SKIPPED: `cargo xtask ci --only fleet` starts the server for this test");
        return;
    };
    let number = |name, usual: u64| said(name).map_or(usual, |text| text.parse().unwrap());
    let (first, schedules) = (number("FLEET_FIRST", 1), number("FLEET_SCHEDULES", 20));
    let keys = [("AWS_ACCESS_KEY_ID", "fleet"), ("AWS_SECRET_ACCESS_KEY", "made-up")];
    let variables: Variables = keys.into_iter().collect();
    let environment = StoreEnvironment { variables, ..StoreEnvironment::default() };
    for seed in first..first + schedules {
        let root = DatasetRoot::parse(&format!("{address}/runs/schedule-{seed}")).unwrap();
        let dataset = ObjectStoreDataset::open(&root, &environment).unwrap();
        let world = World::with(seed, Arc::new(dataset));
        world.live();
        world.check();
        // A further run has nothing to do.
        let before = world.files();
        world.ship_well();
        assert_eq!(world.files(), before, "FLEET_FIRST={seed}");
    }
}
