/**
 * The page of a run. The first screen is drawn from the head at once; lanes
 * and conversation follow when the index has arrived; texts are decoded when
 * they come into sight.
 */
import { append, button, el, replace } from './base/dom';
import { icon, sign } from './base/icons';
import { nameOf, Run } from './base/run';
import { ChunkStore } from './data/chunks';
import { Content } from './data/content';
import { type Head, readHead } from './data/head';
import { Index, readIndex } from './data/index';
import { laneData } from './plot/lanedata';
import { MiniTimeline } from './plot/mini';
import { Timeline } from './plot/timeline';
import { Story } from './story/story';
import { showHelp, showReport } from './view/dialog';
import { FailureCard, worthCard } from './view/failure';
import { FindBar } from './view/findbar';
import { startKeyboard } from './view/keyboard';
import { copyLink, itemInAddress, watchLinks, writeAddress } from './view/link';
import { startPrint } from './view/print';
import { startRedactions } from './view/redactions';
import { linkReview, reviewBanner } from './view/review';
import { facts, title } from './view/summary';
import { startTheme, toggleTheme } from './view/theme';

declare const LICENCES: string;

class Page {
  private readonly store: ChunkStore;
  private readonly find = new FindBar();
  private readonly failure: FailureCard;
  private readonly main = el('main', { id: 'main' });
  private readonly waiting = el('p.loading', { role: 'status' }, 'Reading the run…');
  private run: Run | null = null;
  private story: Story | null = null;
  /** Where to go once the conversation is there. */
  private wanted = -1;

  constructor(private readonly head: Head) {
    this.store = new ChunkStore(head);
    this.failure = new FailureCard(head, (item) => this.go(item));
    startTheme(() => this.run?.tell('theme'));
  }

  private go(item: number): void {
    if (!this.story) this.wanted = item;
    else this.story.select(item, true, true);
  }

  private theme = (): void => toggleTheme(() => this.run?.tell('theme'));
  private help = (): void => showHelp(this.head, this.store, LICENCES);

  /** The first screen, before anything was decoded. */
  first(): void {
    const { head } = this;
    const { summary } = head;
    const name = summary.sessionKey || summary.sessionId || '';
    document.title = head.title ? `${head.title} · traj` : 'traj';
    const bar = el('header.top', null,
      el('a.skip', { href: '#conversation' }, 'Skip to the conversation'),
      el('a.brand', { href: '#title' }, sign(), 'traj'),
      el('span.crumb', null, ...[summary.agent, name].filter(Boolean).flatMap((part) => [el('span.sep', null, '/'), el('b', null, part)])),
      el('span.grow'), this.find.element,
      button('btn q ic', 'Light or dark', this.theme, icon('moon')),
      button('btn q ic d', 'Help', this.help, icon('help')));
    const why = el('div.why', null, head.overview.failure ? this.failure.element : null, worthCard(head, (item) => this.go(item), () => showReport(head)));
    if (!head.overview.failure) why.classList.add('one');
    append(this.main, [reviewBanner(head), title(head), facts(head), why, this.waiting]);
    document.getElementById('static')?.remove();
    const script = document.currentScript;
    for (const part of [bar, this.main]) document.body.insertBefore(part, script);
  }

  /** Lanes, context and conversation. */
  async rest(): Promise<void> {
    const { head, store } = this;
    const index: Index = await readIndex(head.indexChunks);
    const content = new Content(index, store);
    const run = new Run(head, index, store, content);
    this.run = run;
    const data = run.timed ? laneData(run) : null;
    const mini = data ? new MiniTimeline(run, data, (time) => this.goToTime(time)) : null;
    const story = new Story(run, mini?.element ?? null, () => copyLink(run));
    this.story = story;
    const timeline = data ? new Timeline(run, data, {
      select: (item, go) => story.select(item, go, go),
      brush: (range) => {
        story.filter.range = range;
        story.refilter();
      },
    }) : null;
    run.on('filter', () => timeline?.setBrush(story.filter.range));
    run.on('select', () => writeAddress(run));
    run.on('find', () => {
      if (mini) mini.matches = this.find.active ? this.find.search?.counts ?? null : null;
    });
    replace(this.waiting);
    this.waiting.remove();
    append(this.main, [timeline?.element ?? null, story.element, this.foot(run)]);
    document.body.insertBefore(this.phone(story), this.main.nextSibling);
    story.start();
    this.failure.attach(run);
    this.find.attach(run, story);
    linkReview(run);
    startRedactions(run, story);
    const printer = startPrint(run, story, timeline);
    watchLinks(index.length, (item) => story.select(item, true, true));
    startKeyboard({
      run, story, timeline, find: this.find,
      actions: {
        help: this.help,
        theme: this.theme,
        copyLink: () => copyLink(run),
        clearRange: () => {
          story.filter.range = null;
          story.refilter();
        },
        print: () => void printer.print(),
      },
    });
    this.watchBar(story);
    const linked = itemInAddress(index.length);
    if (linked >= 0) story.select(linked, true, true);
    else if (this.wanted >= 0) story.select(this.wanted, true, true);
    document.documentElement.dataset['ready'] = 'index';
    await store.warm();
    run.tell('theme');
    document.documentElement.dataset['ready'] = 'all';
  }

  private goToTime(time: number): void {
    const { story, run } = this;
    if (!story || !run) return;
    const item = story.shown.find((candidate) => run.index.time(candidate) >= time) ?? story.shown[story.shown.length - 1];
    if (item !== undefined) story.select(item, true, true);
  }

  /** The bar shows the small timeline while it sticks to the top. */
  private watchBar(story: Story): void {
    const look = (): void => {
      story.bar.classList.toggle('stuck', story.element.getBoundingClientRect().top < 40);
    };
    window.addEventListener('scroll', look, { passive: true });
    look();
  }

  /** Four actions within reach of the thumb. */
  private phone(story: Story): HTMLElement {
    return el('nav.phone', { 'aria-label': 'Quick actions' },
      button('', null, () => window.scrollTo({ top: 0, behavior: 'instant' }), icon('flag'), 'Summary'),
      button('', null, () => story.movePrompt(1), icon('person'), 'Next prompt'),
      button('f', null, () => story.nextFailure(1), icon('cross'), 'Next failure'),
      button('', null, () => story.details.show(!story.details.open), icon('page'), 'Details'));
  }

  private foot(run: Run): HTMLElement {
    return el('footer.foot', null,
      el('span', null, this.head.generator),
      el('span.mono', null, `sha256:${this.head.digest.slice(0, 16)}…`),
      el('span', null, `${nameOf(run.index.length - 1).slice(1)} events in the story, ${this.head.rows} rows`),
      button('lnk', null, this.help, 'Help, files and licences'),
      button('lnk', null, () => showReport(this.head), 'Warnings and redactions'));
  }
}

function start(): void {
  const page = new Page(readHead());
  page.first();
  page.rest().catch((error: unknown) => {
    document.documentElement.dataset['ready'] = 'failed';
    document.querySelector('.loading')?.replaceChildren(`The run cannot be read: ${error instanceof Error ? error.message : 'unknown error'}.`);
  });
}

start();
