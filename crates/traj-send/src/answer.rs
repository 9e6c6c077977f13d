//! Interprets a response.

use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message as _;
use traj_core::port::TraceAnswer;
use traj_core::timestamp::UnixMillis;

/// Statuses after which the protocol asks for a retry.
const BUSY: [u16; 4] = [429, 502, 503, 504];

/// A response without its transport.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Response<'r> {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<&'r str>,
    pub(crate) date: Option<&'r str>,
    pub(crate) content_type: Option<&'r str>,
    pub(crate) body: &'r [u8],
}

impl Response<'_> {
    pub(crate) fn answer(&self) -> TraceAnswer {
        let code = self.status;
        match code {
            200..=299 => TraceAnswer::Taken { rejected: self.rejected() },
            300..=399 => TraceAnswer::Elsewhere { code },
            _ if BUSY.contains(&code) => TraceAnswer::Busy { code, retry_after: self.pause() },
            _ => TraceAnswer::Refused { code },
        }
    }

    /// The pause that the receiver asks for, in seconds or as a date. Dates are
    /// compared with that of the answer: our clock may differ from the receiver's.
    fn pause(&self) -> Option<Duration> {
        let asked = self.retry_after?.trim();
        if let Ok(seconds) = asked.parse() {
            return Some(Duration::from_secs(seconds));
        }
        let millis = http_date(asked)?.as_millis() - http_date(self.date?)?.as_millis();
        Some(Duration::from_millis(u64::try_from(millis).unwrap_or_default()))
    }

    /// How many spans the receiver rejected.
    fn rejected(&self) -> u64 {
        let is_json = self.content_type.is_some_and(|kind| kind.starts_with("application/json"));
        if is_json {
            let body: serde_json::Value = serde_json::from_slice(self.body).unwrap_or_default();
            let count = &body["partialSuccess"]["rejectedSpans"];
            // 64-bit numbers are texts in the JSON of protobuf.
            let text = || count.as_str().and_then(|digits| digits.parse().ok());
            return count.as_u64().or_else(text).unwrap_or_default();
        }
        let response = ExportTraceServiceResponse::decode(self.body).unwrap_or_default();
        let rejected = response.partial_success.map_or(0, |partial| partial.rejected_spans);
        u64::try_from(rejected).unwrap_or_default()
    }
}

/// A date such as `Wed, 21 Oct 2026 07:28:00 GMT`. Servers must not send the older forms.
fn http_date(text: &str) -> Option<UnixMillis> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.split_ascii_whitespace().skip(1);
    let (day, name, year, time) = (words.next()?, words.next()?, words.next()?, words.next()?);
    if words.next() != Some("GMT") {
        return None;
    }
    let month = MONTHS.iter().position(|month| *month == name)? + 1;
    UnixMillis::parse_iso(&format!("{year}-{month:02}-{day:0>2}T{time}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, retry_after: Option<&str>, body: (&str, &[u8])) -> TraceAnswer {
        let (date, content_type, body) = (None, Some(body.0), body.1);
        Response { status, retry_after, date, content_type, body }.answer()
    }

    #[test]
    fn statuses_and_bodies_have_a_meaning() {
        let protobuf = ("application/x-protobuf", &[0x0a, 0x02, 0x08, 0x05][..]);
        let json = ("application/json", &br#"{"partialSuccess":{"rejectedSpans":"5"}}"#[..]);
        for body in [protobuf, json] {
            assert_eq!(answer(200, None, body), TraceAnswer::Taken { rejected: 5 });
        }
        let nothing = ("text/html", &b"<html>"[..]);
        assert_eq!(answer(202, None, nothing), TraceAnswer::Taken { rejected: 0 });
        let after = Some(Duration::from_secs(7));
        assert_eq!(
            answer(503, Some("7"), nothing),
            TraceAnswer::Busy { code: 503, retry_after: after }
        );
        assert_eq!(answer(400, Some("7"), nothing), TraceAnswer::Refused { code: 400 });
        assert_eq!(answer(500, None, nothing), TraceAnswer::Refused { code: 500 });
        assert_eq!(answer(308, None, nothing), TraceAnswer::Elsewhere { code: 308 });
    }
    #[test]
    fn a_date_to_wait_for_is_compared_with_the_date_of_the_answer() {
        let date = |text| Some(text).filter(|text: &&str| !text.is_empty());
        let now = "Wed, 21 Oct 2026 07:27:30 GMT";
        for (retry_after, now, seconds) in [
            ("Wed, 21 Oct 2026 07:28:00 GMT", now, Some(30)),
            ("Thu, 22 Oct 2026 07:27:30 GMT", now, Some(86_400)),
            ("Sun, 1 Nov 2026 00:00:00 GMT", "Sat, 31 Oct 2026 23:59:59 GMT", Some(1)),
            ("Wed, 21 Oct 2026 07:27:00 GMT", now, Some(0)),
            ("Wed, 21 Oct 2026 07:28:00 GMT", "", None),
            ("Wed, 21 Oct 2026 07:28:00 CET", now, None),
            ("soon", now, None),
        ] {
            let (retry_after, date) = (Some(retry_after), date(now));
            let response =
                Response { status: 503, retry_after, date, content_type: None, body: b"" };
            let pause = seconds.map(Duration::from_secs);
            let expected = TraceAnswer::Busy { code: 503, retry_after: pause };
            assert_eq!(response.answer(), expected, "{retry_after:?}");
        }
    }
}
