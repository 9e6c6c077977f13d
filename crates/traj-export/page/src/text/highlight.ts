/** Source code with colours: a library yields a tree of tokens, this draws it. */
import type { ElementContent, RootContent } from 'hast';
import bash from 'highlight.js/lib/languages/bash';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';
import { appendText } from './chips';

const LIMIT = 60_000;

const lowlight = createLowlight({ bash, diff, go, ini, json, python, rust, typescript, yaml });

/** Names of files' endings and other names of a language. */
const ALIASES: Record<string, string> = {
  sh: 'bash', shell: 'bash', zsh: 'bash', console: 'bash', patch: 'diff', golang: 'go', toml: 'ini', cfg: 'ini', conf: 'ini',
  javascript: 'typescript', js: 'typescript', jsx: 'typescript', mjs: 'typescript', cjs: 'typescript', ts: 'typescript',
  tsx: 'typescript', mts: 'typescript', jsonl: 'json', json5: 'json', jsonc: 'json', py: 'python', rs: 'rust', yml: 'yaml',
};

/** What a token is, by the first part of its class. */
const LOOKS: Record<string, string> = {
  keyword: 'kw', literal: 'nu', number: 'nu', string: 'st', regexp: 'st', symbol: 'st', char: 'st', comment: 'co', quote: 'co',
  doctag: 'co', meta: 'co', title: 'fn', function: 'fn', section: 'fn', attr: 'at', attribute: 'at', property: 'at',
  variable: 'va', params: '', built_in: 'bu', type: 'bu', class: 'bu', name: 'kw', tag: '', addition: 'add', deletion: 'del',
  selector: 'kw', operator: '', punctuation: '', subst: '', bullet: 'kw', link: 'st', template: 'st',
};

export function languageOf(name: string): string | null {
  const lower = name.toLowerCase();
  const language = ALIASES[lower] ?? lower;
  return lowlight.registered(language) ? language : null;
}

/** The language of a file, by the end of its name. */
export function languageOfPath(path: string): string | null {
  const ending = /\.([a-z0-9]+)$/i.exec(path);
  return ending ? languageOf(ending[1]) : null;
}

function lookOf(classNames: unknown): string {
  for (const name of Array.isArray(classNames) ? classNames : []) {
    const look = LOOKS[String(name).replace(/^hljs-/, '').split(/[-.]/)[0]];
    if (look) return look;
  }
  return '';
}

function draw(parent: Node, nodes: (RootContent | ElementContent)[]): void {
  for (const node of nodes) {
    if (node.type === 'text') appendText(parent, node.value);
    else if (node.type === 'element') {
      const look = lookOf(node.properties['className']);
      if (look === '') {
        draw(parent, node.children);
        continue;
      }
      const span = document.createElement('span');
      span.className = look;
      draw(span, node.children);
      parent.appendChild(span);
    }
  }
}

/** Appends code with colours if the language is known and the code is not too long. */
export function appendCode(parent: Node, code: string, language: string | null): void {
  if (language && code.length <= LIMIT) {
    try {
      draw(parent, lowlight.highlight(language, code).children);
      return;
    } catch {
      // A grammar that fails must not hide the code.
      parent.textContent = '';
    }
  }
  appendText(parent, code);
}
