//! Decides which containers of a row are cut, so that the rest fits into
//! memory.
//!
//! A row is usually too heavy because of a single list. Each container is
//! charged for its own content: values that are not in another heavy container.
//! When the row exceeds its budget, the heaviest container is cut and its
//! siblings stay.

/// The budget of a shortened row: its bytes, plus the cost of each value.
const BUDGET: u64 = 4 * 1024 * 1024;

/// The cost of a value besides its bytes, because a parsed value takes more
/// memory than its bytes. With it, a row that is heavy only because of its
/// values also exceeds the budget.
const VALUE_COST: u64 = 20;

/// The cost of an object, even with a single member.
const OBJECT_COST: u64 = 4 * VALUE_COST;

/// The cost of the marker that replaces a cut value.
const MARKER_COST: u64 = 200;

/// The length of the longest JSON literal name.
const LONGEST_WORD: usize = 5;

/// Thresholds for shortening a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct CutPlan {
    /// Longer strings are replaced.
    pub(super) max_text: usize,
    /// Containers that cost less are not cut.
    heavy: u64,
}

impl CutPlan {
    /// The thresholds to try in order: long strings are cut before containers,
    /// and small containers only as a last resort.
    pub(super) const ALL: [Self; 4] = [
        Self { max_text: 256 * 1024, heavy: BUDGET / 16 },
        Self { max_text: 32 * 1024, heavy: BUDGET / 16 },
        Self { max_text: 4 * 1024, heavy: BUDGET / 16 },
        Self { max_text: 4 * 1024, heavy: 1024 },
    ];
}

/// The result of planning.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PlanOutcome {
    /// The start positions of the containers to cut, in order.
    Cuts(Vec<u64>),
    /// The strings alone exceed the budget: shorter ones must be cut, too.
    LongTexts,
    /// The row is not JSON.
    NotJson,
    /// The row exceeds the budget whatever is cut.
    TooLarge,
}

/// Plans the cuts of a row, reading it byte by byte.
pub(super) struct Planner {
    measure: CutPlan,
    open: Vec<OpenContainer>,
    /// How many containers are open inside the innermost one, if that one is
    /// cut.
    skipped: Option<usize>,
    /// Heavy containers that have ended.
    ended: Vec<EndedContainer>,
    cuts: Vec<u64>,
    /// The cost of everything that is not cut; `texts` is the part of it that
    /// strings cause and a smaller threshold would replace.
    total: u64,
    texts: u64,
    passed: u64,
    text: Option<OpenString>,
    word: usize,
    problem: Option<PlanOutcome>,
}

/// An open container.
struct OpenContainer {
    start: u64,
    loose: u64,
}

/// A heavy container that has ended.
struct EndedContainer {
    start: u64,
    end: u64,
    loose: u64,
}

/// An open string.
struct OpenString {
    length: usize,
    escaped: bool,
}

impl Planner {
    pub(super) const fn new(measure: CutPlan) -> Self {
        Self {
            measure,
            open: Vec::new(),
            skipped: None,
            ended: Vec::new(),
            cuts: Vec::new(),
            total: 0,
            texts: 0,
            passed: 0,
            text: None,
            word: 0,
            problem: None,
        }
    }

    /// Takes the next byte, unless the outcome is already decided.
    pub(super) fn takes(&mut self, byte: u8) -> bool {
        self.push(byte);
        self.problem.is_none()
    }

    pub(super) fn finish(mut self) -> PlanOutcome {
        if let Some(problem) = self.problem {
            return problem;
        }
        if self.text.is_some() || !self.open.is_empty() {
            return PlanOutcome::NotJson;
        }
        self.cuts.sort_unstable();
        PlanOutcome::Cuts(self.cuts)
    }

    fn push(&mut self, byte: u8) {
        self.passed += 1;
        if let Some(text) = &mut self.text {
            text.length += 1;
            if std::mem::take(&mut text.escaped) {
                return;
            }
            match byte {
                b'\\' => text.escaped = true,
                b'"' => {
                    let length = text.length;
                    self.text = None;
                    self.charge_text(length);
                }
                _ => {}
            }
            return;
        }
        self.word = if byte.is_ascii_alphabetic() { self.word + 1 } else { 0 };
        match byte {
            b' ' | b'\t' | b'\r' => {}
            b'"' => self.text = Some(OpenString { length: 0, escaped: false }),
            b'[' | b'{' => match &mut self.skipped {
                Some(inside) => *inside += 1,
                None => {
                    self.open.push(OpenContainer { start: self.passed - 1, loose: 0 });
                    self.charge(1 + if byte == b'{' { OBJECT_COST } else { VALUE_COST });
                }
            },
            b']' | b'}' => self.close(),
            b',' => self.charge(1 + VALUE_COST),
            b':' | b'0'..=b'9' | b'+' | b'-' | b'.' => self.charge(1),
            _ if byte.is_ascii_alphabetic() && self.word <= LONGEST_WORD => self.charge(1),
            _ => self.problem = Some(PlanOutcome::NotJson),
        }
    }

    fn close(&mut self) {
        if let Some(inside) = &mut self.skipped {
            if *inside > 0 {
                *inside -= 1;
                return;
            }
            self.skipped = None;
            self.open.pop();
            self.charge(MARKER_COST);
            return;
        }
        self.charge(1);
        // The charge may have cut this container, or one around it.
        if let Some(inside) = self.skipped.as_mut().filter(|inside| **inside > 0) {
            *inside -= 1;
            return;
        }
        let was_cut = self.skipped.take().is_some();
        let Some(OpenContainer { start, loose }) = self.open.pop() else {
            self.problem = Some(PlanOutcome::NotJson);
            return;
        };
        if was_cut {
            self.charge(MARKER_COST);
        } else if loose >= self.measure.heavy && !self.open.is_empty() {
            self.ended.push(EndedContainer { start, end: self.passed, loose });
        } else if let Some(outer) = self.open.last_mut() {
            outer.loose += loose;
        }
    }

    fn charge_text(&mut self, length: usize) {
        if length > self.measure.max_text {
            self.charge(MARKER_COST);
            return;
        }
        let cost = length as u64 + 1;
        let [.., smallest] = CutPlan::ALL;
        if self.skipped.is_none() && length > smallest.max_text {
            self.texts += cost;
            if self.texts > BUDGET / 2 {
                self.problem = Some(PlanOutcome::LongTexts);
            }
        }
        self.charge(cost);
    }

    fn charge(&mut self, cost: u64) {
        if self.skipped.is_some() {
            return;
        }
        self.total += cost;
        if let Some(open) = self.open.last_mut() {
            open.loose += cost;
        }
        while self.total > BUDGET && self.problem.is_none() {
            self.cut_heaviest();
        }
    }

    fn cut_heaviest(&mut self) {
        let ended = self.ended.iter().enumerate().max_by_key(|(_, ended)| ended.loose);
        let ended = ended.map(|(at, ended)| (at, ended.loose));
        // The row itself cannot be cut.
        let open = self.open.iter().enumerate().skip(1).max_by_key(|(_, open)| open.loose);
        let open = open.map(|(at, open)| (at, open.loose));
        match (ended, open) {
            (Some((at, loose)), open) if open.is_none_or(|(_, other)| other < loose) => {
                self.cut_ended(at);
            }
            (_, Some((at, loose))) if loose >= self.measure.heavy => self.cut_open(at),
            _ => match self.heavy_chain() {
                Some(at) => self.cut_open(at),
                None => self.problem = Some(PlanOutcome::TooLarge),
            },
        }
    }

    /// The innermost open container that is heavy together with everything open
    /// in it.
    fn heavy_chain(&self) -> Option<usize> {
        let mut sum = 0;
        for (at, open) in self.open.iter().enumerate().skip(1).rev() {
            sum += open.loose;
            if sum >= self.measure.heavy {
                return Some(at);
            }
        }
        None
    }

    fn cut_ended(&mut self, at: usize) {
        let EndedContainer { start, end, loose } = self.ended.swap_remove(at);
        let inside = |ended: &EndedContainer| (start..end).contains(&ended.start);
        let more: u64 = self.ended.iter().filter(|ended| inside(ended)).map(|it| it.loose).sum();
        self.ended.retain(|ended| !inside(ended));
        self.total = (self.total + MARKER_COST).saturating_sub(loose + more);
        self.cuts.push(start);
    }

    fn cut_open(&mut self, at: usize) {
        let Some(start) = self.open.get(at).map(|open| open.start) else { return };
        let inside = self.open.len() - at - 1;
        let open: u64 = self.open.drain(at..).map(|open| open.loose).sum();
        let ended: u64 =
            self.ended.iter().filter(|ended| ended.start >= start).map(|ended| ended.loose).sum();
        self.ended.retain(|ended| ended.start < start);
        self.total = self.total.saturating_sub(open + ended);
        self.open.push(OpenContainer { start, loose: 0 });
        self.skipped = Some(inside);
        self.cuts.push(start);
    }
}
