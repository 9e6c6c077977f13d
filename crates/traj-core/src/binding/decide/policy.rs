//! What a change of a component leads to.

use crate::binding::RotateReason;

/// What a change of one component leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangePolicy {
    /// The thread is resumed, and the change is not reported.
    Ignore,
    /// The thread is resumed, and the change is reported.
    Warn,
    /// Another thread takes its place.
    Rotate,
}

impl ChangePolicy {
    /// Reads a name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "ignore" => Some(Self::Ignore),
            "warn" => Some(Self::Warn),
            "rotate" => Some(Self::Rotate),
            _ => None,
        }
    }

    /// A short name for people and for machines.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ignore => "ignore",
            Self::Warn => "warn",
            Self::Rotate => "rotate",
        }
    }
}

/// What the change of each component leads to. By default, every change rotates the thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RotationPolicy {
    exceptions: Vec<(RotateReason, ChangePolicy)>,
}

impl RotationPolicy {
    /// The same policy, except for one component.
    #[must_use]
    pub fn with(mut self, component: RotateReason, policy: ChangePolicy) -> Self {
        self.exceptions.retain(|(known, _)| *known != component);
        self.exceptions.push((component, policy));
        self
    }

    /// What a change of this component leads to.
    #[must_use]
    pub fn of(&self, component: RotateReason) -> ChangePolicy {
        let exception = self.exceptions.iter().find(|(known, _)| *known == component);
        exception.map_or(ChangePolicy::Rotate, |(_, policy)| *policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_exception_for_a_component_counts() {
        let policy = RotationPolicy::default()
            .with(RotateReason::DynamicTools, ChangePolicy::Ignore)
            .with(RotateReason::DynamicTools, ChangePolicy::Warn);
        assert_eq!(policy.of(RotateReason::DynamicTools), ChangePolicy::Warn);
        assert_eq!(policy.of(RotateReason::PluginApps), ChangePolicy::Rotate);
    }

    #[test]
    fn names_are_read_back() {
        for policy in [ChangePolicy::Ignore, ChangePolicy::Warn, ChangePolicy::Rotate] {
            assert_eq!(ChangePolicy::parse(policy.as_str()), Some(policy));
        }
        for component in RotateReason::ALL {
            assert_eq!(RotateReason::parse(component.as_str()), Some(component));
        }
        assert_eq!((ChangePolicy::parse("never"), RotateReason::parse("model")), (None, None));
    }
}
