/**
 * Named character references, in place of a package that either asks the
 * browser to parse HTML or carries 30 kB of names. A name that is not listed
 * stays as it was written.
 */
const NAMES: Record<string, string> = {
  amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', copy: '\u00a9', hellip: '\u2026', mdash: '\u2014', ndash: '\u2013',
  lsquo: '\u2018', rsquo: '\u2019', ldquo: '\u201c', rdquo: '\u201d', laquo: '\u00ab', raquo: '\u00bb', bull: '\u2022', middot: '\u00b7',
  deg: '\u00b0', times: '\u00d7', euro: '\u20ac', larr: '\u2190', uarr: '\u2191', rarr: '\u2192', darr: '\u2193', le: '\u2264', ge: '\u2265',
  ne: '\u2260', infin: '\u221e', check: '\u2713', vert: '|', ast: '*', lowbar: '_', grave: '`', num: '#', lbrack: '[', rbrack: ']',
};

export function decodeNamedCharacterReference(name: string): string | false {
  return Object.hasOwn(NAMES, name) ? NAMES[name] : false;
}
