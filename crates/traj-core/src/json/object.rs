//! The members of a JSON object, in source order.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Json;
use super::shared_name::shared_name;

/// An ordered list of members. Names may repeat; lookups find the last one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, Json<'a>)>,
}

impl<'a> Object<'a> {
    /// An object without members.
    #[must_use]
    pub const fn new() -> Self {
        Self { members: Vec::new() }
    }

    /// An empty object with room for `count` members.
    #[must_use]
    pub fn with_capacity(count: usize) -> Self {
        Self { members: Vec::with_capacity(count) }
    }

    /// The number of members, duplicates included.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether the object is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The value of the last member called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json<'a>> {
        self.members.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The value of the last member called `name`, mutably.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Json<'a>> {
        self.members.iter_mut().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Whether a member is called `name`.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.members.iter().any(|(key, _)| key == name)
    }

    /// Appends a member without checking whether the name is taken.
    pub fn push(&mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Json<'a>>) {
        self.members.push((name.into(), value.into()));
    }

    /// Appends a member and returns its value, to be filled in.
    pub(super) fn push_slot(&mut self, name: Cow<'a, str>) -> &mut Json<'a> {
        // In two steps: a pair built first would be moved before it is
        // complete.
        let member = self.members.push_mut((Cow::Borrowed(""), Json::Null));
        member.0 = name;
        &mut member.1
    }

    /// Appends a member if `value` is `Some`.
    pub fn push_some(&mut self, name: impl Into<Cow<'a, str>>, value: Option<impl Into<Json<'a>>>) {
        if let Some(value) = value {
            self.push(name, value);
        }
    }

    /// Replaces the value of the last member called `name`, or appends the
    /// member.
    pub fn insert(&mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Json<'a>>) {
        let name = name.into();
        let value = value.into();
        match self.get_mut(&name) {
            Some(slot) => *slot = value,
            None => self.members.push((name, value)),
        }
    }

    /// Like [`Self::insert`] for every member of another object, in one pass
    /// over each.
    pub fn insert_all(&mut self, others: Self) {
        let places = self.members.iter().enumerate();
        let mut places: HashMap<Cow<'a, str>, usize> =
            places.map(|(place, (name, _))| (name.clone(), place)).collect();
        for (name, value) in others {
            match places.get(&name).and_then(|place| self.members.get_mut(*place)) {
                Some((_, slot)) => *slot = value,
                None => {
                    places.insert(name.clone(), self.members.len());
                    self.members.push((name, value));
                }
            }
        }
    }

    /// Removes every member called `name`; returns the value of the last one.
    pub fn remove(&mut self, name: &str) -> Option<Json<'a>> {
        // In one pass: a hostile line may repeat a name a hundred thousand
        // times.
        let mut removed = None;
        for (_, value) in self.members.extract_if(.., |(key, _)| key == name) {
            removed = Some(value);
        }
        removed
    }

    /// The members in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Json<'a>)> {
        self.members.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// The members in order, mutably.
    pub fn iter_mut(
        &mut self,
    ) -> impl DoubleEndedIterator<Item = (&mut Cow<'a, str>, &mut Json<'a>)> {
        self.members.iter_mut().map(|(name, value)| (name, value))
    }

    /// Keeps the first `count` members.
    pub fn truncate(&mut self, count: usize) {
        self.members.truncate(count);
    }

    /// Detaches names and values from the input they were read from.
    #[must_use]
    pub fn into_owned(self) -> Object<'static> {
        let detach = |(name, value): (Cow<'a, str>, Json<'a>)| {
            let name = match name {
                Cow::Borrowed(name) => {
                    shared_name(name).map_or_else(|| Cow::Owned(name.to_owned()), Cow::Borrowed)
                }
                Cow::Owned(name) => Cow::Owned(name),
            };
            (name, value.into_owned())
        };
        Object { members: self.members.into_iter().map(detach).collect() }
    }
}

impl<'a> IntoIterator for Object<'a> {
    type Item = (Cow<'a, str>, Json<'a>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

impl<'a, K: Into<Cow<'a, str>>, V: Into<Json<'a>>> FromIterator<(K, V)> for Object<'a> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        let members = members.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self { members: members.collect() }
    }
}
