//! The built-in rules, one table a family of issuers.
//!
//! Patterns describe how a credential is issued: the prefix, the alphabet, the
//! length. Examples are templates (see `template`), so that no table holds
//! anything a secret scanner would stop at.

mod ai;
mod chat;
mod ci;
mod cloud;
mod context;
mod crypto;
mod database;
mod hosting;
mod monitoring;
mod payment;
mod personal;
mod product;
mod registry;
mod vault;
mod vcs;
mod web;

use super::definition::Row;

/// Every built-in table; frame rules come first, in the order of `Frame`.
pub(super) const TABLES: &[&[Row]] = &[
    context::ROWS,
    ai::ROWS,
    vcs::ROWS,
    registry::ROWS,
    cloud::ROWS,
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
    personal::ROWS,
];
