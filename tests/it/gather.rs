//! Sessions that are not plain files: databases and compressed files.
//!
//! - `fixtures`: the rows of each program's database
//! - `owner`: what the program that owns a database notices: nothing
//! - `hostile`: databases and compressed files that someone made to do harm

mod fixtures;
mod hostile;
mod owner;
