//! Texts like those that agents read and write, of many kinds. No long line
//! occurs twice, so that nothing profits from having seen a line before.

mod words;

use std::collections::HashSet;
use std::fmt::Write as _;

use words::WORDS;

/// A line of at least this many bytes must be unique.
const LONG_LINE: usize = 64;

/// Bytes of one text; an event has one.
const TEXT: usize = 3_000;

/// A kind of text: its name, a function that appends a line, and how fast it
/// should be redacted, as a share of parsing and printing it.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) target: f64,
    line: fn(&mut Random, &mut String),
}

/// Every kind.
pub(crate) const KINDS: &[Kind] = &[
    Kind { name: "English logs", target: 0.5, line: log },
    Kind { name: "code", target: 0.5, line: code },
    Kind { name: "Chinese, Japanese and emoji", target: 0.5, line: ideographs },
    Kind { name: "Cyrillic and Arabic", target: 0.5, line: letters },
    Kind { name: "minified JavaScript and base64", target: 0.25, line: minified },
    Kind { name: "lists of digests", target: 0.1, line: digest },
    Kind { name: "secrets on every line", target: 0.1, line: secret },
];

/// Numbers that look random and are the same every time.
pub(crate) struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn letters(&mut self, out: &mut String, alphabet: &[u8], length: usize) {
        out.extend((0..length).map(|_| char::from(self.pick(alphabet))));
    }
}

/// Texts of about `bytes` in all.
///
/// # Errors
/// When a long line occurs twice.
pub(crate) fn texts(kind: &Kind, bytes: usize) -> Result<Vec<String>, String> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut seen = HashSet::new();
    let mut texts = Vec::new();
    let mut total = 0;
    while total < bytes {
        let mut text = String::with_capacity(TEXT + 512);
        while text.len() < TEXT {
            (kind.line)(&mut random, &mut text);
            text.push('\n');
        }
        let long = text.lines().filter(|line| line.len() >= LONG_LINE);
        for line in long {
            if !seen.insert(line.to_owned()) {
                return Err(format!("{}: a long line occurs twice", kind.name));
            }
        }
        total += text.len();
        texts.push(text);
    }
    Ok(texts)
}

const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const HEX: &[u8] = b"0123456789abcdef";
const ALNUM: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn words(random: &mut Random, out: &mut String, count: usize) {
    for place in 0..count {
        if place > 0 {
            out.push(' ');
        }
        out.push_str(random.pick(WORDS));
    }
}

fn identifier(random: &mut Random, out: &mut String) {
    let parts = 1 + random.below(3);
    for part in 0..parts {
        if part > 0 {
            out.push('_');
        }
        let length = 3 + random.below(6);
        random.letters(out, LOWER, length);
    }
}

/// Writing to a string does not fail.
macro_rules! put {
    ($out:expr, $($argument:tt)*) => {
        write!($out, $($argument)*).ok()
    };
}

fn log(random: &mut Random, out: &mut String) {
    let (minute, second, milli) = (random.below(60), random.below(60), random.below(1000));
    let level = random.pick(&["INFO ", "INFO ", "DEBUG", "WARN ", "ERROR"]);
    put!(
        out,
        "2026-11-{:02}T{:02}:{minute:02}:{second:02}.{milli:03}Z {level} ",
        1 + random.below(28),
        random.below(24)
    );
    match random.below(4) {
        0 => {
            put!(
                out,
                "[worker-{}] GET /api/v1/orders/{}?page={} {} in {}ms: ",
                random.below(32),
                random.below(1_000_000),
                random.below(50),
                random.pick(&[200, 200, 204, 404, 500]),
                random.below(900)
            );
        }
        1 => {
            put!(out, "src/server/handler_{}.rs:{}: ", random.below(400), random.below(2000));
        }
        2 => {
            put!(
                out,
                "10.0.{}.{}:{} - ",
                random.below(256),
                random.below(256),
                1024 + random.below(60_000)
            );
        }
        _ => {}
    }
    let count = 6 + random.below(14);
    words(random, out, count);
}

fn code(random: &mut Random, out: &mut String) {
    for _ in 0..random.below(5) {
        out.push_str("    ");
    }
    let mut name = || {
        let mut name = String::new();
        identifier(random, &mut name);
        name
    };
    let (one, two, three, four) = (name(), name(), name(), name());
    let number = random.below(100_000);
    match random.below(10) {
        0 => put!(out, "let {one} = {two}.{three}(&{four}, {number})?;"),
        1 => put!(out, "if ({one} !== {two} && {three}.length > {number}) {{ return {four}; }}"),
        2 => put!(out, "def {one}(self, {two}: int = {number}) -> dict[str, {three}]:"),
        3 => put!(out, "const {{ {one}, {two} }} = await import(\"./{three}/{four}.js\");"),
        4 => put!(out, "// {one} is used by {two}, see the comment on {three} ({number})"),
        5 => put!(out, "<div className=\"{one} {two}\" onClick={{() => {three}({number})}}>"),
        6 => put!(out, "pub fn {one}(&self, {two}: &str) -> Result<{three}, Error> {{"),
        7 => put!(out, "    at {one}.{two} (/srv/app/dist/{three}/{four}.js:{number}:17)"),
        8 => put!(out, "expect(\"{one} {two}\").toEqual([{number}, '{three}']);"),
        _ => put!(out, "{one}[{number}] += {two} * ({three} - {four}.offset);"),
    };
}

/// A few words in a script that has one character per syllable or word.
fn ideographs(random: &mut Random, out: &mut String) {
    for _ in 0..4 + random.below(8) {
        for _ in 0..2 + random.below(8) {
            let code = match random.below(8) {
                0 => 0x3041 + random.below(80),
                1 => 0x30a1 + random.below(80),
                _ => 0x4e00 + random.below(5_000),
            };
            out.extend(u32::try_from(code).ok().and_then(char::from_u32));
        }
        match random.below(8) {
            0 => out.push('🎉'),
            1 => {
                out.extend(u32::try_from(0x1f600 + random.below(60)).ok().and_then(char::from_u32));
            }
            2 => {
                put!(out, " API v{}.{} ", random.below(9), random.below(30));
            }
            _ => out.push(random.pick(&['、', '，', '。', '：', '？'])),
        }
    }
}

fn letters(random: &mut Random, out: &mut String) {
    let (first, count, comma) =
        if random.below(2) == 0 { (0x430, 32, ',') } else { (0x627, 36, '،') };
    for place in 0..8 + random.below(12) {
        if place > 0 {
            out.push(' ');
        }
        for _ in 0..2 + random.below(9) {
            out.extend(u32::try_from(first + random.below(count)).ok().and_then(char::from_u32));
        }
        if random.below(7) == 0 {
            out.push(comma);
        }
    }
}

fn minified(random: &mut Random, out: &mut String) {
    const NAMES: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
    for _ in 0..30 + random.below(60) {
        let (one, two, three) = (
            char::from(random.pick(NAMES)),
            char::from(random.pick(NAMES)),
            char::from(random.pick(NAMES)),
        );
        let number = random.below(100_000);
        let mut name = String::new();
        identifier(random, &mut name);
        match random.below(8) {
            0 => put!(out, "function({one},{two}){{return {one}.{name}({two},{number})}},"),
            1 => put!(out, "var {one}={two}.{name}||{{}},{three}=void 0;"),
            2 => put!(out, "{one}&&({two}={three}[{number}].{name});"),
            3 => put!(
                out,
                "{number}:({one},{two},{three})=>{{\"use strict\";{three}.d({two},{{{name}:()=>{one}}})}},"
            ),
            4 => put!(out, "if(null=={one})throw Error(\"{name} {number}\");"),
            5 => put!(out, "e.exports={three}({number}).{name};"),
            6 => put!(out, "{one}.key={two}?\"{name}\":{three}+\"-{number}\","),
            _ => put!(
                out,
                "!function(){{for(var {one}=0;{one}<{two}.length;{one}++){name}({one})}}(),"
            ),
        };
    }
    if random.below(2) == 0 {
        out.push_str("\n//# data=");
        let length = 200 + random.below(800);
        random.letters(out, BASE64, length);
    }
}

fn digest(random: &mut Random, out: &mut String) {
    let mut name = String::new();
    identifier(random, &mut name);
    match random.below(5) {
        0 => {
            random.letters(out, HEX, 64);
            put!(out, "  ./usr/share/{name}/{}.so", random.below(10_000));
        }
        1 => {
            random.letters(out, HEX, 40);
            put!(out, " refs/heads/{name}-{}", random.below(10_000));
        }
        2 => {
            put!(out, "checksum = \"");
            random.letters(out, HEX, 64);
            out.push('"');
        }
        3 => {
            put!(out, "      \"integrity\": \"sha512-");
            random.letters(out, BASE64, 86);
            out.push_str("==\",");
        }
        _ => {
            put!(out, "{name}-{}.{}.0.tar.gz: sha256:", random.below(30), random.below(30));
            random.letters(out, HEX, 64);
        }
    }
}

/// Prefixes are assembled here so that no scanner takes this file for a leak.
fn secret(random: &mut Random, out: &mut String) {
    let mut name = String::new();
    identifier(random, &mut name);
    match random.below(8) {
        0 => {
            put!(out, "export GITHUB_TOKEN=gh{}_", 'p');
            random.letters(out, ALNUM, 36);
        }
        1 => {
            put!(out, "{}_PASSWORD=", name.to_uppercase());
            random.letters(out, ALNUM, 14);
        }
        2 => {
            out.push_str("Authorization: Bearer ");
            random.letters(out, ALNUM, 40);
        }
        3 => {
            put!(out, "postgres://{name}:");
            random.letters(out, ALNUM, 18);
            out.push_str("@db.internal:5432/app");
        }
        4 => {
            put!(out, "OPENAI_API_KEY=sk{}proj-", '-');
            random.letters(out, ALNUM, 48);
        }
        5 => {
            put!(out, "{{\"apiKey\": \"");
            random.letters(out, ALNUM, 32);
            put!(out, "\", \"name\": \"{name}\"}}");
        }
        6 => {
            put!(out, "aws_secret_access_key = ");
            random.letters(out, BASE64, 40);
        }
        _ => {
            put!(out, "curl -u {name}:");
            random.letters(out, ALNUM, 16);
            put!(out, " https://{name}.example.com/v1");
        }
    }
}
