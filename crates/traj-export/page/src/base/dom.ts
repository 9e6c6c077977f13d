/** Creating elements. Strings become text nodes; nothing here parses HTML. */

export type Child = Node | string | number | null | undefined | false;

type Attributes = Record<string, string | number | boolean | null | undefined>;

/** Attributes that could run code or start a request are never set from here. */
const ALLOWED = /^(aria-[a-z]+|data-[a-z]+|class|id|role|type|title|tabindex|href|for|name|value|placeholder|hidden|open|disabled|checked|selected|lang|dir|colspan|rowspan|start|alt|max|autocomplete|spellcheck|enterkeyhint|scope|viewBox|d|cx|cy|r|fill|width|height)$/;

function setAll(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (!ALLOWED.test(name)) throw new Error(`attribute ${name}`);
    // Links lead to places on this page, never elsewhere.
    if (name === 'href' && !String(value).startsWith('#')) throw new Error('href');
    element.setAttribute(name, value === true ? '' : String(value));
  }
}

/** Creates an element: `el('p.note', { id: 'x' }, 'text')`. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  selector: Tag | `${Tag}.${string}`,
  attributes?: Attributes | null,
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const [tag, ...classes] = selector.split('.');
  const element = document.createElement(tag as Tag);
  if (classes.length > 0) element.className = classes.join(' ');
  if (attributes) setAll(element, attributes);
  append(element, children);
  return element;
}

export function append(parent: Node, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function replace(parent: Element, ...children: Child[]): void {
  parent.textContent = '';
  append(parent, children);
}

/** A drawing of 16 by 16 units from the paths of one icon. */
export function svg(paths: readonly string[], className: string): SVGSVGElement {
  const space = 'http://www.w3.org/2000/svg';
  const root = document.createElementNS(space, 'svg');
  setAll(root, { viewBox: '0 0 16 16', class: className, 'aria-hidden': 'true' });
  for (const d of paths) {
    const path = document.createElementNS(space, 'path');
    path.setAttribute('d', d);
    root.appendChild(path);
  }
  return root;
}

/** A button. `label` is its accessible name where the content has no words. */
export function button(
  className: string,
  label: string | null,
  act: (event: MouseEvent) => void,
  ...children: Child[]
): HTMLButtonElement {
  const element = el('button', { type: 'button', class: className, 'aria-label': label, title: label }, ...children);
  element.addEventListener('click', act);
  return element;
}

export function visuallyHidden(text: string): HTMLElement {
  return el('span.vh', null, text);
}

/** Sets a length through the object model, because the policy forbids style attributes. */
export function size(element: HTMLElement, values: Partial<Record<'width' | 'height' | 'top' | 'left' | 'flexGrow' | 'paddingLeft' | 'minHeight', string>>): void {
  Object.assign(element.style, values);
}

let toastTimer = 0;

/** Shows one line at the bottom of the window, and reads it to screen readers. */
export function toast(text: string): void {
  let box = document.getElementById('toast');
  if (!box) {
    box = el('div.toast', { id: 'toast', role: 'status' });
    document.body.appendChild(box);
  }
  box.textContent = text;
  box.classList.add('on');
  clearTimeout(toastTimer);
  toastTimer = window.setTimeout(() => box.classList.remove('on'), 1800);
}

/** Copies a string; falls back to a selection where the clipboard is not available. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el('textarea.vh', { 'aria-hidden': 'true', tabindex: -1 });
    area.value = text;
    document.body.appendChild(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    if (!copied) return toast(`${what} could not be copied`);
  }
  toast(`${what} copied`);
}
