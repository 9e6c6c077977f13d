//! Personal data and network addresses; off unless the policy asks for the
//! class.

use crate::redaction::rule::definition::{MatchCheck, Row, RuleClass, near, prefix};

pub(super) const ROWS: &[Row] = &[
    near("email", "E-mail address", &["@"], r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}\.)+[A-Za-z]{2,24}\b", &["mail ada.lovelace@analytical.co.uk today"], &["user@localhost", "@scope/package"]).check(MatchCheck::None).class(RuleClass::Personal),
    near("phone", "Telephone number in international form", &["+"], r"\+\d{1,3}(?:[ .()/-]{0,2}\d){7,13}\b", &["call +49 30 901820 or +1 (415) 555-2671"], &["1+1", "+12"]).check(MatchCheck::Phone).class(RuleClass::Personal),
    near("iban", "Bank account number", &["AD", "AT", "BE", "BG", "CH", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GB", "GR", "HR", "HU", "IE", "IS", "IT", "LI", "LT", "LU", "LV", "MC", "MT", "NL", "NO", "PL", "PT", "RO", "SE", "SI", "SK", "SM", "TR", "UA", "SA", "AE", "IL"], r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b", &["pay to DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"], &["DE89 3704 0044 0532 0130 01"]).check(MatchCheck::Iban).class(RuleClass::Personal),
    prefix("us-ssn", "US social security number beside its name", &["ssn", "social security"], r"(?i)(?:ssn|social security (?:number|no\.?))[\x22']?\s*[:=#]?\s*[\x22']?(\d{3}-\d{2}-\d{4})\b", &["SSN: 536-22-8726"], &["ssn of the host"]).check(MatchCheck::None).class(RuleClass::Personal),
    near("ip-address", "Public network address", &["."], r"\b(?:\d{1,3}\.){3}\d{1,3}\b", &["from 93.184.216.34 to us"], &["127.0.0.1", "10.0.3.14", "1.2.3", "999.1.1.1"]).check(MatchCheck::PublicAddress).class(RuleClass::Address),
    near("payment-card", "Payment card number", &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"], r"\b(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|3[47]\d{2}|6(?:011|5\d{2})|35\d{2})(?:[ -]?\d{4}){2}[ -]?\d{1,7}\b", &["Card: 4111 1111 1111 1111 Exp 09/29", "378282246310005"], &["4111 1111 1111 1112", "1700000000000"]).check(MatchCheck::Luhn).class(RuleClass::Personal),
];
