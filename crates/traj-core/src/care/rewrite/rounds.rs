//! The order of steps that makes a rewrite lossless.
//!
//! The file under the session's name is the *current generation*. A round builds
//! a candidate from it, takes over lines appended in the meantime, and exchanges
//! the two in one step; the old generation is then *retired*. A writer that
//! opened it before the exchange may still append to it, so retired generations
//! are watched until no process can write to them. Another round inserts such
//! late lines where they belong: appending them at the end would put them after
//! lines written later.

/// Whether anyone has a retired generation open for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "yes, no, and cannot tell")]
pub enum Writers {
    /// Nobody: its length is final.
    None,
    /// Somebody.
    Some,
    /// The platform cannot tell.
    Unknown,
}

/// A part of a candidate: bytes `from..to` of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a range of a numbered file")]
pub struct GenerationRange {
    /// The generation, counted from 0 for the original file.
    pub generation: usize,
    /// First byte.
    pub from: u64,
    /// One past the last byte.
    pub to: u64,
}

/// What an adapter can do with the generations of one file.
pub trait Generations {
    /// The adapter's error.
    type Error;

    /// The length of a generation right now.
    ///
    /// # Errors
    /// When the adapter cannot tell.
    fn length(&mut self, generation: usize) -> Result<u64, Self::Error>;

    /// Appends bytes of a generation to the candidate, which is created by the
    /// first call after an exchange.
    ///
    /// # Errors
    /// When reading or writing fails.
    fn copy(&mut self, piece: GenerationRange) -> Result<(), Self::Error>;

    /// The number of bytes in `from..to` of a generation up to and including
    /// its last line end.
    ///
    /// # Errors
    /// When reading fails.
    fn whole_lines(&mut self, piece: GenerationRange) -> Result<u64, Self::Error>;

    /// Makes the candidate durable in its current state.
    ///
    /// # Errors
    /// When the storage reports a failure.
    fn sync(&mut self) -> Result<(), Self::Error>;

    /// Exchanges the candidate and the current generation in one step, if that is
    /// still the current file, and makes the result durable.
    ///
    /// # Errors
    /// When another file has taken the name, or the step failed and nothing
    /// changed; or when the exchange was made but may not be durable.
    fn exchange(&mut self) -> Result<(), Self::Error>;

    /// Whether anyone has this generation open for writing.
    fn writers(&mut self, generation: usize) -> Writers;

    /// Lets other processes run for a moment.
    fn pause(&mut self);
}

/// How long retired generations are watched, in pauses.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SettleLimits {
    /// Pauses after which a generation counts as final if the platform cannot
    /// tell.
    pub quiet_pauses: u32,
    /// Pauses after which a writer that keeps the file open is given up on.
    pub held_pauses: u32,
    /// Pauses to wait before an exchange for a moment without a writer.
    pub calm_pauses: u32,
    /// Exchanges after which a writer that never stops is given up on.
    pub rounds: u32,
}

impl SettleLimits {
    /// Three quiet pauses, two hundred for a writer that keeps the file open,
    /// twenty for a calm moment, and a thousand exchanges.
    #[must_use]
    pub const fn standard() -> Self {
        Self { quiet_pauses: 3, held_pauses: 200, calm_pauses: 20, rounds: 1_000 }
    }
}

/// The result of a rewrite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewriteResult {
    /// Bytes taken over that were appended after the rewrite began.
    pub merged: u64,
    /// Exchanges made.
    pub rounds: u32,
    /// A writer still has a retired generation open, or the last check failed:
    /// the retired generations must be kept.
    pub held: bool,
}

/// A generation that is no longer the current one.
#[derive(Debug)]
struct RetiredGeneration {
    generation: usize,
    /// Its bytes up to here are in the current generation.
    taken: u64,
    /// Where its next bytes belong in the current generation.
    place: u64,
}

/// Waits until no process has the original file open for writing; `false` if a
/// writer keeps it open, so that a replacement would miss its lines.
pub fn released<G: Generations>(files: &mut G, limits: SettleLimits) -> bool {
    for _ in 0..limits.held_pauses {
        if files.writers(0) != Writers::Some {
            return true;
        }
        files.pause();
    }
    files.writers(0) != Writers::Some
}

/// Puts a candidate in place and takes over late lines. The edited part of the
/// candidate is already written: it is `edited` bytes long, made from the first
/// `snapshot` bytes of generation 0.
///
/// # Errors
/// The adapter's errors before the first exchange; nothing has changed then. A
/// later failure cannot be undone, and is reported as [`RewriteResult::held`].
pub fn settle<G: Generations>(
    files: &mut G,
    snapshot: u64,
    edited: u64,
    limits: SettleLimits,
) -> Result<RewriteResult, G::Error> {
    let mut settled = RewriteResult::default();
    match run(files, snapshot, edited, limits, &mut settled) {
        Err(error) if settled.rounds == 0 => Err(error),
        Err(_) => Ok(RewriteResult { held: true, ..settled }),
        Ok(()) => Ok(settled),
    }
}

fn run<G: Generations>(
    files: &mut G,
    snapshot: u64,
    edited: u64,
    limits: SettleLimits,
    settled: &mut RewriteResult,
) -> Result<(), G::Error> {
    let mut retired: Vec<RetiredGeneration> = Vec::new();
    let mut current = 0;
    let mut taken = snapshot;
    let mut length = edited;
    loop {
        // The candidate covers the current generation up to `taken`.
        taken = take_over(files, current, taken, &mut length, settled)?;
        files.sync()?;
        // Let writers that the sync held up finish first: each of them would
        // become a straggler and cost another round.
        calm(files, current, limits);
        taken = take_over(files, current, taken, &mut length, settled)?;
        files.exchange()?;
        settled.rounds += 1;
        retired.push(RetiredGeneration { generation: current, taken, place: length });
        current += 1;

        let Some(pieces) = stragglers(files, &mut retired, limits, settled)? else {
            return Ok(());
        };
        if settled.rounds >= limits.rounds {
            settled.held = true;
            return Ok(());
        }
        let end = files.length(current)?;
        length = rebuild(files, current, end, &mut retired, &pieces)?;
        settled.merged += pieces.iter().map(|piece| piece.to - piece.from).sum::<u64>();
        taken = end;
    }
}

/// Waits briefly for a moment without a writer.
fn calm<G: Generations>(files: &mut G, current: usize, limits: SettleLimits) {
    for _ in 0..limits.calm_pauses {
        if files.writers(current) != Writers::Some {
            return;
        }
        files.pause();
    }
}

/// Copies what the current generation gained since `taken`.
fn take_over<G: Generations>(
    files: &mut G,
    current: usize,
    mut taken: u64,
    length: &mut u64,
    settled: &mut RewriteResult,
) -> Result<u64, G::Error> {
    loop {
        let end = files.length(current)?;
        if end <= taken {
            return Ok(taken);
        }
        files.copy(GenerationRange { generation: current, from: taken, to: end })?;
        *length += end - taken;
        settled.merged += end - taken;
        taken = end;
    }
}

/// Waits until retired generations are final. Returns what they gained, or
/// nothing when all of it is in place.
fn stragglers<G: Generations>(
    files: &mut G,
    retired: &mut Vec<RetiredGeneration>,
    limits: SettleLimits,
    settled: &mut RewriteResult,
) -> Result<Option<Vec<GenerationRange>>, G::Error> {
    let mut pauses = 0;
    loop {
        let mut pieces = Vec::new();
        let mut open = false;
        let mut unknown = false;
        let mut done = Vec::new();
        for old in retired.iter() {
            // Ask for writers first, then for the length: without a writer it is
            // final.
            let writers = files.writers(old.generation);
            let is_final = match writers {
                Writers::None => true,
                Writers::Some => pauses >= limits.held_pauses,
                Writers::Unknown => pauses >= limits.quiet_pauses,
            };
            let gained = GenerationRange {
                generation: old.generation,
                from: old.taken,
                to: files.length(old.generation)?.max(old.taken),
            };
            let whole =
                if is_final { gained.to - gained.from } else { files.whole_lines(gained)? };
            if whole > 0 {
                pieces.push(GenerationRange { to: gained.from + whole, ..gained });
            } else if writers == Writers::None {
                done.push(old.generation);
            }
            open |= writers == Writers::Some;
            unknown |= writers == Writers::Unknown;
        }
        // Nobody can write to these any more: they need no further check.
        retired.retain(|old| !done.contains(&old.generation));
        if !pieces.is_empty() {
            return Ok(Some(pieces));
        }
        let patience = if open { limits.held_pauses } else { limits.quiet_pauses };
        if (!open && !unknown) || pauses >= patience {
            settled.held = open;
            return Ok(None);
        }
        files.pause();
        pauses += 1;
    }
}

/// Builds a candidate from the current generation up to `end`, inserting `pieces`
/// of retired ones; returns its length.
fn rebuild<G: Generations>(
    files: &mut G,
    current: usize,
    end: u64,
    retired: &mut [RetiredGeneration],
    pieces: &[GenerationRange],
) -> Result<u64, G::Error> {
    let mut from = 0;
    let mut shift = 0;
    // Retired generations are ordered by their places.
    for old in retired.iter_mut() {
        if let Some(piece) = pieces.iter().find(|piece| piece.generation == old.generation) {
            if old.place > from {
                files.copy(GenerationRange { generation: current, from, to: old.place })?;
                from = old.place;
            }
            files.copy(*piece)?;
            shift += piece.to - piece.from;
            old.taken = piece.to;
        }
        old.place += shift;
    }
    if end > from {
        files.copy(GenerationRange { generation: current, from, to: end })?;
    }
    Ok(end + shift)
}
