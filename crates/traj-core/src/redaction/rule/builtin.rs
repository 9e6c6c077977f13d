//! The built-in rules, one table per family of issuers.
//!
//! Patterns describe the format of a credential: its prefix, alphabet and
//! length. Examples are templates (see `template`), so that no table contains
//! anything that a secret scanner would report.

mod ai;
mod azure;
mod chat;
mod ci;
mod cloud;
mod context;
mod crypto;
mod database;
mod files;
mod hosting;
mod monitoring;
mod payment;
mod personal;
mod product;
mod registry;
mod vault;
mod vcs;
mod vendor;
mod web;

use super::definition::Row;

/// Every built-in table; frame rules come first, in the order of `Frame`.
pub(super) const TABLES: &[&[Row]] = &[
    context::ROWS,
    ai::ROWS,
    vcs::ROWS,
    registry::ROWS,
    cloud::ROWS,
    azure::ROWS,
    hosting::ROWS,
    database::ROWS,
    vault::ROWS,
    ci::ROWS,
    monitoring::ROWS,
    chat::ROWS,
    payment::ROWS,
    product::ROWS,
    crypto::ROWS,
    web::ROWS,
    vendor::ROWS,
    files::ROWS,
    personal::ROWS,
];
