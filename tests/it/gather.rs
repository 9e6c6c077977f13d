//! Sessions that are not plain files: databases and compressed files.
//!
//! - `claude_code`: forks and sub-agents, which have files beside each other
//! - `fixtures`: the rows of each program's database
//! - `row_types`: every type of row has a fixture
//! - `owner`: what the program that owns a database notices: nothing
//! - `hostile`: databases and compressed files that someone made to do harm

mod claude_code;
mod fixtures;
mod hostile;
mod owner;
mod row_types;
