//! The same action as a call to whichever tool an agent offers.

use serde_json::{Map, Value, json};

/// A tool that an agent offers to the model.
#[derive(Clone, Debug)]
pub(super) struct OfferedTool {
    pub(super) name: String,
    /// The JSON Schema of its arguments.
    pub(super) schema: Value,
    /// Whether it takes plain text instead of arguments.
    pub(super) takes_text: bool,
    /// The namespace that it is in.
    pub(super) namespace: Option<String>,
}

/// What the calls of an agent depend on.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The directory that the agent works in.
    pub(super) workspace: String,
    /// The name of a general sub-agent.
    pub(super) helper: &'static str,
}

/// What the script wants to happen.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Shell(&'static str),
    Read(&'static str),
    Edit {
        file: &'static str,
        old: &'static str,
        new: &'static str,
    },
    Write {
        file: &'static str,
        content: &'static str,
    },
    Delegate(&'static str),
    /// Waits for the sub-agent with this id.
    Await(String),
}

/// A call that the model made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServedCall {
    /// The id that the model gave it.
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments; a string for a tool that takes text.
    pub arguments: Value,
    /// Whether the tool takes plain text.
    pub takes_text: bool,
    /// The namespace of the tool.
    pub namespace: Option<String>,
}

const SHELLS: [&str; 8] = [
    "Bash",
    "bash",
    "exec_command",
    "shell_command",
    "run_shell_command",
    "shell",
    "exec",
    "Shell",
];
const READERS: [&str; 5] = ["Read", "read", "read_file", "view", "ReadFile"];
const EDITORS: [&str; 5] = ["Edit", "edit", "replace", "edit_file", "str_replace"];
const WRITERS: [&str; 5] = ["Write", "write", "write_file", "create", "create_new_file"];
const DELEGATES: [&str; 8] =
    ["Task", "Agent", "task", "agent", "invoke_agent", "sessions_spawn", "subagent", "spawn_agent"];
pub(super) const WAIT: &str = "wait_agent";

const PATHS: [&str; 5] = ["file_path", "filePath", "path", "absolute_path", "filepath"];
const OLD: [&str; 5] = ["old_string", "oldString", "oldText", "old_str", "old_text"];
const NEW: [&str; 5] = ["new_string", "newString", "newText", "new_str", "new_text"];
const CONTENT: [&str; 3] = ["content", "file_text", "contents"];
const COMMAND: [&str; 2] = ["command", "cmd"];
const PROMPT: [&str; 5] = ["prompt", "task", "objective", "instructions", "message"];
const NOTES: [&str; 5] = ["description", "instruction", "explanation", "summary", "name"];

impl Action {
    pub(super) const fn shell(command: &'static str) -> Self {
        Self::Shell(command)
    }

    pub(super) const fn read(file: &'static str) -> Self {
        Self::Read(file)
    }

    pub(super) const fn edit(file: &'static str, old: &'static str, new: &'static str) -> Self {
        Self::Edit { file, old, new }
    }

    pub(super) const fn write(file: &'static str, content: &'static str) -> Self {
        Self::Write { file, content }
    }

    pub(super) const fn delegate(prompt: &'static str) -> Self {
        Self::Delegate(prompt)
    }

    /// The call to a tool that is offered, with paths below `workspace`. Falls back to the shell.
    pub(super) fn call(&self, tools: &[OfferedTool], place: &Place, id: String) -> ServedCall {
        let path = |file: &str| json!(format!("{}/{file}", place.workspace));
        let (names, values): (&[&str], Vec<(&[&str], Value)>) = match self {
            Self::Shell(command) => (&SHELLS, vec![(&COMMAND, json!(command))]),
            Self::Read(file) => (&READERS, vec![(&PATHS, path(file))]),
            Self::Edit { file, old, new } => {
                (&EDITORS, vec![(&PATHS, path(file)), (&OLD, json!(old)), (&NEW, json!(new))])
            }
            Self::Write { file, content } => {
                (&WRITERS, vec![(&PATHS, path(file)), (&CONTENT, json!(content))])
            }
            Self::Delegate(prompt) => (&DELEGATES, vec![(&PROMPT, json!(prompt))]),
            Self::Await(id) => {
                let values: Vec<(&[&str], Value)> =
                    vec![(&["targets", "ids"], json!([id])), (&["timeout_ms"], json!(30_000))];
                (&[WAIT], values)
            }
        };
        let offered = names.iter().find_map(|name| tools.iter().find(|tool| tool.name == *name));
        if let Some(tool) = offered {
            let mut arguments = fill(&tool.schema, &values);
            if matches!(self, Self::Delegate(_)) {
                name_helper(&tool.schema, place.helper, &mut arguments);
            }
            let (tool, namespace) = (tool.name.clone(), tool.namespace.clone());
            return ServedCall { id, tool, arguments, takes_text: false, namespace };
        }
        if let Some(call) = self.as_patch(tools, &id) {
            return call;
        }
        match self.as_command() {
            Some(command) if !matches!(self, Self::Shell(_)) => {
                let values: [(&[&str], Value); 1] = [(&COMMAND, json!(command))];
                let shell = SHELLS.iter().find_map(|name| tools.iter().find(|t| t.name == *name));
                let (tool, schema) = shell.map_or(("shell".to_owned(), Value::Null), |t| {
                    (t.name.clone(), t.schema.clone())
                });
                let arguments = fill(&schema, &values);
                ServedCall { id, tool, arguments, takes_text: false, namespace: None }
            }
            _ => ServedCall {
                id,
                tool: names[0].to_owned(),
                arguments: json!({}),
                takes_text: false,
                namespace: None,
            },
        }
    }

    /// The action as a patch, for agents that can only edit this way.
    fn as_patch(&self, tools: &[OfferedTool], id: &str) -> Option<ServedCall> {
        let tool = tools.iter().find(|tool| tool.name == "apply_patch")?;
        let patch = match self {
            Self::Edit { file, old, new } => {
                format!(
                    "*** Begin Patch\n*** Update File: {file}\n@@\n-{old}\n+{new}\n*** End Patch"
                )
            }
            Self::Write { file, content } => {
                let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
                format!("*** Begin Patch\n*** Add File: {file}\n{lines}*** End Patch")
            }
            _ => return None,
        };
        let takes_text = tool.takes_text;
        let arguments = if takes_text { json!(patch) } else { json!({ "input": patch }) };
        let (id, namespace) = (id.to_owned(), tool.namespace.clone());
        Some(ServedCall { id, tool: tool.name.clone(), arguments, takes_text, namespace })
    }

    /// The action as a shell command.
    fn as_command(&self) -> Option<String> {
        Some(match self {
            Self::Shell(command) => (*command).to_owned(),
            Self::Read(file) => format!("cat {file}"),
            Self::Edit { file, old, new } => format!("sed -i 's/{old}/{new}/' {file}"),
            Self::Write { file, content } => format!("cat > {file} <<'END'\n{content}END"),
            Self::Delegate(_) | Self::Await(_) => return None,
        })
    }
}

/// Arguments for a schema: known values under the first name that it has, and something harmless
/// under every other name that it requires.
fn fill(schema: &Value, values: &[(&[&str], Value)]) -> Value {
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    let mut arguments = Map::new();
    for (names, value) in values {
        let name = names.iter().find(|name| properties.contains_key(**name)).unwrap_or(&names[0]);
        let is_list = properties.get(*name).is_some_and(|property| property["type"] == "array");
        let value = match value {
            Value::String(command) if is_list => json!(["bash", "-lc", command]),
            value => value.clone(),
        };
        arguments.insert((*name).to_owned(), value);
    }
    let takes_old = OLD.iter().any(|name| properties.contains_key(*name));
    if properties.contains_key("edits") && !takes_old {
        move_into_edits(properties, &mut arguments);
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        let property = properties.get(name).unwrap_or(&Value::Null);
        arguments.entry(name).or_insert_with(|| harmless(name, property));
    }
    if properties.contains_key("run_in_background") {
        arguments.insert("run_in_background".to_owned(), json!(false));
    }
    Value::Object(arguments)
}

/// Names the kind of sub-agent, which not every schema requires.
fn name_helper(schema: &Value, helper: &str, arguments: &mut Value) {
    for name in ["subagent_type", "agent_name", "agent_type"] {
        let Some(property) = schema["properties"].get(name) else { continue };
        arguments[name] = property["enum"].get(0).cloned().unwrap_or_else(|| json!(helper));
    }
}

/// A value for a schema that an agent wants the answer to match.
pub(super) fn fill_schema(schema: &Value) -> Value {
    fill(schema, &[])
}

/// For tools that take a list of edits.
fn move_into_edits(properties: &Map<String, Value>, arguments: &mut Map<String, Value>) {
    let item = &properties["edits"]["items"]["properties"];
    let mut edit = Map::new();
    for names in [&OLD, &NEW] {
        let Some(known) = names.iter().find_map(|name| arguments.remove(*name)) else { return };
        let name = names.iter().find(|name| item.get(**name).is_some()).unwrap_or(&names[0]);
        edit.insert((*name).to_owned(), known);
    }
    arguments.insert("edits".to_owned(), json!([edit]));
}

fn harmless(name: &str, property: &Value) -> Value {
    if let Some(first) = property["enum"].get(0) {
        return first.clone();
    }
    match property["type"].as_str().map(str::to_ascii_lowercase).as_deref() {
        Some("boolean") => json!(false),
        Some("number" | "integer") => json!(1),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ if NOTES.contains(&name) => json!("a step of the script"),
        _ => json!("scripted"),
    }
}
