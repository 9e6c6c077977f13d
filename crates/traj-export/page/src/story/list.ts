/**
 * A list in the flow of the page that draws only the rows in sight.
 *
 * Rows have a fixed height, or an estimated one that is replaced by the
 * measured one. When heights change, the first row in sight stays in place.
 * A list that is taller than browsers allow is scrolled in proportion.
 */

const OVERSCAN = 700;
/** Firefox stops laying out at about 17.8 million pixels. */
const TALLEST = 14_000_000;

export interface ListSource {
  /** Draws the row at a position. */
  draw(position: number): HTMLElement;
  estimate(position: number): number;
  /** Tells which rows are in sight. */
  seen(first: number, last: number): void;
}

export class VirtualList {
  private length = 0;
  private fixed = 0;
  private heights = new Float32Array(0);
  private tops = new Float64Array(1);
  private readonly rows = new Map<number, HTMLElement>();
  private readonly positions = new WeakMap<Element, number>();
  private readonly watch: ResizeObserver;
  private frame = 0;
  /** The row that must stay in place, until somebody scrolls. */
  private pinned = -1;

  constructor(private readonly host: HTMLElement, private readonly source: ListSource, private readonly barHeight: () => number) {
    this.watch = new ResizeObserver((entries) => this.resized(entries));
    const later = (): void => this.schedule();
    window.addEventListener('scroll', later, { passive: true });
    window.addEventListener('resize', later);
    for (const name of ['wheel', 'touchmove', 'mousedown'] as const) {
      window.addEventListener(name, () => { this.pinned = -1; }, { passive: true });
    }
  }

  /** Starts over with this many rows. A fixed height of 0 means that rows are measured. */
  reset(length: number, fixed: number): void {
    this.length = length;
    this.fixed = fixed;
    this.pinned = -1;
    this.empty();
    if (fixed === 0) {
      this.heights = new Float32Array(length);
      for (let at = 0; at < length; at += 1) this.heights[at] = this.source.estimate(at);
      this.sum(0);
    }
    this.host.style.height = `${Math.min(this.total(), TALLEST)}px`;
    this.draw();
  }

  private empty(): void {
    for (const row of this.rows.values()) this.watch.unobserve(row);
    this.rows.clear();
    this.host.textContent = '';
  }

  private sum(from: number): void {
    if (this.tops.length !== this.length + 1) this.tops = new Float64Array(this.length + 1);
    for (let at = from; at < this.length; at += 1) this.tops[at + 1] = this.tops[at] + this.heights[at];
  }

  private total(): number {
    return this.fixed > 0 ? this.length * this.fixed : this.tops[this.length];
  }

  private top(position: number): number {
    return this.fixed > 0 ? position * this.fixed : this.tops[position];
  }

  /** The row at an offset of the list. */
  private at(offset: number): number {
    if (this.fixed > 0) return Math.min(this.length - 1, Math.max(0, Math.floor(offset / this.fixed)));
    let low = 0;
    let high = this.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.tops[middle] <= offset) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }

  /** How far the top of the window is inside the element. */
  private scrolled(): number {
    return -this.host.getBoundingClientRect().top;
  }

  /** Offset in the list that lies at an offset of the element; they differ for a very long list. */
  private toList(offset: number): number {
    const total = this.total();
    if (total <= TALLEST) return offset;
    const view = window.innerHeight;
    return (Math.max(0, offset) / (TALLEST - view)) * (total - view);
  }

  private toElement(offset: number): number {
    const total = this.total();
    if (total <= TALLEST) return offset;
    const view = window.innerHeight;
    return (offset / (total - view)) * (TALLEST - view);
  }

  schedule(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** Draws what is in sight and removes the rest. */
  draw(): void {
    if (this.length === 0) return;
    const scrolled = this.scrolled();
    const offset = this.toList(scrolled);
    const first = this.at(offset - OVERSCAN);
    const last = this.at(offset + window.innerHeight + OVERSCAN);
    for (const [position, row] of this.rows) {
      if (position < first || position > last) {
        this.watch.unobserve(row);
        row.remove();
        this.rows.delete(position);
      }
    }
    let added = false;
    let before: ChildNode | null = this.host.firstChild;
    for (let position = first; position <= last; position += 1) {
      let row = this.rows.get(position);
      if (!row) {
        row = this.make(position);
        this.host.insertBefore(row, before);
        added = true;
      }
      before = row.nextSibling;
    }
    if (added && this.fixed === 0) this.measure();
    this.place();
    this.source.seen(this.at(offset + this.barHeight() + 24), this.at(offset + window.innerHeight));
  }

  private make(position: number): HTMLElement {
    const row = this.source.draw(position);
    row.setAttribute('role', 'listitem');
    row.setAttribute('aria-setsize', String(this.length));
    row.setAttribute('aria-posinset', String(position + 1));
    this.rows.set(position, row);
    this.positions.set(row, position);
    if (this.fixed === 0) this.watch.observe(row);
    return row;
  }

  private place(): void {
    const shift = this.total() > TALLEST ? this.scrolled() - this.toList(this.scrolled()) : 0;
    for (const [position, row] of this.rows) row.style.top = `${this.top(position) + shift}px`;
  }

  private resized(entries: ResizeObserverEntry[]): void {
    if (entries.some((entry) => this.positions.has(entry.target)) && this.measure()) {
      this.place();
      this.schedule();
    }
  }

  /** Takes over the heights of the rows that are drawn. True if any changed. */
  private measure(): boolean {
    const offset = this.scrolled() + this.barHeight();
    const anchor = this.pinned >= 0 ? this.pinned : this.at(Math.max(0, offset));
    const before = this.tops[anchor];
    let from = this.length;
    for (const [position, row] of this.rows) {
      const height = row.offsetHeight;
      if (height > 0 && Math.abs(height - this.heights[position]) > 0.5) {
        this.heights[position] = height;
        from = Math.min(from, position);
      }
    }
    if (from === this.length) return false;
    this.sum(from);
    this.host.style.height = `${this.total()}px`;
    const moved = this.tops[anchor] - before;
    if (Math.abs(moved) > 0.5 && offset > 0) window.scrollBy(0, moved);
    return true;
  }

  /** Draws one row again, if it is in sight. */
  redraw(position: number): void {
    const row = this.rows.get(position);
    if (!row) return;
    this.watch.unobserve(row);
    const fresh = this.make(position);
    row.replaceWith(fresh);
    if (this.fixed === 0) this.measure();
    this.place();
  }

  row(position: number): HTMLElement | undefined {
    return this.rows.get(position);
  }

  redrawAll(): void {
    for (const position of [...this.rows.keys()]) this.redraw(position);
  }

  /** Brings a row into sight; to the top of the window unless it is visible already. */
  show(position: number, always: boolean): void {
    const bar = this.barHeight() + 12;
    const offset = this.scrolled();
    const top = this.top(position);
    const height = this.fixed > 0 ? this.fixed : this.heights[position];
    const listTop = this.toList(offset);
    const visible = top >= listTop + bar - 12 && top + Math.min(height, 240) <= listTop + window.innerHeight - 24;
    this.pinned = position;
    if (visible && !always) return;
    const delta = this.toElement(Math.max(0, top - bar)) - offset;
    window.scrollBy({ top: delta, behavior: 'instant' });
    this.draw();
    if (this.fixed > 0) return;
    // What was drawn above may be taller than expected.
    const row = this.rows.get(position);
    const wrong = row ? row.getBoundingClientRect().top - bar : 0;
    if (Math.abs(wrong) > 1) {
      window.scrollBy({ top: wrong, behavior: 'instant' });
      this.draw();
    }
  }
}
