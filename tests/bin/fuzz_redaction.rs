//! Checks the laws of redaction on random texts for some time.
//!
//! `fuzz-redaction SECONDS [TEXTS]` stops after some time, or after this many texts.
//! Texts are made of the keywords and examples of the
//! rules, of signs that the readers look for and of random characters. A failure
//! prints how to play it again; the targets in `fuzz/` check the same laws with a
//! guided fuzzer.
#![expect(clippy::print_stdout, reason = "a tool for the terminal")]

use std::time::{Duration, Instant};

use traj_core::redaction::RuleSet;
use traj_tests::dice::Dice;
use traj_tests::redaction_laws::LAWS;

/// Signs that readers look for.
const SIGNS: &[&str] = &[
    " ",
    "=",
    ":",
    "\n",
    "\t",
    "\"",
    "'",
    "`",
    "\\",
    "\\n",
    "\\\"",
    "<",
    ">",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ";",
    "|",
    "&",
    "%3D",
    "&quot;",
    "\\u0041",
    "=\n",
    "\u{200b}",
    "\u{0}",
    "\u{1b}[1m",
    "密码：",
    "раѕѕword",
    "пароль: ",
    "，",
    "“",
    "482913 is your login code",
    "://",
    "@",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----END PRIVATE KEY-----",
    "<redacted:token:0a1b2c>",
    "<media:",
    "data:image/png;base64,",
    "data:text/plain,",
    "{\"password\":",
    "password: ",
    "token=",
    "curl -u ",
    "Bearer ",
    "INSERT INTO t (token) VALUES ('",
    "name,token\n",
    "hunter2",
    "$HOME",
    "/home/dev/",
    "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0",
    "Kx9vB2mK7pL4wR8tY1uZ3sD6fG5hJ0aC",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds: u64 = std::env::args().nth(1).ok_or("how many seconds?")?.parse()?;
    let most: u64 = std::env::args().nth(2).map_or(Ok(u64::MAX), |most| most.parse())?;
    let rules = RuleSet::builtin();
    let examples: Vec<String> = rules.iter().flat_map(|rule| rule.examples).collect();
    let mut dice = Dice::random();
    let started = Instant::now();
    let mut texts = 0_u64;
    while started.elapsed() < Duration::from_secs(seconds) && texts < most {
        let text = text(&mut dice, &examples);
        for (name, law) in LAWS {
            let outcome = std::panic::catch_unwind(|| law(&text));
            if outcome.is_err() {
                return Err(format!("the law `{name}` does not hold for {text:?}").into());
            }
        }
        texts += 1;
    }
    println!("{texts} texts, every law holds");
    Ok(())
}

fn text(dice: &mut Dice, examples: &[String]) -> String {
    let mut pick = |bound: usize| usize::try_from(dice.below(bound as u64)).unwrap_or_default();
    let mut text = String::new();
    for _ in 0..1 + pick(24) {
        match pick(8) {
            0 => text.push_str(&examples[pick(examples.len())]),
            1 => {
                for _ in 0..pick(40) {
                    text.push(char::from(b'!' + u8::try_from(pick(94)).unwrap_or_default()));
                }
            }
            2 => text.extend(u32::try_from(pick(0x1_f000)).ok().and_then(char::from_u32)),
            _ => text.push_str(SIGNS[pick(SIGNS.len())]),
        }
    }
    text
}
