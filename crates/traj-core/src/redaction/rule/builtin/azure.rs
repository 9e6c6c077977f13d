//! Credentials of Microsoft's cloud.
//!
//! Keys of the newer schemes carry a signature of four characters at a fixed
//! position, so they are recognised without any context.

use crate::redaction::rule::definition::{MatchCheck, Row, near};

pub(super) const ROWS: &[Row] = &[
    near(
        "azure-ad-secret",
        "Microsoft Entra client secret",
        &["7q~", "8q~", "6q~", "9q~", "5q~", "4q~", "3q~", "2q~", "1q~", "0q~"],
        r"[A-Za-z0-9_.~-]{3}\dQ~[A-Za-z0-9_.~-]{31,34}",
        &["{an:3}8Q~{url:34}"],
        &["abc8Q~short"],
    ),
    near(
        "azure-devops-pat",
        "Azure DevOps personal access token",
        &["AZDO"],
        r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}",
        &["{an:76}AZDO{up:4}"],
        &["AZDO pipelines"],
    ),
    near(
        "azure-storage-key",
        "Azure storage account key",
        &["accountkey"],
        r"(?i:accountkey)=([A-Za-z0-9+/]{80,}={0,2})",
        &["AccountName=a;AccountKey={b64:86}=="],
        &["AccountKey=none"],
    ),
    near(
        "azure-sas",
        "Azure shared access signature",
        &["sig="],
        r"(?i)[?&;]sig=([A-Za-z0-9%+/_-]{30,}(?:%3d|=)*)",
        &["https://a.blob.core.windows.net/c?sv=2024-11-04&sig={an:43}%3D"],
        &["?sig=short"],
    ),
    near(
        "azure-api-key-suffix",
        "Azure API key of the 2024 scheme",
        &["JQQJ99"],
        r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{10}[A-Za-z0-9]{4}[A-Za-z0-9]{12}",
        &["{an:52}JQQJ99{an:10}ACDB{an:12}"],
        &["JQQJ99"],
    ),
    near(
        "azure-fixed-signature-64",
        "Azure key of 64 bytes with the signature of its service",
        &["+ast", "+aba", "+amc", "acdb", "apim"],
        r"[A-Za-z0-9+/]{76}(?:\+A(?:St|Ba|MC)|ACDb|APIM)[A-Za-z0-9+/]{5}[AQgw]==",
        &[
            "{b64:76}+ASt{b64:5}Q==",
            "conn {b64:76}ACDb{b64:5}A==;",
            "Ocp-Apim: {b64:76}APIM{b64:5}g==",
            "{b64:76}+ABa{b64:5}w==",
        ],
        &["the APIM gateway", "ACDb", "{b64:60}APIM{b64:5}Q=="],
    )
    .check(MatchCheck::Entropy(4.0)),
    near(
        "azure-fixed-signature-32",
        "Azure key of 32 bytes with the signature of its service",
        &["+asb", "+aeh", "+arm", "aiot", "azca"],
        r"[A-Za-z0-9+/]{33}(?:\+A(?:Sb|Eh|Rm)|AIoT|AzCa)[A-P][A-Za-z0-9+/]{5}=",
        &[
            "SharedAccessKey={b64:33}+ASbB{b64:5}=",
            "{b64:33}+AEhP{b64:5}=",
            "{b64:33}+ARmC{b64:5}=",
            "HostName=h;{b64:33}AIoTA{b64:5}=",
            "{an:33}AzCaD{an:5}=",
        ],
        &["the AIoT device", "1+ASb", "{b64:20}AIoTA{b64:5}="],
    )
    .check(MatchCheck::Entropy(3.8)),
    near(
        "azure-fixed-signature-text",
        "Azure key of letters and digits with the signature of its service",
        &["azfu", "azse", "+acr"],
        r"(?:[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{5}={0,2}|[A-Za-z0-9]{42}AzSe[A-D][A-Za-z0-9]{5}|[A-Za-z0-9+/]{42}\+ACR[A-D][A-Za-z0-9+/]{5})",
        &["{url:44}AzFu{url:5}==", "{an:42}AzSeB{an:5}", "{b64:42}+ACRA{b64:5}"],
        &["AzFu", "AzSearch", "+ACR"],
    )
    .check(MatchCheck::Entropy(4.0)),
];
