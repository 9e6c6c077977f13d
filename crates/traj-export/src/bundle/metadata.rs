//! `metadata.json`: the setup of the run.

use traj_core::json::{Json, Object};

use super::CommonMembers;
use super::skills::{SkillMarks, marked_skills};

/// The members of the event's data that the file contains, in order.
const MEMBERS: [&str; 8] =
    ["harness", "model", "config", "plugins", "skills", "prompting", "redaction", "metadata"];

/// Whether the file contains this member of the event's data.
pub(crate) fn is_metadata_member(name: &str) -> bool {
    MEMBERS.contains(&name)
}

/// Provider, name and interface of a model, as an event states them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelNames<'a> {
    provider: Option<Json<'a>>,
    name: Option<Json<'a>>,
    api: Option<Json<'a>>,
}

impl<'a> ModelNames<'a> {
    /// The model that an event names.
    pub(crate) fn of_event(event: &Json<'a>) -> Self {
        let member = |name| event.get(name).cloned();
        Self { provider: member("provider"), name: member("modelId"), api: member("modelApi") }
    }

    fn to_json(&self) -> Option<Json<'a>> {
        let mut object = Object::new();
        object.push_some("provider", self.provider.clone());
        object.push_some("name", self.name.clone());
        object.push_some("api", self.api.clone());
        (!object.is_empty()).then_some(Json::Object(object))
    }
}

/// The content of the file, from the last event that describes the run.
pub(crate) fn metadata<'a>(
    common: &'a CommonMembers,
    data: Json<'a>,
    model: &ModelNames<'a>,
    marks: &SkillMarks,
) -> Json<'a> {
    let mut data = match data {
        Json::Object(data) => data,
        _ => Object::new(),
    };
    let mut object = common.members();
    for name in MEMBERS {
        let described = data.remove(name);
        let told = match name {
            "model" => described.filter(|model| !model.is_null()).or_else(|| model.to_json()),
            "skills" => described.map(|skills| marked_skills(skills, marks)),
            _ => described,
        };
        object.push_some(name, told);
    }
    Json::Object(object)
}
