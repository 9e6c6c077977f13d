// A run whose every string tries to become code.
import { FLAG, KIND, PageBuilder, summaryOf } from '../make-page.mjs';

/** Each would set `window.canary` or ask the canary server, if it were run. */
export function attacks(server) {
  return [
    '<script>window.canary=1</script>', '"><img src=x onerror="window.canary=2">', "<svg/onload=window.canary=3>", '</script><script>window.canary=4</script>',
    '<!--<script>window.canary=5</script>-->', `<img src="${server}/img">`, `![picture](${server}/md-image)`, `[link](javascript:window.canary=6)`,
    `[link](${server}/md-link)`, `<${server}/autolink>`, `<iframe src="${server}/frame"></iframe>`, `<style>@import "${server}/css"</style>`,
    `<link rel=stylesheet href="${server}/link">`, `<a href="javascript:window.canary=7">x</a>`, '{{constructor.constructor("window.canary=8")()}}', '\u2028window.canary=9\u2029',
    `<meta http-equiv=refresh content="0;url=${server}/refresh">`, `<form action="${server}/form"><button>x</button></form>`, `data:text/html,<script>parent.canary=10</script>`,
    `<base href="${server}/">`, `\x1b]8;;${server}/osc\x07link\x1b]8;;\x07`, '\x1b[31m<b onclick=window.canary=11>x</b>\x1b[0m', '<details open ontoggle=window.canary=12>', '__proto__', 'constructor',
  ];
}

export function hostile(server = 'http://127.0.0.1:9') {
  const page = new PageBuilder(Date.UTC(2026, 5, 1, 9, 30, 0));
  const list = attacks(server);
  const all = list.join('\n\n');
  let at = 0;
  const next = () => (at += 1000);
  page.prompt(next(), all);
  page.prompt(next(), [{ type: 'text', text: all }, { type: 'image', mimeType: 'image/svg+xml', data: 'PHN2Zy8+' }, { type: 'image', source: { type: 'url', url: `${server}/block` } }, { type: 'image', mimeType: 'image/png', data: `" onerror="window.canary=13` }]);
  page.say(next(), all);
  page.say(next(), `${'```html'}\n${all}\n${'```'}\n\n${'```"><img src=x onerror=window.canary=14>'}\n${all}\n${'```'}`);
  page.say(next(), all, KIND.reasoning);
  page.say(next(), all, KIND.compaction, 0, { words: list[1] });
  for (const attack of list) {
    page.call(next(), 400, attack, { command: attack, [attack]: attack, nested: { [attack]: [attack] } }, attack, { words: attack, flags: FLAG.failed, callId: attack });
    page.call(next(), 400, 'edit', { path: attack, old_string: attack, new_string: `${attack}x` }, [{ type: 'text', text: attack }, { type: attack, value: attack }], { flags: FLAG.edit });
    page.model(next(), 300, attack, 10, 20, 30, 0.1, 0, { words: attack });
  }
  for (const kind of [KIND.changed, KIND.error, KIND.lost, KIND.ended, KIND.started, KIND.context, KIND.attachment, KIND.hook, KIND.turnEnd, KIND.branches, KIND.approval]) {
    page.say(next(), all, kind, 0, { label: list[1], words: list[2] });
  }
  const row = page.row(list[0], { [list[1]]: list[2], ['__proto__']: list[0] }, next());
  page.item(KIND.other, { at, row, label: list[0] });
  const task = page.call(next(), 500, 'task', { command: list[1] }, list[2], { flags: FLAG.startsAgent });
  const thread = page.agent(list[1], task);
  page.say(next(), all, KIND.text, thread);
  page.addFile(`"><img src=x onerror=window.canary=15>.txt`, all);
  const html = page.build({
    title: list[1],
    summary: summaryOf({
      agent: list[0], sessionKey: list[1], sessionId: list[2], models: { [list[1]]: 3 }, turns: 2, durationMillis: at, unknown: { [list[0]]: 1 }, status: list[0],
      usageByModel: { [list[1]]: { calls: 1, inputTokens: 1, outputTokens: 1, cachedTokens: 0, cost: null } },
      warnings: [{ code: list[0], count: 1, message: list[1], rows: [1], source: 'session' }], problems: [{ file: list[1], problem: list[0] }],
      redaction: { total: 1, media: 0, paths: 0, rules: [{ rule: list[1], count: 1 }] },
    }),
    overview: {
      failure: { item: 6, tool: list[0], command: list[1], outcome: list[0], inWords: list[2], exitCode: 1, error: list[0], lastLines: list, outputLines: 3, passedLater: null },
      worth: list.slice(0, 7).map((text, item) => ({ kind: text, text, item })), endedHow: list[0], endedText: all,
    },
    review: true, reviewFindings: [{ rule: list[0], file: list[1], row: 0, count: 1 }],
  });
  return { html, facts: { items: page.items.length, attacks: list.length } };
}
