"""Registers the files of a dataset as the Iceberg tables traj.events and traj.sessions.

    pip install 'pyiceberg[sql-sqlite,pyarrow]' && python iceberg.py

The files stay where they are, and a second run adds only what is new. The catalog is the one
that ~/.pyiceberg.yaml calls `default`. The views work on these tables: define event_rows and
session_rows on them.
"""

import pyarrow.fs
import pyarrow.parquet
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import NamespaceAlreadyExistsError, NoSuchTableError

ROOT = "{uri}/traj/v1"
FILES_AT_ONCE = 1_000


def main():
    catalog = load_catalog("default")
    try:
        catalog.create_namespace("traj")
    except NamespaceAlreadyExistsError:
        pass
    for table in ("events", "sessions"):
        register(catalog, table)


def register(catalog, name):
    files = list(parquet_files(f"{ROOT}/{name}"))
    if not files:
        raise SystemExit(f"there are no files in {ROOT}/{name}")
    try:
        table = catalog.load_table(f"traj.{name}")
    except NoSuchTableError:
        table = catalog.create_table(f"traj.{name}", schema=newest_schema(files))
    known = set()
    if table.current_snapshot() is not None:
        known = set(table.inspect.files()["file_path"].to_pylist())
    new = [file for file in files if file not in known]
    for start in range(0, len(new), FILES_AT_ONCE):
        table.add_files(new[start:start + FILES_AT_ONCE])
    print(f"traj.{name}: {len(new)} files added, {len(files)} in all")


def parquet_files(root):
    system, path = pyarrow.fs.FileSystem.from_uri(root)
    start = root[:len(root) - len(path)]
    for info in system.get_file_info(pyarrow.fs.FileSelector(path, recursive=True)):
        if info.is_file and info.path.endswith(".parquet"):
            yield start + info.path


def newest_schema(files):
    """Columns are only ever added, so the file with the most columns has all of them."""
    system, _ = pyarrow.fs.FileSystem.from_uri(files[0])
    schemas = []
    for file in files[-100:]:
        _, path = pyarrow.fs.FileSystem.from_uri(file)
        schemas.append(pyarrow.parquet.read_schema(path, filesystem=system))
    return max(schemas, key=len)


main()
