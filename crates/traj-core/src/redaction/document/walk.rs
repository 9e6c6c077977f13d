//! Walks the values, members and lists of parsed JSON.

use std::borrow::Cow;
use std::collections::HashMap;

use super::DocumentPass;
use super::embedded_json::is_steady;
use super::manifest::Holding;
use super::member::{NameFacts, Roles};
use super::naming::{class_inside, class_of_item, is_schema, named_class};
use super::streams::wraps;
use crate::json::{Json, Object};
use crate::redaction::engine::span::{self, Span};
use crate::redaction::field_name::{NameClass, NameTable};
use crate::redaction::marker;
use crate::redaction::media;
use crate::redaction::rule::Frame;
use crate::redaction::text::context::{Style, judge};
use crate::redaction::text::value::{is_uuid, looks_chosen, looks_random};

/// Members that contain a piece of a streamed text.
const PIECE_MEMBERS: &[&str] =
    &["delta", "text", "content", "partial_json", "chunk", "token", "output", "data"];
/// The pieces of a longer list are not joined.
pub(super) const MAX_JOINED: usize = 4096;
pub(super) const MAX_JOINED_BYTES: usize = 1 << 20;

impl DocumentPass<'_> {
    /// Redacts a value under a name of `class`.
    pub(in crate::redaction) fn value(&mut self, value: &mut Json<'_>, class: NameClass) {
        match value {
            Json::Null | Json::Bool(_) => {}
            Json::Number(number) => {
                if let NameClass::Strong(frame)
                | NameClass::Inside(frame)
                | NameClass::Weak(frame @ Frame::CardNumber) = class
                    && judge(number.as_text().as_bytes(), class, Style::Data)
                {
                    let hidden = self.marker_of(frame, number.as_text());
                    *value = Json::String(Cow::Owned(hidden));
                } else if number.as_text().len() > 11 && self.policy.personal_data {
                    let found = self.finder.find(number.as_text());
                    if !found.spans.is_empty() {
                        let hidden = self.hide_spans(number.as_text(), &found.spans);
                        *value = Json::String(Cow::Owned(hidden));
                    }
                }
            }
            Json::String(text) => {
                if let Some(medium) = media::long_uri(text) {
                    self.report.count_media();
                    *text = Cow::Owned(medium.marker());
                } else if let Some(changed) = self.named_text(text, class) {
                    *text = Cow::Owned(changed);
                }
            }
            Json::Array(items) => self.list(items, class),
            Json::Object(object) => self.object(object, class),
        }
    }

    fn object(&mut self, object: &mut Object<'_>, outer: NameClass) {
        let names = self.finder.engine.names();
        // `facts` is a stack: the entries of this object start here.
        let first = self.facts.len();
        let mut members = Roles::default();
        let mut says_medium = false;
        let mut says_kind = false;
        for (name, item) in object.iter() {
            let facts = self.facts_of(name);
            members = members.with(facts.roles);
            says_kind |= matches!(name, "kind" | "type");
            says_medium |= facts.roles.kind && item.as_str().is_some_and(media::may_be_type);
            self.facts.push(facts);
        }
        if members.bytes && says_medium && media::object(object) {
            self.report.count_media();
            // Add the facts about the new members.
            self.facts.extend(
                object
                    .iter()
                    .skip(self.facts.len() - first)
                    .map(|(name, _)| NameFacts::of(name, names)),
            );
        }
        let is_named = members.value && members.name;
        let named = if is_named { named_class(object, names) } else { NameClass::Plain };
        let inner = if is_schema(object) { NameClass::Plain } else { outer };
        if members.table {
            self.columns(object);
        }
        let holding = if says_kind { Holding::of(object) } else { Holding::Any };
        let mut renamed = Vec::new();
        for (place, (name, item)) in object.iter_mut().enumerate() {
            let facts = self.facts.get(first + place).copied();
            let mut facts = facts.unwrap_or_else(|| NameFacts::of(name, names));
            if !facts.is_clean {
                let notes = self.report.notes();
                if let Some(changed) = self.text(name) {
                    facts = NameFacts::of(&changed, names);
                    *name = Cow::Owned(changed);
                    renamed.push(place);
                } else if self.report.notes() == notes && is_steady(name) {
                    self.familiar.names.put(name, NameFacts { is_clean: true, ..facts });
                }
            }
            let mut class = facts.class;
            if class == NameClass::Plain && facts.roles.value {
                class = named;
            }
            class = class_inside(inner, class, name, facts.roles.value);
            let mark = self.push_known_step(name, facts.is_plain_step);
            if members.jwk && matches!(name.as_ref(), "k" | "d" | "p" | "q" | "dp" | "dq" | "qi") {
                if let Json::String(text) = item
                    && !marker::is_marker(text)
                {
                    let hidden = self.marker_of(Frame::Jwk, text);
                    *text = Cow::Owned(hidden);
                }
            } else {
                if facts.roles.payload {
                    self.payload(item);
                }
                self.held(holding, name, item);
                self.value(item, class);
            }
            self.path.truncate(mark);
        }
        self.facts.truncate(first);
        if !renamed.is_empty() {
            separate_names(object, &renamed);
        }
    }

    /// Replaces long strings in a field of payload.
    fn payload(&mut self, value: &mut Json<'_>) {
        match value {
            Json::String(text) if media::is_long(text) => {
                self.report.count_media();
                *text = Cow::Owned(media::payload(text).marker());
            }
            Json::Array(items) => items.iter_mut().for_each(|item| {
                if let Json::String(_) = item {
                    self.payload(item);
                }
            }),
            _ => {}
        }
    }

    /// The facts about a name, from the cache if it is there.
    fn facts_of(&self, name: &str) -> NameFacts {
        if let Some(facts) = self.familiar.names.get(name) {
            return *facts;
        }
        let facts = NameFacts::of(name, self.finder.engine.names());
        if facts.is_clean {
            self.familiar.names.put(name, facts);
        }
        facts
    }

    fn list(&mut self, items: &mut [Json<'_>], class: NameClass) {
        let mark = self.path.len();
        self.path.push_str("/*");
        let is_together = say_something_together(items);
        let changes = self.report.changes();
        if is_together {
            self.items_together(items);
        }
        // A list after its name is walked once, under that name: walked twice on
        // every level, nested pairs would take exponential time.
        let named = named_list(items, self.finder.engine.names());
        for (place, item) in items.iter_mut().enumerate() {
            self.value(item, named.filter(|_| place == 1).unwrap_or_else(|| class_of_item(class)));
        }
        if is_together && self.report.changes() > changes {
            // The marker in one item may reveal a secret that continues in the
            // next.
            self.items_together(items);
            self.report.unsettle();
        }
        self.path.truncate(mark);
    }

    /// Hides secrets that span the items of a list: a name and its value, a
    /// command line, one text in pieces.
    fn items_together(&mut self, items: &mut [Json<'_>]) {
        if items.len() > 1 && items.iter().all(|item| matches!(item, Json::String(_))) {
            self.strings(items);
        } else if let [Json::String(name), second] = items
            && let named = self.finder.engine.names().class_of_member(name)
            && named != NameClass::Plain
            && !matches!(second, Json::Object(_) | Json::Array(_))
        {
            self.value(second, named);
        }
        // One text in pieces, as in a stream.
        self.across(&mut pieces(items), "");
        self.events_together(items);
    }

    /// Reads a list of strings as a command line or a list of headers.
    fn strings(&mut self, items: &mut [Json<'_>]) {
        self.name_then_value(items);
        let words = items
            .iter()
            .filter_map(Json::as_str)
            .any(|text| text.starts_with('-') || text.ends_with(':'));
        if words {
            self.across(&mut pieces(items), " ");
        }
    }

    /// `["X-Api-Key", "…", "Accept", "*/*"]`
    fn name_then_value(&mut self, items: &mut [Json<'_>]) {
        for place in 1..items.len() {
            let (head, tail) = items.split_at_mut(place);
            let (Some(Json::String(name)), Some(Json::String(value))) =
                (head.last(), tail.first_mut())
            else {
                continue;
            };
            let bare = name.trim_start_matches('-').trim_end_matches(':');
            if bare.len() > 64 || bare.contains([' ', '=']) {
                continue;
            }
            let class = self.finder.engine.names().class_of_member(bare);
            if class == NameClass::Plain || marker::is_marker(value) {
                continue;
            }
            let bytes = value.as_bytes();
            let header = matches!(class.frame(), Some(Frame::Authorization | Frame::Cookie));
            let flag = name.starts_with('-') && !value.starts_with('-');
            if (header || flag || looks_random(bytes) || looks_chosen(bytes) || is_uuid(bytes))
                && let Some(changed) = self.named_text(value, class)
            {
                *value = Cow::Owned(changed);
            }
        }
    }

    /// Searches the pieces as one string with `glue` between them, and hides each
    /// finding in the pieces that it spans.
    fn across(&mut self, pieces: &mut [&mut Cow<'_, str>], glue: &str) {
        let total: usize = pieces.iter().map(|piece| piece.len()).sum();
        if pieces.len() < 2
            || pieces.len() > MAX_JOINED
            || !(12..=MAX_JOINED_BYTES).contains(&total)
        {
            return;
        }
        let mut whole = String::with_capacity(total + pieces.len());
        let mut starts = Vec::with_capacity(pieces.len());
        for piece in pieces.iter() {
            if !whole.is_empty() {
                whole.push_str(glue);
            }
            starts.push(whole.len());
            whole.push_str(piece);
        }
        if !self.finder.engine.may_match(whole.as_bytes()) {
            return;
        }
        let mut spans: Vec<Span> = self.finder.find(&whole).spans;
        if glue.is_empty() {
            // Without glue, keep only tokens that span pieces: names and
            // context are not reliable across them.
            spans.retain(|found| {
                let piece = starts.partition_point(|start| *start <= found.start);
                let next = starts.get(piece).copied().unwrap_or(whole.len());
                found.rank > span::RANK_FRAME && found.end > next
            });
        }
        self.hide_in_pieces(&whole, &starts, pieces, &spans);
    }
}

/// The class of the name before a list: `["password", ["hunter2"]]`.
fn named_list(items: &[Json<'_>], names: NameTable) -> Option<NameClass> {
    let [Json::String(name), Json::Array(_)] = items else { return None };
    Some(names.class_of_member(name)).filter(|class| *class != NameClass::Plain)
}

/// Whether items may be a name and its value, a command line or one text in
/// pieces.
fn say_something_together(items: &mut [Json<'_>]) -> bool {
    match items {
        [Json::String(_), _] => true,
        [Json::Object(_), Json::Object(_)] => true,
        [one, other] => piece(one, 0).is_some() && piece(other, 0).is_some(),
        _ => items.len() > 2,
    }
}

/// The strings of a list that belong together: the items themselves, or the text
/// in each item of a stream of deltas.
fn pieces<'l, 'a>(items: &'l mut [Json<'a>]) -> Vec<&'l mut Cow<'a, str>> {
    items.iter_mut().filter_map(|item| piece(item, 0)).collect()
}

pub(super) fn piece<'l, 'a>(item: &'l mut Json<'a>, depth: u8) -> Option<&'l mut Cow<'a, str>> {
    match item {
        Json::String(text) => Some(text),
        Json::Object(object) if depth < 4 => {
            let (_, inner) = object.iter_mut().find(|(name, value)| {
                PIECE_MEMBERS.contains(&name.as_ref())
                    || matches!(value, Json::Object(_)) && wraps(name)
            })?;
            piece(inner, depth + 1)
        }
        _ => None,
    }
}

/// Appends `#2`, `#3` … to names that became equal by redaction, so that no reader
/// drops one of them.
fn separate_names(object: &mut Object<'_>, renamed: &[usize]) {
    let mut seen: HashMap<String, SeenName> = HashMap::new();
    for (place, (name, _)) in object.iter_mut().enumerate() {
        let is_renamed = renamed.binary_search(&place).is_ok();
        // Names that were equal in the input are left alone.
        if let Some(other) = seen.get(name.as_ref())
            && (other.is_renamed || is_renamed)
        {
            // Continue from the last number: a hundred thousand names can
            // become equal.
            let mut count = other.count;
            let free = loop {
                count += 1;
                let free = format!("{name}#{count}");
                if !seen.contains_key(&free) {
                    break free;
                }
            };
            if let Some(other) = seen.get_mut(name.as_ref()) {
                other.count = count;
            }
            *name = Cow::Owned(free);
        }
        seen.entry(name.to_string()).or_default().is_renamed |= is_renamed;
    }
}

/// A name that an object has.
struct SeenName {
    /// Whether a member got this name by redaction.
    is_renamed: bool,
    /// The highest number appended to it.
    count: u32,
}

impl Default for SeenName {
    fn default() -> Self {
        Self { is_renamed: false, count: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redaction::{MarkerKey, RedactionPolicy, RedactionReport, Redactor};

    #[test]
    fn a_hundred_thousand_equal_names_are_made_distinct() {
        // Takes hours if each name starts counting from two.
        let secret = format!("sk-proj-{}", "a1B2c3D4e5F6g7H8".repeat(3));
        let names = std::iter::repeat_n(secret.as_str(), 100_000);
        let object: Object<'_> = names.map(|name| (name.to_owned(), 0_u8)).collect();
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        let mut report = RedactionReport::default();
        let redacted = redactor.json(Json::Object(object), &mut report).into_inner();
        let Json::Object(object) = redacted else { unreachable!("it stays an object") };
        let names: std::collections::BTreeSet<&str> = object.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), 100_000);
        let last = object.iter().last().map(|(name, _)| name.to_owned()).unwrap_or_default();
        assert!(last.ends_with("#100000") && !last.contains(&secret), "{last}");
    }
}
