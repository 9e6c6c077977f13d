/** Paper: the summary and the events that pass the filters, in the flow of the page, opened. */
import { el, toast } from '../base/dom';
import { count, whole } from '../base/format';
import type { Run } from '../base/run';
import type { Timeline } from '../plot/timeline';
import type { Story } from '../story/story';
import { lightForPrint } from './theme';

/** More events than this would make a stack of paper that nobody reads. */
const AT_MOST = 1500;

export interface Printer {
  /** Decodes what will be printed, then asks the browser to print. */
  print(): Promise<void>;
}

export function startPrint(run: Run, story: Story, timeline: Timeline | null): Printer {
  let undo: (() => void) | null = null;

  const before = (): void => {
    if (undo) return;
    const light = lightForPrint(() => timeline?.drawNow());
    const { allOpen } = run;
    const opened = [...run.opened];
    run.opened.clear();
    run.allOpen = true;
    const paper = el('div.paper');
    const total = Math.min(story.shown.length, AT_MOST);
    const rest = story.shown.length - total;
    if (story.filter.active) paper.appendChild(el('p.note', null, `Printed: the summary and the ${count(total, 'event')} that pass the filters, of ${whole(run.index.length)}.`));
    if (rest > 0) paper.appendChild(el('p.note', null, `Printed: the first ${whole(total)} of ${count(story.shown.length, 'event')}. Filter the list to print others.`));
    for (let at = 0; at < total; at += 1) paper.appendChild(story.drawForPrint(at));
    story.element.appendChild(paper);
    document.documentElement.classList.add('printing');
    timeline?.drawNow();
    undo = () => {
      paper.remove();
      document.documentElement.classList.remove('printing');
      run.allOpen = allOpen;
      run.opened.clear();
      for (const [item, open] of opened) run.opened.set(item, open);
      light();
      story.redrawAll();
    };
  };

  const after = (): void => {
    undo?.();
    undo = null;
  };

  window.addEventListener('beforeprint', before);
  window.addEventListener('afterprint', after);

  return {
    async print() {
      if (story.shown.length > 200) toast('Preparing to print');
      for (let at = 0; at < Math.min(story.shown.length, AT_MOST); at += 1) {
        if (!run.content.ready(story.shown[at])) await run.content.load(story.shown[at]);
      }
      window.print();
    },
  };
}
