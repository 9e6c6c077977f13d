//! A login that expired, as an error response reports it.

use traj_core::json::Json;

/// A login that a person has to repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExpiredLogin<'a> {
    /// What the person has to do, in the server's words.
    pub(crate) detail: Option<&'a str>,
}

/// Reads the data of an error response; `None` if it is not about the login.
pub(crate) fn expired_login<'a>(data: &'a Json<'_>) -> Option<ExpiredLogin<'a>> {
    let text = |name: &str| {
        let text = data.get(name)?.as_str()?.trim();
        (!text.is_empty()).then_some(text)
    };
    (text("action") == Some("relogin")).then(|| ExpiredLogin { detail: text("detail") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_data_that_asks_for_a_login_is_about_one() {
        let detail = |text: &str| {
            let data = Json::parse(text).unwrap();
            expired_login(&data).map(|login| login.detail.map(str::to_owned))
        };
        let expired = r#"{"reason":"cloudRequirements","action":"relogin","detail":" Sign in. "}"#;
        assert_eq!(detail(expired), Some(Some("Sign in.".to_owned())));
        assert_eq!(detail(r#"{"action":"relogin","detail":" "}"#), Some(None));
        for other in ["null", "[]", r#"{"action":"retry","detail":"x"}"#, r#"{"action":1}"#] {
            assert_eq!(detail(other), None, "{other}");
        }
    }
}
