//! The pure domain of traj: events, redaction, limits, transcripts, bindings, and the ports to storage and the app-server.
