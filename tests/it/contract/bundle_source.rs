//! The contract of the bundle source, on every adapter and form of a bundle.

use std::io::{Cursor, Write as _};

use cap_std::fs::Dir;
use tempfile::TempDir;
use traj_core::memory::MemoryBundleSource;
use traj_core::port::{BundleSource, BundleSourceError};
use traj_fs::{BundleForm, FsBundleSource};
use traj_tests::contract::bundle_source::BundleSourceHarness;
use traj_tests::contract_tests;

struct Memory;

impl BundleSourceHarness for Memory {
    fn bundle(&self, files: &[(&str, &[u8])]) -> Box<dyn BundleSource> {
        let mut bundle = MemoryBundleSource::default();
        files.iter().for_each(|(path, content)| bundle.push(*path, *content));
        Box::new(bundle)
    }
}

/// A directory with a bundle called `bundle`.
struct Disk {
    temporary: TempDir,
    form: BundleForm,
}

impl Disk {
    fn new(form: BundleForm) -> Self {
        Self { temporary: tempfile::tempdir().unwrap(), form }
    }

    #[expect(clippy::disallowed_methods, reason = "a test opens its own directory")]
    fn folder(&self) -> Dir {
        Dir::open_ambient_dir(self.temporary.path(), cap_std::ambient_authority()).unwrap()
    }
}

impl BundleSourceHarness for Disk {
    fn bundle(&self, files: &[(&str, &[u8])]) -> Box<dyn BundleSource> {
        let folder = self.folder();
        match self.form {
            BundleForm::Zip => folder.write("bundle", zip(files)).unwrap(),
            BundleForm::TarZst => folder.write("bundle", tar_zst(files)).unwrap(),
            _ => {
                folder.remove_dir_all("bundle").ok();
                for (path, content) in files {
                    let path = format!("bundle/{path}");
                    folder.create_dir_all(path.rsplit_once('/').unwrap().0).unwrap();
                    folder.write(&path, content).unwrap();
                }
            }
        }
        Box::new(FsBundleSource::open(&folder, "bundle").unwrap())
    }
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, content) in files {
        writer.start_file(*path, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn tar_zst(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o600);
        builder.append_data(&mut header, path, *content).unwrap();
    }
    zstd::encode_all(builder.into_inner().unwrap().as_slice(), 3).unwrap()
}

contract_tests! {
    bundle_source:
    memory => Memory,
    directory => Disk::new(BundleForm::Folder),
    zip_file => Disk::new(BundleForm::Zip),
    tar_zst_file => Disk::new(BundleForm::TarZst),
}

#[test]
fn files_that_are_not_bundles_are_refused() {
    let disk = Disk::new(BundleForm::Folder);
    let folder = disk.folder();
    let missing = FsBundleSource::open(&folder, "bundle");
    assert!(matches!(missing, Err(BundleSourceError::NotFound { .. })));
    folder.write("bundle", "a text").unwrap();
    let text = FsBundleSource::open(&folder, "bundle");
    assert!(matches!(text, Err(BundleSourceError::NotABundle { .. })));
    folder.create_dir("real").unwrap();
    folder.symlink("real", "link").unwrap();
    let link = FsBundleSource::open(&folder, "link");
    assert!(matches!(link, Err(BundleSourceError::NotABundle { .. })));
}
