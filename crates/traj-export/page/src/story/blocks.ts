/** Draws what is found at a path: text, images, blobs and any other JSON. */
import { button, el, replace, toast } from '../base/dom';
import { bytes, count } from '../base/format';
import type { Run } from '../base/run';
import { asBlob, blocks, type BlobReference, isRecord, isWords, json } from '../data/content';
import { imageBlock } from '../text/chips';
import { appendCode } from '../text/highlight';
import { markdown, MARKDOWN_LIMIT } from '../text/markdown';
import { drawOutput, TextLines } from '../text/output';

export interface DrawOptions {
  run: Run;
  item: number;
  /** Whether text is Markdown; otherwise it is output of a program. */
  prose: boolean;
  /** Draws the item again. */
  redraw: () => void;
}

const JSON_LIMIT = 200_000;
/** Longer prose, such as a pasted document, is cut at first. */
const LONG_TEXT = 8000;

function output(text: string, options: DrawOptions): HTMLElement {
  const { run, item, redraw } = options;
  return drawOutput(text, {
    failed: run.failed(item),
    full: run.whole.has(item),
    expand: () => {
      run.whole.add(item);
      redraw();
    },
  });
}

function drawText(text: string, options: DrawOptions): HTMLElement {
  if (!options.prose || text.length > MARKDOWN_LIMIT) return output(text, options);
  const { run, item, redraw } = options;
  const shown = run.whole.has(item) || text.length <= LONG_TEXT ? text : startOf(text);
  const box = markdown(shown);
  box.classList.add('txt');
  if (shown === text) return box;
  return el('div', null, box, button('gap', null, () => {
    run.whole.add(item);
    redraw();
  }, el('span', null, `⋯ ${count(text.length - shown.length, 'more character')}`), el('u', null, 'Show all')));
}

/** The first part of a long text, up to the end of a paragraph or a line. */
function startOf(text: string): string {
  const cut = text.slice(0, LONG_TEXT / 2);
  const end = Math.max(cut.lastIndexOf('\n\n'), cut.lastIndexOf('\n', cut.length - 1));
  return end > LONG_TEXT / 4 ? cut.slice(0, end) : cut;
}

/** A text in a file of its own: the preview, then all of it on request. */
function drawBlob(reference: BlobReference, options: DrawOptions): HTMLElement {
  const { store } = options.run;
  const known = store.blobNow(reference.blob);
  if (known !== undefined) return drawText(known, options);
  const file = store.blobFile(reference.blob);
  const box = el('div.blob');
  const show = (): void => {
    store.blob(reference.blob).then((text) => {
      if (text === null) return;
      replace(box, drawText(text, options));
    }).catch(() => toast('This text cannot be decoded'));
  };
  if (!file) {
    replace(box, reference.preview ? drawText(reference.preview, options) : null, el('p.note', null, 'The rest of this text is not in the bundle.'));
  } else if (file.bytes <= 1_000_000) {
    replace(box, drawText(reference.preview, options));
    show();
  } else {
    replace(box,
      reference.preview ? drawText(reference.preview, options) : null,
      button('gap', null, show, el('span', null, `⋯ ${bytes(file.bytes)} in a file of its own`), el('u', null, 'Show all')));
  }
  return box;
}

export function drawJson(value: unknown): HTMLElement {
  const text = json(value);
  const code = el('code.txt');
  appendCode(code, text.slice(0, JSON_LIMIT), 'json');
  if (text.length > JSON_LIMIT) code.appendChild(document.createTextNode('\n⋯'));
  return el('pre.json', { tabindex: 0, role: 'group', 'aria-label': 'JSON' }, code);
}

/** The members of an object as a list of names and values. */
export function drawMembers(entries: [string, unknown][], options: DrawOptions): HTMLElement {
  const list = el('dl.members');
  for (const [name, value] of entries) {
    list.appendChild(el('dt.txt', null, name));
    const box = el('dd');
    const reference = asBlob(value);
    if (reference) box.appendChild(drawBlob(reference, { ...options, prose: false }));
    else if (typeof value === 'string' && new TextLines(value).length > 1) box.appendChild(output(value, options));
    else if (typeof value === 'string') {
      const code = el('code.txt');
      appendCode(code, value, null);
      box.appendChild(code);
    } else if (isWords(value)) {
      const code = el('code.txt');
      appendCode(code, value.join(' '), null);
      box.appendChild(code);
    } else if (value !== null && typeof value === 'object') box.appendChild(drawJson(value));
    else box.appendChild(el('code.txt.nu', null, String(value)));
    list.appendChild(box);
  }
  return list;
}

/** Appends everything that a value says. */
export function drawContent(parent: Node, value: unknown, options: DrawOptions): void {
  for (const part of blocks(value)) {
    if (part.kind === 'text') parent.appendChild(drawText(part.text, options));
    else if (part.kind === 'image') parent.appendChild(imageBlock(part.value));
    else if (part.kind === 'blob') parent.appendChild(drawBlob(part.reference, options));
    else if (isRecord(part.value)) parent.appendChild(drawMembers(Object.entries(part.value), options));
    else parent.appendChild(drawJson(part.value));
  }
}
