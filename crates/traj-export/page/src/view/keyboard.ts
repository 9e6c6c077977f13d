/** Keys. Single keys can be switched off, and do nothing while somebody types. */
import type { Run } from '../base/run';
import type { Timeline } from '../plot/timeline';
import type { Story } from '../story/story';
import { openDialog, shortcuts } from './dialog';
import type { FindBar } from './findbar';

export interface KeyActions {
  help(): void;
  theme(): void;
  copyLink(): void;
  clearRange(): void;
  print(): void;
}

export interface Keyboard {
  run: Run;
  story: Story;
  timeline: Timeline | null;
  find: FindBar;
  actions: KeyActions;
}

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches('textarea, select') || (target instanceof HTMLInputElement && target.type !== 'checkbox'));
}

export function startKeyboard(keyboard: Keyboard): void {
  const { run, story, timeline, find, actions } = keyboard;

  const single: Record<string, () => void> = {
    j: () => story.move(1),
    k: () => story.move(-1),
    ']': () => story.movePrompt(1),
    '[': () => story.movePrompt(-1),
    e: () => story.nextFailure(1),
    E: () => story.nextFailure(-1),
    '/': () => find.focus(),
    n: () => (find.active ? void find.step(1) : story.movePrompt(1)),
    p: () => (find.active ? void find.step(-1) : story.movePrompt(-1)),
    w: () => timeline?.zoom(0.7),
    s: () => timeline?.zoom(1.4),
    a: () => timeline?.pan(-0.15),
    d: () => timeline?.pan(0.15),
    '0': () => timeline?.fit(),
    c: () => timeline?.shorten(),
    x: () => story.expandAll(),
    y: () => actions.copyLink(),
    t: () => actions.theme(),
    g: () => window.scrollTo({ top: 0, behavior: 'instant' }),
    '?': () => actions.help(),
  };

  const escape = (): void => {
    if (find.active || document.activeElement === find.input) find.clear();
    else if (story.details.open) story.details.show(false);
    else if (story.filter.range) actions.clearRange();
  };

  document.addEventListener('keydown', (event) => {
    const command = event.ctrlKey || event.metaKey;
    if (command && !event.altKey && !event.shiftKey && event.key === 'f') {
      // A second Ctrl-F reaches the browser's own find.
      if (document.activeElement === find.input) return;
      event.preventDefault();
      return find.focus();
    }
    if (command && !event.altKey && !event.shiftKey && event.key === 'p') {
      event.preventDefault();
      return actions.print();
    }
    if (openDialog()) return;
    if (event.key === 'Escape') return escape();
    if (!shortcuts.on || command || event.altKey || typing(event.target)) return;
    if (event.key === 'Enter') {
      const target = event.target as Element;
      if (target.closest('button, a, summary, select')) return;
      event.preventDefault();
      return story.toggle(run.selected);
    }
    const act = single[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
