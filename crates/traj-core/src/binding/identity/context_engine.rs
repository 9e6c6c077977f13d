//! The context engine that a thread was started with.

use super::canonical::canonical_text;
use crate::json::{Json, Number, Object};

/// The smallest projection of history in characters, also used if the host names no budget.
const LEAST_PROJECTION: f64 = 24_000.0;
/// The largest projection of history in characters.
const MOST_PROJECTION: f64 = 1_000_000.0;
/// Tokens reserved for the reply unless the host says otherwise.
const DEFAULT_RESERVE: f64 = 20_000.0;

/// What a record stores about the context engine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextEngineBinding {
    /// The engine's id.
    pub engine: String,
    /// A string that represents the engine's policy.
    pub policy: String,
    /// The history that was placed at the start of the thread.
    pub projection: Option<Projection>,
}

/// History placed at the start of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Projection {
    /// Changes if the engine wants the history sent again.
    pub epoch: String,
    /// The hash of the history that was placed.
    pub fingerprint: Option<String>,
}

impl Projection {
    /// A projection with this epoch.
    #[must_use]
    pub const fn new(epoch: String, fingerprint: Option<String>) -> Self {
        Self { epoch, fingerprint }
    }
}

/// The facts about an active engine that make up its policy string.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ContextEngineFacts {
    /// The engine's id.
    pub engine: String,
    /// The engine's version.
    pub version: Option<String>,
    /// Whether the engine compacts, rather than Codex.
    pub owns_compaction: bool,
    /// When the engine maintains its state.
    pub turn_maintenance: Option<String>,
    /// How memories are cited.
    pub citations: Option<Json<'static>>,
    /// Tokens that the context may use.
    pub token_budget: Option<u64>,
    /// Tokens reserved for the reply.
    pub reserve_tokens: Option<u64>,
    /// The smallest reserve that the host allows.
    pub reserve_floor: Option<u64>,
    /// History placed at the start of the thread.
    pub projection: Option<Projection>,
}

impl ContextEngineFacts {
    /// An engine with defaults for everything but its id.
    #[must_use]
    pub const fn new(engine: String) -> Self {
        Self {
            engine,
            version: None,
            owns_compaction: false,
            turn_maintenance: None,
            citations: None,
            token_budget: None,
            reserve_tokens: None,
            reserve_floor: None,
            projection: None,
        }
    }

    /// What a record stores; `None` for a blank id and for the engine called `legacy`.
    #[must_use]
    pub fn binding(&self) -> Option<ContextEngineBinding> {
        let engine = self.engine.trim();
        if engine.is_empty() || engine == "legacy" {
            return None;
        }
        let projection = self.projection.clone().filter(|kept| !kept.epoch.trim().is_empty());
        let policy = self.policy_text(engine);
        Some(ContextEngineBinding { engine: engine.to_owned(), policy, projection })
    }

    fn policy_text(&self, engine: &str) -> String {
        let mut policy = Object::new();
        policy.push("schemaVersion", 1_u64);
        policy.push("engineId", engine);
        policy.push_some("engineVersion", self.version.as_deref());
        policy.push("ownsCompaction", self.owns_compaction);
        policy.push_some("turnMaintenanceMode", self.turn_maintenance.as_deref());
        policy.push_some("citationsMode", self.citations.clone());
        policy.push_some("contextTokenBudget", self.token_budget);
        policy.push_some("projectionMaxChars", Number::from_f64(self.projection_limit()));
        // The member order is part of the string; nested values are made canonical.
        let members: Vec<String> = policy
            .iter()
            .map(|(name, value)| format!("\"{name}\":{}", canonical_text(value)))
            .collect();
        format!("{{{}}}", members.join(","))
    }

    /// Characters of history that fit next to the reserve for the reply.
    fn projection_limit(&self) -> f64 {
        let Some(budget) = self.token_budget.filter(|budget| *budget > 0) else {
            return LEAST_PROJECTION;
        };
        #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
        let as_float = |tokens: u64| tokens as f64;
        let floor = self.reserve_floor.map(as_float);
        let reserve = match (self.reserve_tokens.map(as_float), floor) {
            (Some(reserve), floor) => reserve.max(floor.unwrap_or(DEFAULT_RESERVE)),
            (None, Some(floor)) => floor,
            (None, None) => DEFAULT_RESERVE,
        };
        let budget = as_float(budget);
        let least_prompt = 8_000.0_f64.min((budget / 2.0).floor().max(1.0));
        let usable_reserve = reserve.min((budget - least_prompt).max(0.0));
        let prompt = (budget - usable_reserve).max(1.0);
        (prompt * 4.0).clamp(LEAST_PROJECTION, MOST_PROJECTION)
    }
}

impl ContextEngineBinding {
    /// Reads a stored value; a malformed projection is dropped, the rest is kept.
    #[must_use]
    pub fn from_json(value: &Json<'_>) -> Option<Self> {
        if value.get("schemaVersion")?.as_u64()? != 1 {
            return None;
        }
        let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
        let projection = value.get("projection").and_then(Projection::from_json);
        Some(Self { engine: text("engineId")?, policy: text("policyFingerprint")?, projection })
    }

    /// The stored form.
    #[must_use]
    pub fn to_json(&self) -> Json<'static> {
        let mut object = Object::new();
        object.push("schemaVersion", 1_u64);
        object.push("engineId", self.engine.clone());
        object.push("policyFingerprint", self.policy.clone());
        object.push_some("projection", self.projection.as_ref().map(Projection::to_json));
        object.into()
    }
}

impl Projection {
    fn from_json(value: &Json<'_>) -> Option<Self> {
        let is_known = value.get("schemaVersion")?.as_u64()? == 1
            && value.get("mode")?.as_str()? == "thread_bootstrap";
        let epoch = value.get("epoch")?.as_str()?;
        (is_known && !epoch.trim().is_empty()).then(|| Self {
            epoch: epoch.to_owned(),
            fingerprint: value.get("fingerprint").and_then(Json::as_str).map(str::to_owned),
        })
    }

    fn to_json(&self) -> Json<'static> {
        let mut object = Object::new();
        object.push("schemaVersion", 1_u64);
        object.push("mode", "thread_bootstrap");
        object.push("epoch", self.epoch.clone());
        object.push_some("fingerprint", self.fingerprint.clone());
        object.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_string_contains_the_budget() {
        let mut facts = ContextEngineFacts::new("lossless-claw".to_owned());
        facts.owns_compaction = true;
        facts.token_budget = Some(400_000);
        insta::assert_snapshot!(
            facts.binding().unwrap().policy,
            @r#"{"schemaVersion":1,"engineId":"lossless-claw","ownsCompaction":true,"contextTokenBudget":400000,"projectionMaxChars":1000000}"#
        );
    }

    #[test]
    fn small_and_missing_budgets_give_the_least_projection() {
        let mut facts = ContextEngineFacts::new("e".to_owned());
        assert!(facts.binding().unwrap().policy.ends_with(r#""projectionMaxChars":24000}"#));
        facts.token_budget = Some(10_000);
        // 10 000 less the usable reserve of 5 000, times four, is below the minimum.
        assert!(facts.binding().unwrap().policy.ends_with(r#""projectionMaxChars":24000}"#));
        facts.token_budget = Some(40_000);
        assert!(facts.binding().unwrap().policy.ends_with(r#""projectionMaxChars":80000}"#));
    }

    #[test]
    fn the_legacy_engine_is_not_stored() {
        assert_eq!(ContextEngineFacts::new("legacy".to_owned()).binding(), None);
        assert_eq!(ContextEngineFacts::new("  ".to_owned()).binding(), None);
    }

    #[test]
    fn a_malformed_projection_is_dropped_alone() {
        let text = r#"{"schemaVersion":1,"engineId":"e","policyFingerprint":"p","projection":{"schemaVersion":1,"mode":"thread_bootstrap","epoch":" "}}"#;
        let binding = ContextEngineBinding::from_json(&Json::parse(text).unwrap()).unwrap();
        assert_eq!(binding.projection, None);
        assert_eq!(
            binding.to_json().to_line(),
            r#"{"schemaVersion":1,"engineId":"e","policyFingerprint":"p"}"#
        );
    }
}
