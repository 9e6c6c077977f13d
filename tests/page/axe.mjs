// What axe finds on a page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Runs axe in a world of its own, which the policy of the page does not concern. */
export async function problems(tab) {
  const session = await tab.page.createCDPSession();
  const { frameTree } = await session.send('Page.getFrameTree');
  const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id, worldName: 'axe', grantUniveralAccess: true });
  const run = (expression, awaitPromise) => session.send('Runtime.evaluate', { expression, contextId: executionContextId, awaitPromise, returnByValue: true });
  const loaded = await run(`${axe};0`, false);
  assert.equal(loaded.exceptionDetails, undefined);
  const { result, exceptionDetails } = await run(`axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')).slice(0, 4).join(' | ')))`, true);
  assert.equal(exceptionDetails, undefined, exceptionDetails?.exception?.description);
  return result.value;
}
