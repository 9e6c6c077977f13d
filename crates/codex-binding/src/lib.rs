//! Keeps conversations bound to the right Codex thread, over the real codex app-server.
