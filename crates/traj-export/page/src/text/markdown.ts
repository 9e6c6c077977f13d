/** Markdown to elements: a library yields the syntax tree, this draws it. */
import type { Nodes, Parents, PhrasingContent, RootContent, Table } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmStrikethroughFromMarkdown } from 'mdast-util-gfm-strikethrough';
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmTaskListItemFromMarkdown } from 'mdast-util-gfm-task-list-item';
import { gfmStrikethrough } from 'micromark-extension-gfm-strikethrough';
import { gfmTable } from 'micromark-extension-gfm-table';
import { gfmTaskListItem } from 'micromark-extension-gfm-task-list-item';
import { button, copy, el } from '../base/dom';
import { icon } from '../base/icons';
import { appendText, inertLink } from './chips';
import { appendCode, languageOf } from './highlight';

/** Longer texts are shown as they are: parsing them would hold up the page. */
export const MARKDOWN_LIMIT = 60_000;
const DEPTH_LIMIT = 40;

const OPTIONS = {
  extensions: [gfmTable(), gfmStrikethrough(), gfmTaskListItem()],
  mdastExtensions: [gfmTableFromMarkdown(), gfmStrikethroughFromMarkdown(), gfmTaskListItemFromMarkdown()],
};

const MARKER = /^(redacted|media):/;
const INLINE: Partial<Record<Nodes['type'], keyof HTMLElementTagNameMap>> = { emphasis: 'em', strong: 'strong', delete: 'del' };

class Drawing {
  private readonly definitions = new Map<string, string>();

  constructor(root: Nodes) {
    this.collect(root, 0);
  }

  private collect(node: Nodes, depth: number): void {
    if (node.type === 'definition') this.definitions.set(node.identifier, node.url);
    if ('children' in node && depth < 4) for (const child of node.children) this.collect(child as Nodes, depth + 1);
  }

  children(parent: Node, node: Parents, depth: number): void {
    for (const child of node.children) this.node(parent, child as RootContent, depth + 1);
  }

  private node(parent: Node, node: RootContent | PhrasingContent, depth: number): void {
    if (depth > DEPTH_LIMIT) return;
    const inside = (element: HTMLElement): void => {
      if ('children' in node) this.children(element, node as Parents, depth);
      parent.appendChild(element);
    };
    switch (node.type) {
      case 'text': return appendText(parent, node.value);
      case 'paragraph': return inside(el('p'));
      case 'heading': return inside(el('h4', { class: `d${node.depth}` }));
      case 'emphasis': case 'strong': case 'delete': return inside(el(INLINE[node.type] as 'em'));
      case 'blockquote': return inside(el('blockquote'));
      case 'list': return inside(node.ordered ? el('ol', { start: node.start ?? 1 }) : el('ul'));
      case 'listItem': return this.listItem(parent, node, depth);
      case 'break': return void parent.appendChild(el('br'));
      case 'thematicBreak': return void parent.appendChild(el('hr'));
      case 'inlineCode': {
        const code = el('code');
        appendText(code, node.value);
        return void parent.appendChild(code);
      }
      case 'code': return void parent.appendChild(codeBlock(node.value, node.lang ?? ''));
      // HTML in an answer is text like any other.
      case 'html': return appendText(parent, node.value);
      case 'link': return this.link(parent, node, node.url, depth);
      case 'linkReference': return this.link(parent, node, this.definitions.get(node.identifier) ?? '', depth);
      case 'image': return this.image(parent, node.alt ?? '', node.url);
      case 'imageReference': return this.image(parent, node.alt ?? '', this.definitions.get(node.identifier) ?? '');
      case 'table': return void parent.appendChild(this.table(node, depth));
      case 'definition': {
        const line = el('p.definition', null, `[${node.label ?? node.identifier}]: `);
        appendText(line, node.url);
        return void parent.appendChild(line);
      }
      default:
        if ('children' in node) this.children(parent, node as Parents, depth);
        else if ('value' in node) appendText(parent, String((node as { value: unknown }).value));
    }
  }

  private listItem(parent: Node, node: Extract<RootContent, { type: 'listItem' }>, depth: number): void {
    const item = el('li');
    if (typeof node.checked === 'boolean') {
      item.className = 'task';
      item.appendChild(el('span', { role: 'img', 'aria-label': node.checked ? 'done' : 'not done' }, node.checked ? '☑ ' : '☐ '));
    }
    this.children(item, node, depth);
    parent.appendChild(item);
  }

  private link(parent: Node, node: Parents, url: string, depth: number): void {
    // The parser takes a marker in angle brackets for a link to itself.
    if (MARKER.test(url)) return appendText(parent, `<${url}>`);
    const label = el('span.lk', { title: url });
    this.children(label, node, depth);
    parent.appendChild(label);
    if (!url) return;
    if (label.textContent !== url) {
      const address = el('span.url');
      appendText(address, ` (${url})`);
      parent.appendChild(address);
    }
    parent.appendChild(inertLink(url, (text) => void copy(text, 'Link')));
  }

  private image(parent: Node, alt: string, url: string): void {
    const mark = el('span.lk', null, icon('image'), ' ');
    appendText(mark, alt ? `${alt} (${url})` : url);
    parent.appendChild(mark);
    parent.appendChild(inertLink(url, (text) => void copy(text, 'Link')));
  }

  private table(node: Table, depth: number): HTMLElement {
    const table = el('table');
    node.children.forEach((row, at) => {
      const line = el('tr');
      for (const cell of row.children) {
        const box = at === 0 ? el('th', { scope: 'col' }) : el('td');
        this.children(box, cell, depth);
        line.appendChild(box);
      }
      table.appendChild(line);
    });
    return el('div.scroll', { tabindex: 0, role: 'group', 'aria-label': 'Table' }, table);
  }
}

/** A block of code with its language and a button that copies it. */
export function codeBlock(text: string, language: string): HTMLElement {
  const code = el('code');
  appendCode(code, text, languageOf(language.split(/\s/)[0]));
  return el('div.codebox', null,
    el('pre', { tabindex: 0, role: 'group', 'aria-label': language ? `Code, ${language.slice(0, 40)}` : 'Code' }, code),
    button('btn ic cp', 'Copy code', () => void copy(text, 'Code'), icon('copy')));
}

/** Draws Markdown. Text that is too long, or that the parser rejects, is shown as it is. */
export function markdown(text: string): HTMLElement {
  const box = el('div.md');
  if (text.length <= MARKDOWN_LIMIT) {
    try {
      const tree = fromMarkdown(text, OPTIONS);
      new Drawing(tree).children(box, tree, 0);
      return box;
    } catch {
      box.textContent = '';
    }
  }
  box.classList.add('plain');
  appendText(box, text);
  return box;
}
