/** The find bar: counts over everything, steps through matches, opens what hides them. */
import { button, el, toast } from '../base/dom';
import { count, whole } from '../base/format';
import { icon } from '../base/icons';
import type { Run } from '../base/run';
import { pattern, Search } from '../data/search';
import { windowOf } from '../text/output';
import type { Story } from '../story/story';
import { paint, rangesIn } from './marks';

const TYPING_MILLIS = 120;
const NATIVE_LIMIT = 4000;

export class FindBar {
  readonly element: HTMLElement;
  readonly input = el('input', { type: 'search', placeholder: 'Find in everything', 'aria-label': 'Find in everything', autocomplete: 'off', spellcheck: 'false', enterkeyhint: 'search', id: 'find' });
  search: Search | null = null;
  private readonly counter = el('span.cnt.num', { role: 'status' });
  private readonly bar = el('progress', { max: 1, hidden: true, 'aria-label': 'Progress of find' });
  private readonly steps: HTMLButtonElement[];
  private readonly only: HTMLButtonElement;
  private readonly hint = el('kbd', { 'aria-hidden': 'true' }, '/');
  private run: Run | null = null;
  private story: Story | null = null;
  private item = -1;
  private match = 0;
  private timer = 0;
  private frame = 0;
  /** The match that was stepped to. */
  private current: Range | null = null;
  private finished = true;
  /** A step that somebody asked for before the first match was found. */
  private wanted: 1 | -1 | 0 = 0;

  constructor() {
    this.steps = [
      button('btn q ic', 'Previous match', () => void this.step(-1), icon('up')),
      button('btn q ic', 'Next match', () => void this.step(1), icon('down')),
    ];
    this.only = button('btn q ic only', 'Show only events that match', () => this.toggleOnly(), icon('flag'));
    this.only.setAttribute('aria-pressed', 'false');
    this.element = el('div.find', { role: 'search' }, icon('search'), this.input, this.counter, this.only, ...this.steps, this.hint, this.bar);
    this.input.addEventListener('input', () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => {
        const query = this.input.value.trim();
        if (query !== this.search?.query) this.start(query);
      }, TYPING_MILLIS);
    });
    this.input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') {
        event.preventDefault();
        clearTimeout(this.timer);
        if (this.input.value.trim() !== (this.search?.query ?? '')) this.start(this.input.value.trim());
        void this.step(event.shiftKey ? -1 : 1);
      }
    });
    this.show();
  }

  attach(run: Run, story: Story): void {
    this.run = run;
    this.story = story;
    this.search = new Search(run.content, run.head.rows, run.head.rowChunks, ({ done, of, finished }) => {
      this.finished = finished;
      this.bar.value = of > 0 ? done / of : 1;
      this.show();
      if (this.wanted !== 0 && (finished || (this.search?.total ?? 0) > 0)) {
        const direction = this.wanted;
        this.wanted = 0;
        void this.step(direction);
      }
      run.tell('find');
    });
    run.on('filter', () => {
      if (!this.search || this.search.withOthers === story.filter.others) return;
      this.search.withOthers = story.filter.others;
      this.show();
    });
    for (const topic of ['scrolled', 'find', 'select', 'filter'] as const) run.on(topic, () => this.schedule());
    document.addEventListener('toggle', () => this.schedule(), true);
    document.addEventListener('redrawn', () => this.schedule());
    if (this.input.value.trim()) this.start(this.input.value.trim());
  }

  get active(): boolean {
    return (this.search?.query ?? '') !== '';
  }

  focus(): void {
    this.input.focus();
    this.input.select();
  }

  clear(): void {
    this.input.value = '';
    this.start('');
    this.input.blur();
  }

  start(query: string): void {
    const { search, story } = this;
    if (!search || !this.run) return;
    this.item = -1;
    this.match = 0;
    this.wanted = 0;
    this.current = null;
    this.finished = query === '';
    this.bar.value = 0;
    if (story?.filter.matches) {
      story.filter.matches = null;
      story.refilter();
    }
    if (query === '') search.clear();
    else void search.start(query).catch(() => toast('Some of the text cannot be decoded'));
    this.show();
    this.run.tell('find');
  }

  /** What the bar says: the place among the matches, or how many there are. */
  private show(): void {
    const { search } = this;
    const active = this.active;
    const total = search?.total ?? 0;
    const at = active && search && this.item >= 0 && total > 0 ? `${whole(search.place(this.item, this.match))} of ${whole(total)}` : '';
    this.element.dataset['query'] = search?.query ?? '';
    this.element.dataset['done'] = String(this.finished);
    this.counter.textContent = !active ? '' : at || (total === 0 && this.finished ? 'No match' : `${count(total, 'match', 'matches')}${this.finished ? '' : '…'}`);
    const left = active ? search?.left ?? 0 : 0;
    this.counter.title = left > 0 ? `${count(left, 'more match', 'more matches')} in other rows` : '';
    this.counter.classList.toggle('none', active && total === 0 && this.finished);
    this.bar.hidden = this.finished;
    for (const step of [...this.steps, this.only]) step.hidden = !active;
    this.only.setAttribute('aria-pressed', String(Boolean(this.story?.filter.matches)));
    this.hint.hidden = active;
  }

  /** Shows only the events that match, or all again. */
  toggleOnly(): void {
    const { story, search } = this;
    if (!story || !search || !this.active) return;
    if (!this.finished) return toast('Find is still reading');
    story.filter.matches = story.filter.matches ? null : search.counts;
    story.filter.onlyOthersMatch = search.onlyOthers;
    story.refilter();
    this.show();
  }

  /** Goes to the next or previous match. */
  async step(direction: 1 | -1): Promise<void> {
    const { search, story, run } = this;
    if (!search || !story || !run || !this.active) return;
    const from = this.item >= 0 ? this.item : direction > 0 ? run.selected - 1 : run.selected + 1;
    const next = search.step(from, this.item >= 0 ? this.match : -1, direction);
    if (!next) {
      if (this.finished) toast('No match');
      else this.wanted = direction;
      return;
    }
    await this.goTo(next.item, next.match);
  }

  private async goTo(item: number, match: number): Promise<void> {
    const { story, run, search } = this;
    if (!story || !run || !search) return;
    this.item = item;
    this.match = match;
    await run.content.load(item);
    story.select(item, true);
    const expression = pattern(search.query);
    let element = story.elementOf(item);
    if (element && rangesIn(element, expression).length < search.counts[item]) {
      story.open(item, true);
      element = story.elementOf(item);
    }
    if (element) this.reveal(element, expression);
    this.show();
    run.tell('find');
  }

  /** Scrolls to the match inside its item, also inside a long output. */
  private reveal(element: Element, expression: RegExp): void {
    let ranges = rangesIn(element, expression);
    let at = this.match;
    const inner = element.querySelector('.out.win');
    const view = inner && windowOf(inner);
    if (inner && view) {
      const before = ranges.filter((range) => !inner.contains(range.startContainer)
        && (inner.compareDocumentPosition(range.startContainer) & Node.DOCUMENT_POSITION_PRECEDING) !== 0).length;
      if (at >= before) {
        const drawn = view.reveal(expression, at - before);
        ranges = rangesIn(element, expression);
        at = drawn < 0 ? ranges.length : before + drawn;
      }
    }
    const range = ranges[at] ?? ranges[ranges.length - 1];
    if (!range) return;
    this.current = range;
    const box = range.getBoundingClientRect();
    const top = (this.story?.barBottom() ?? 110) + 24;
    if (box.height > 0 && (box.top < top || box.bottom > window.innerHeight - 40)) {
      if (this.story?.compact) range.startContainer.parentElement?.scrollIntoView({ block: 'center' });
      else window.scrollBy({ top: box.top - Math.max(top, window.innerHeight * 0.4), behavior: 'instant' });
    }
  }

  private schedule(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.mark();
    });
  }

  /** Marks the matches that are drawn. */
  private mark(): void {
    const { story, search } = this;
    if (!story || !search || !this.active) {
      paint('find', []);
      return paint('find-on', []);
    }
    const expression = pattern(search.query);
    const ranges = [...rangesIn(story.drawnItems, expression), ...(story.compact ? rangesIn(story.details.element, expression) : [])];
    paint('find', ranges.slice(0, NATIVE_LIMIT));
    const element = this.item >= 0 ? story.elementOf(this.item) : null;
    if (this.current && !this.current.startContainer.isConnected) this.current = null;
    if (element && !this.current) this.current = rangesIn(element, expression)[this.match] ?? null;
    paint('find-on', this.current && element?.contains(this.current.startContainer) ? [this.current] : []);
  }
}
