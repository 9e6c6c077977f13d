//! Values, members and lists of parsed JSON.

use std::borrow::Cow;
use std::collections::HashMap;

use super::DocumentPass;
use super::embedded_json::is_steady;
use super::member::{NameFacts, Roles, says_name};
use crate::json::{Json, Object};
use crate::redaction::engine::span::{self, Span};
use crate::redaction::field_name::{self, NameClass};
use crate::redaction::marker;
use crate::redaction::media;
use crate::redaction::rule::Frame;
use crate::redaction::text::context::{Style, judge};
use crate::redaction::text::value::{is_uuid, looks_chosen, looks_random};

/// Members that hold a piece of a text in a stream.
const PIECE_MEMBERS: &[&str] =
    &["delta", "text", "content", "partial_json", "chunk", "token", "output", "data"];
/// Lists longer than this are not put together.
const MAX_JOINED: usize = 4096;
const MAX_JOINED_BYTES: usize = 1 << 20;

impl DocumentPass<'_> {
    /// Redacts a value under a name of `class`.
    pub(in crate::redaction) fn value(&mut self, value: &mut Json<'_>, class: NameClass) {
        match value {
            Json::Null | Json::Bool(_) => {}
            Json::Number(number) => {
                if let NameClass::Strong(frame) | NameClass::Weak(frame @ Frame::CardNumber) = class
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
                if let Some(changed) = self.named_text(text, class) {
                    *text = Cow::Owned(changed);
                }
            }
            Json::Array(items) => self.list(items, class),
            Json::Object(object) => self.object(object, class),
        }
    }

    fn object(&mut self, object: &mut Object<'_>, outer: NameClass) {
        // Objects are nested, and so are the facts about their names.
        let first = self.facts.len();
        let mut members = Roles::default();
        let mut says_medium = false;
        for (name, item) in object.iter() {
            let facts = self.facts_of(name);
            members = members.with(facts.roles);
            says_medium |= facts.roles.kind && item.as_str().is_some_and(media::may_be_type);
            self.facts.push(facts);
        }
        if members.bytes && says_medium && media::object(object) {
            self.report.count_media();
            // Members were added.
            self.facts.extend(
                object.iter().skip(self.facts.len() - first).map(|(name, _)| NameFacts::of(name)),
            );
        }
        let is_named = members.value && members.name;
        let named = if is_named { named_class(object) } else { NameClass::Plain };
        let mut renamed = Vec::new();
        for (place, (name, item)) in object.iter_mut().enumerate() {
            let facts = self.facts.get(first + place).copied();
            let mut facts = facts.unwrap_or_else(|| NameFacts::of(name));
            if !facts.is_clean {
                let notes = self.report.notes();
                if let Some(changed) = self.text(name) {
                    facts = NameFacts::of(&changed);
                    *name = Cow::Owned(changed);
                    renamed.push(place);
                } else if self.report.notes() == notes && is_steady(name) {
                    self.familiar.names.put(name, NameFacts { is_clean: true, ..facts });
                }
            }
            let mut class = facts.class;
            if class == NameClass::Plain && facts.roles.value {
                if named != NameClass::Plain {
                    class = named;
                } else if matches!(outer, NameClass::Strong(_)) && !members.schema {
                    class = outer;
                }
            }
            let mark = self.push_known_step(name, facts.is_plain_step);
            if members.jwk && matches!(name.as_ref(), "k" | "d" | "p" | "q" | "dp" | "dq" | "qi") {
                if let Json::String(text) = item
                    && !marker::is_marker(text)
                {
                    let hidden = self.marker_of(Frame::Jwk, text);
                    *text = Cow::Owned(hidden);
                }
            } else {
                self.value(item, class);
            }
            self.path.truncate(mark);
        }
        self.facts.truncate(first);
        if !renamed.is_empty() {
            separate_names(object, &renamed);
        }
    }

    /// What a name says of its member; of one that comes often it is known.
    fn facts_of(&self, name: &str) -> NameFacts {
        if let Some(facts) = self.familiar.names.get(name) {
            return *facts;
        }
        let facts = NameFacts::of(name);
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
        for item in items.iter_mut() {
            self.value(item, class);
        }
        if is_together && self.report.changes() > changes {
            // What was hidden in one item may have kept the rules from seeing
            // what goes on in the next.
            self.items_together(items);
            self.report.unsettle();
        }
        self.path.truncate(mark);
    }

    /// Hides what the items of a list say together: a name and its value, a
    /// command line, one text in pieces.
    fn items_together(&mut self, items: &mut [Json<'_>]) {
        if items.len() > 1 && items.iter().all(|item| matches!(item, Json::String(_))) {
            self.strings(items);
        } else if let [Json::String(name), second] = items
            && let named = field_name::class_of_member(name)
            && named != NameClass::Plain
            && !matches!(second, Json::Object(_))
        {
            self.value(second, named);
        }
        // One text in pieces, as a stream delivers it.
        self.across(&mut pieces(items), "");
    }

    /// A list of strings may be a command line or headers one after the other.
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
            let class = field_name::class_of_member(bare);
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

    /// Reads pieces as one text with `glue` between them and hides what is
    /// found in the pieces it lies in.
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
            // Without spaces only what the pieces themselves cannot show, and
            // only by its own form.
            spans.retain(|found| {
                found.rank > span::RANK_FRAME
                    && !starts.iter().zip(pieces.iter()).any(|(start, piece)| {
                        *start <= found.start && found.end <= start + piece.len()
                    })
            });
        }
        for found in spans {
            let secret = whole.get(found.start..found.end).unwrap_or_default();
            for (start, piece) in starts.iter().zip(pieces.iter_mut()) {
                if found.end <= *start || start + piece.len() <= found.start {
                    continue;
                }
                let from = found.start.saturating_sub(*start);
                let to = (found.end - start).min(piece.len());
                // Pieces hidden by an earlier finding have another length.
                if piece.get(from..to) != whole.get(start + from..start + to) {
                    continue;
                }
                let mut changed = piece.get(..from).unwrap_or_default().to_owned();
                self.write_marker(&mut changed, found.rule, secret, None);
                changed.push_str(piece.get(to..).unwrap_or_default());
                **piece = Cow::Owned(changed);
            }
        }
    }
}

/// Whether items may be a name and its value, a command line or one text in
/// pieces. Two objects are so only if both carry a piece.
fn say_something_together(items: &mut [Json<'_>]) -> bool {
    match items {
        [Json::String(_), _] => true,
        [one, other] => piece(one, 0).is_some() && piece(other, 0).is_some(),
        _ => items.len() > 2,
    }
}

/// The strings of a list that belong together: the items themselves, or the
/// text each item carries in a stream of deltas.
fn pieces<'l, 'a>(items: &'l mut [Json<'a>]) -> Vec<&'l mut Cow<'a, str>> {
    items.iter_mut().filter_map(|item| piece(item, 0)).collect()
}

fn piece<'l, 'a>(item: &'l mut Json<'a>, depth: u8) -> Option<&'l mut Cow<'a, str>> {
    match item {
        Json::String(text) => Some(text),
        Json::Object(object) if depth < 4 => {
            let (_, inner) =
                object.iter_mut().find(|(name, _)| PIECE_MEMBERS.contains(&name.as_ref()))?;
            piece(inner, depth + 1)
        }
        _ => None,
    }
}

/// The class of the name that an object gives to its `value`.
fn named_class(object: &Object<'_>) -> NameClass {
    if object.len() > 32 {
        return NameClass::Plain;
    }
    object
        .iter()
        .filter(|(name, _)| says_name(name))
        .filter_map(|(_, value)| value.as_str())
        .filter(|text| text.len() <= 64)
        // The last step of a path names the value: `/spec/password`.
        .map(|text| field_name::class_of_member(text.rsplit(['/', '.']).next().unwrap_or(text)))
        .find(|class| *class != NameClass::Plain)
        .unwrap_or(NameClass::Plain)
}

/// Names that became equal by hiding get `#2`, `#3` …, so that no reader drops
/// one of them.
fn separate_names(object: &mut Object<'_>, renamed: &[usize]) {
    let mut seen: HashMap<String, SeenName> = HashMap::new();
    for (place, (name, _)) in object.iter_mut().enumerate() {
        let is_renamed = renamed.binary_search(&place).is_ok();
        // A name that stood there twice from the start is left alone.
        if let Some(other) = seen.get(name.as_ref())
            && (other.is_renamed || is_renamed)
        {
            // Counted on from where the last one stopped: a hundred thousand
            // members can become equal.
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
    fn names_that_a_hundred_thousand_members_share_are_told_apart() {
        // Counting anew from two for each of them would take hours.
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
