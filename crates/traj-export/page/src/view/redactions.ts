/** Equal chips: how many places have the same value, and a way to the next one. */
import { el, replace, toast } from '../base/dom';
import { count } from '../base/format';
import type { Run } from '../base/run';
import { Search } from '../data/search';
import type { Story } from '../story/story';
import { watchChips } from '../text/chips';

const HOVER_MILLIS = 120;

interface Places {
  total: number;
  counts: Uint32Array;
}

export function startRedactions(run: Run, story: Story): void {
  const tip = el('div.tip', { id: 'rxtip', role: 'status', hidden: true });
  document.body.appendChild(tip);
  const known = new Map<string, Places>();
  const search = new Search(run.content, run.head.rows, run.head.rowChunks, () => undefined);
  search.withOthers = true;
  let timer = 0;
  let over = '';

  const places = async (marker: string): Promise<Places | null> => {
    const found = known.get(marker);
    if (found) return found;
    await search.start(`<redacted:${marker}>`);
    if (search.query !== `<redacted:${marker}>`) return null;
    const result = { total: search.total, counts: search.counts.slice() };
    if (known.size > 20) known.clear();
    known.set(marker, result);
    return result;
  };

  const show = (marker: string, chip: HTMLElement, total: number | null): void => {
    const kind = marker.split(':')[0];
    replace(tip, el('b', null, kind), ' redacted', total === null ? '' : total > 1 ? `, the same value in ${count(total, 'place')}` : ', only here');
    tip.hidden = false;
    const box = chip.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(window.innerWidth - tip.offsetWidth - 8, box.left))}px`;
    tip.style.top = `${box.bottom + 6 + tip.offsetHeight > window.innerHeight ? box.top - tip.offsetHeight - 6 : box.bottom + 6}px`;
  };

  watchChips({
    over(marker, chip) {
      clearTimeout(timer);
      over = marker ?? '';
      if (!marker || !chip) return void (tip.hidden = true);
      show(marker, chip, known.get(marker)?.total ?? null);
      timer = window.setTimeout(() => {
        void places(marker).then((found) => {
          if (found && over === marker && chip.isConnected) show(marker, chip, found.total);
        });
      }, HOVER_MILLIS);
    },
    next(marker, chip) {
      const row = chip.closest<HTMLElement>('[data-item]');
      const from = row ? Number(row.dataset['item']) : run.selected;
      void places(marker).then((found) => {
        if (!found) return;
        // Another chip in the same event comes first.
        const inside = row ? [...row.querySelectorAll<HTMLElement>('.rx')].filter((other) => other.dataset['marker'] === marker) : [];
        const following = inside[inside.indexOf(chip) + 1];
        if (following) return following.focus();
        const { counts } = found;
        for (let moved = 1; moved <= counts.length; moved += 1) {
          const item = (from + moved) % counts.length;
          if (counts[item] === 0) continue;
          if (item === from) return toast('This value is only here');
          return void go(item, marker);
        }
      });
    },
  });

  /** Opens the event and moves the focus to the chip in it. */
  const go = async (item: number, marker: string): Promise<void> => {
    await run.content.load(item);
    story.select(item, true);
    const look = (): HTMLElement | undefined =>
      [...(story.elementOf(item)?.querySelectorAll<HTMLElement>('.rx') ?? [])].find((chip) => chip.dataset['marker'] === marker);
    if (!look()) story.open(item, true);
    const chip = look();
    chip?.scrollIntoView({ block: 'nearest' });
    chip?.focus({ preventScroll: true });
  };
}
