/** Marks matches in what is drawn, without changing it: ranges, not elements. */

interface Piece {
  node: Text;
  start: number;
}

const INLINE = new Set(['SPAN', 'EM', 'STRONG', 'CODE', 'B', 'DEL', 'BUTTON', 'A', 'I']);

/** The nearest ancestor that begins a new line. */
function lineOf(node: Node): Node | null {
  let at = node.parentElement;
  while (at && INLINE.has(at.tagName) && !at.classList.contains('ln') && !at.classList.contains('txt')) at = at.parentElement;
  return at;
}

/** The ranges of all matches in an element, in order; only in parts that show text of the run. */
export function rangesIn(root: Element, expression: RegExp): Range[] {
  const pieces: Piece[] = [];
  const texts: string[] = [];
  let length = 0;
  let line: Node | null = null;
  const areas = root.matches('.txt') ? [root] : [...root.querySelectorAll('.txt')].filter((area) => !area.parentElement?.closest('.txt'));
  for (const area of areas) {
    const walker = document.createTreeWalker(area, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode() as Text | null; node; node = walker.nextNode() as Text | null) {
      const own = lineOf(node);
      if (own !== line) {
        texts.push('\n');
        length += 1;
        line = own;
      }
      pieces.push({ node, start: length });
      texts.push(node.data);
      length += node.data.length;
    }
  }
  const text = texts.join('');
  const ranges: Range[] = [];
  let piece = 0;
  expression.lastIndex = 0;
  for (let match = expression.exec(text); match; match = expression.exec(text)) {
    while (piece + 1 < pieces.length && pieces[piece + 1].start <= match.index) piece += 1;
    let last = piece;
    const end = match.index + match[0].length;
    while (last + 1 < pieces.length && pieces[last + 1].start < end) last += 1;
    const range = document.createRange();
    range.setStart(pieces[piece].node, match.index - pieces[piece].start);
    range.setEnd(pieces[last].node, Math.min(end - pieces[last].start, pieces[last].node.data.length));
    ranges.push(range);
  }
  return ranges;
}

/** Shows ranges in the colour of a name; older browsers show none. */
export function paint(name: 'find' | 'find-on', ranges: Range[]): void {
  if (!('highlights' in CSS)) return;
  if (ranges.length === 0) CSS.highlights.delete(name);
  else CSS.highlights.set(name, new Highlight(...ranges));
}
