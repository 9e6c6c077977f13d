//! The binding stores keep their contract.

use traj_core::memory::MemoryBindingStore;
use traj_core::port::{BindingKey, BindingStore};
use traj_tests::contract::binding_store::{BindingStoreHarness, all};

impl BindingStoreHarness for Memory {
    fn store(&self) -> Box<dyn BindingStore> {
        Box::new(self.0.clone())
    }

    fn put_bytes(&self, key: &BindingKey, bytes: &[u8]) {
        self.0.put_bytes(key, bytes);
    }

    fn put_import(&self, key: &BindingKey, bytes: &[u8]) {
        self.0.put_import(key, bytes);
    }
}

struct Memory(MemoryBindingStore);

#[test]
fn in_memory() {
    all(|| Memory(MemoryBindingStore::new()));
}
