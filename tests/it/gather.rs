//! Sessions that are not plain files: databases and compressed files.
//!
//! - `claude_code`: forks and sub-agents, whose files are next to each other
//! - `fixtures`: the rows of each program's database
//! - `row_types`: every type of row has a fixture
//! - `owner`: what the program that owns a database notices: nothing
//! - `hostile`: malicious databases and compressed files

mod claude_code;
mod fixtures;
mod hostile;
mod owner;
mod row_types;
