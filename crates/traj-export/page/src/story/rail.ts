/** The tree beside the conversation: turns, and what started or changed in them. */
import { append, el, replace, size } from '../base/dom';
import { count, duration, whole } from '../base/format';
import { icon } from '../base/icons';
import { nameOf, type Run } from '../base/run';
import { withoutAnsi } from '../data/content';
import { Flag, Kind, NONE } from '../data/index';
import { appendText } from '../text/chips';

/** More turns than this are drawn around the one in sight. */
const AT_ONCE = 120;

interface TurnFacts {
  turn: number;
  first: number;
  millis: number;
  failed: number;
  /** Sub-agents, compactions and branches of the turn. */
  cuts: number[];
}

export class Rail {
  readonly element = el('nav.rail', { 'aria-label': 'Turns' });
  private readonly turns: TurnFacts[] = [];
  private from = -1;
  private current = 0;

  constructor(private readonly run: Run) {
    const { index } = run;
    const starts = new Set(index.threads.startItem);
    for (let turn = 1; turn <= index.turnCount; turn += 1) {
      const first = index.turnStart(turn);
      if (first === NONE) continue;
      const end = index.turnEnd(turn);
      const facts: TurnFacts = { turn, first, millis: NaN, failed: 0, cuts: [] };
      let last = NaN;
      for (let item = first; item < end; item += 1) {
        if (index.flags[item] & Flag.failed) facts.failed += 1;
        if (index.kind[item] === Kind.compaction || index.kind[item] === Kind.branches || index.flags[item] & Flag.startsAgent || starts.has(item)) facts.cuts.push(item);
        const at = index.end(item);
        if (!(at <= last)) last = at;
      }
      facts.millis = last - index.start[first];
      this.turns.push(facts);
    }
    this.element.hidden = this.turns.length === 0;
  }

  private entry(place: number): HTMLElement[] {
    const { run } = this;
    const facts = this.turns[place];
    const { turn } = facts;
    const text = el('span.x');
    const link = el('a', { href: `#${nameOf(facts.first)}`, 'data-turn': turn },
      el('span.n.num', null, turn), text,
      el('span.s', null, duration(facts.millis), facts.failed > 0 ? el('span.bad', null, `${whole(facts.failed)} failed`) : null));
    if (turn === this.current) link.setAttribute('aria-current', 'true');
    const fill = (): void => {
      text.textContent = '';
      appendText(text, withoutAnsi(run.content.line(facts.first)).slice(0, 140) || `Turn ${turn}`);
      // A chip inside a link would be a control inside a control.
      for (const chip of text.querySelectorAll('button')) chip.replaceWith(chip.textContent ?? '');
    };
    if (run.content.ready(facts.first)) fill();
    else run.content.load(facts.first).then(fill, () => { text.textContent = `Turn ${turn}`; });
    const parts: HTMLElement[] = [link];
    for (const item of facts.cuts.slice(0, 12)) parts.push(this.cut(item));
    if (facts.cuts.length > 12) parts.push(el('span.cut', null, `${count(facts.cuts.length - 12, 'more')}`.replace('mores', 'more')));
    return parts;
  }

  /** A sub-agent, a compaction or a branch under its turn. */
  private cut(item: number): HTMLElement {
    const { index } = this.run;
    const kind = index.kind[item];
    if (kind === Kind.compaction) return el('a.cut', { href: `#${nameOf(item)}` }, icon('compact'), 'compacted');
    if (kind === Kind.branches) return el('a.cut', { href: `#${nameOf(item)}` }, icon('branch'), index.labelOf(item) || 'branches');
    const thread = index.threads.startItem.indexOf(item);
    const name = thread > 0 ? index.threadName(thread) : index.labelOf(item);
    const link = el('a.cut', { href: `#${nameOf(item)}` }, icon('branch'), name);
    const depth = thread > 0 ? index.depth(thread) : 1;
    if (depth > 1) size(link, { paddingLeft: `${32 + (depth - 1) * 14}px` });
    return link;
  }

  /** Marks the turn in sight; draws the turns around it if there are very many. */
  mark(turn: number): void {
    const total = this.turns.length;
    if (total === 0) return;
    const from = total <= AT_ONCE ? 0 : Math.max(0, Math.min(total - AT_ONCE, turn - AT_ONCE / 2));
    const near = total <= AT_ONCE || (this.from >= 0 && turn > this.from + 10 && turn < this.from + AT_ONCE - 10);
    this.current = turn;
    if (this.from < 0 || !near) {
      this.from = from;
      replace(this.element);
      if (from > 0) append(this.element, [el('span.cut', null, `${whole(from)} earlier`)]);
      for (let at = from; at < Math.min(total, from + AT_ONCE); at += 1) append(this.element, this.entry(at));
      if (from + AT_ONCE < total) append(this.element, [el('span.cut', null, `${whole(total - from - AT_ONCE)} later`)]);
    }
    for (const link of this.element.querySelectorAll<HTMLElement>('a[data-turn]')) {
      const here = Number(link.dataset['turn']) === turn;
      if (here && link.getAttribute('aria-current') !== 'true') {
        link.setAttribute('aria-current', 'true');
        const box = this.element;
        if (link.offsetTop < box.scrollTop || link.offsetTop + link.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = link.offsetTop - 40;
      } else if (!here) link.removeAttribute('aria-current');
    }
  }
}
