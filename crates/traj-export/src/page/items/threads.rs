//! The agents of a run: the main one, and those it started.

use std::collections::HashMap;

use traj_core::run::{Run, one_line};

use super::{Item, ItemKind, LONGEST, NO_ITEM, flag};
use crate::inspect::agent_calls::AgentCalls;
use crate::page::strings::StringTable;

/// An agent.
#[derive(Clone, Copy, Debug)]
pub(in crate::page) struct PageThread {
    pub(in crate::page) name: u32,
    pub(in crate::page) parent: u16,
    /// The call that started it.
    pub(in crate::page) start_item: u32,
}

/// The agents so far, and when each last handed something to its model.
#[derive(Debug)]
pub(super) struct Threads {
    names: Vec<String>,
    numbers: HashMap<String, u16>,
    handed_over: Vec<f64>,
}

impl Default for Threads {
    fn default() -> Self {
        Self { names: vec![String::new()], numbers: HashMap::new(), handed_over: vec![f64::NAN] }
    }
}

impl Threads {
    /// The number of an agent; those beyond the last number share it.
    pub(super) fn number(&mut self, name: Option<&str>) -> u16 {
        let Some(name) = name else { return 0 };
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let Ok(number) = u16::try_from(self.names.len()) else { return u16::MAX };
        self.names.push(name.to_owned());
        self.handed_over.push(f64::NAN);
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// Finds out when a model call began if it does not say so: when the model
    /// got the prompt or the last result.
    pub(super) fn hand_over(&mut self, item: &mut Item) {
        let Some(last) = self.handed_over.get_mut(usize::from(item.thread)) else { return };
        match item.kind {
            ItemKind::Prompt => *last = item.start,
            ItemKind::Call => {
                let end =
                    if item.duration.is_nan() { item.start } else { item.start + item.duration };
                // The comparison is false while nothing was handed over.
                *last = if *last > end { *last } else { end };
            }
            ItemKind::ModelCall if item.duration.is_nan() => {
                let at = item.start;
                if *last < at {
                    (item.start, item.duration) = (*last, at - *last);
                }
                *last = at;
            }
            _ => {}
        }
    }

    /// The agents with the calls that started them.
    pub(super) fn finish(
        self,
        run: &Run,
        items: &mut [Item],
        strings: &mut StringTable,
    ) -> Vec<PageThread> {
        let names = self.names.iter();
        let mut threads: Vec<PageThread> = names
            .map(|name| {
                let name = strings.shared(&one_line(name, LONGEST));
                PageThread { name, parent: 0, start_item: NO_ITEM }
            })
            .collect();
        let calls = AgentCalls::of(run, self.names.iter().skip(1).map(String::as_str));
        for (number, item) in (0_u32..).zip(items.iter_mut()) {
            if item.kind != ItemKind::Call || item.call_id == 0 {
                continue;
            }
            let Some(id) = strings.get(item.call_id) else { continue };
            let agent = self.names.get(usize::from(item.thread)).filter(|_| item.thread > 0);
            // Rows are counted from 0, events from 1.
            let seq = u64::from(item.row.min(item.result_row)).saturating_add(1);
            for (started, is_last) in calls.started(id, agent.map(String::as_str), seq) {
                let started = self.numbers.get(started).copied().unwrap_or_default();
                let Some(thread) = threads.get_mut(usize::from(started)) else { continue };
                if is_last || thread.start_item == NO_ITEM {
                    item.flags |= flag::STARTS_AGENT;
                    (thread.parent, thread.start_item) = (item.thread, number);
                }
            }
        }
        threads
    }
}
