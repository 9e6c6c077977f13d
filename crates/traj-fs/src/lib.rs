//! The filesystem side of traj: capability-scoped, crash-safe storage and the recorder that writes to it.
