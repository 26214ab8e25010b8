// SPDX-License-Identifier: Apache-2.0
//
// The chart of iterations: stacked by operation with the report's numbers; outliers and changes that
// last are found where they are, and nowhere else.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';

import {browser, moduleOf, open, surround, text} from './browser.mjs';

const folder = surround('iterations');
const {histogram, outlierFence, stepChanges} = await moduleOf('iteration_stats');

// Around |level|, without a pattern, always the same.
function noise(count, level, spread, seed = 1) {
  let state = seed;
  return Array.from({length: count}, () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return level + spread * (state / 2 ** 31 - 0.5);
  });
}

test('a change of level that lasts is found where it is', () => {
  const [change, ...others] = stepChanges([...noise(60, 100, 10), ...noise(40, 130, 10)]);
  assert.deepEqual(others, []);
  assert.equal(change.at, 60);
  assert.ok(Math.abs(change.before - 100) < 3 && Math.abs(change.after - 130) < 3);
});

test('up and down again are two changes', () => {
  const values = [...noise(50, 100, 10), ...noise(50, 150, 10), ...noise(50, 100, 10)];
  assert.deepEqual(stepChanges(values).map(({at}) => at), [50, 100]);
});

test('noise has no change, nor have few values, nor a slow one among them', () => {
  for (let seed = 1; seed <= 50; ++seed) {
    assert.deepEqual(stepChanges(noise(200, 100, 40, seed)), [], `${seed}`);
  }
  assert.deepEqual(stepChanges([100, 100, 100, 200, 200, 200]), []);
  assert.deepEqual(stepChanges([...noise(50, 100, 10), 900, ...noise(50, 100, 10)]), []);
});

test('an outlier is far above the others, and steady iterations have none', () => {
  const steady = noise(100, 100, 10);
  const fence = outlierFence(steady);
  assert.ok(steady.every((value) => value < fence));
  assert.ok(fence < 130);
  assert.equal(outlierFence([1, 1, 1, 500]), Infinity);
});

test('a histogram counts every value once', () => {
  assert.deepEqual(histogram([0, 1, 4, 5, 10], 10, 2), [3, 2]);
});

test('iterations are stacked by operation, beside their histogram', async () => {
  const page = await open(browser, join(folder, 'page.html'));
  const [{iterations}] = JSON.parse(readFileSync(join(folder, 'report.json'))).processes;
  const data = JSON.parse(await text(page, '#data'));
  const [{iterations: points}] = data.processes;
  iterations.operations.forEach((row, i) => {
    const sum = points.reduce((all, point) => all + (point[8][i] ?? 0), 0);
    assert.equal(sum, row.wall_ns, row.operation);
  });
  assert.equal((await page.$$('.it-operation[fill]')).length, iterations.operations.length);
  const bins = await page.$$eval(
      '.it-bin title', (nodes) => nodes.map((node) => parseInt(node.textContent)));
  assert.equal(bins.reduce((a, b) => a + b), iterations.count);
  const levels = await page.$$eval(
      '.it-level-name', (nodes) => nodes.map((node) => node.textContent.split(' ')[0]));
  assert.deepEqual(levels, ['median', 'p95']);
  assert.match(await text(page, '.standing'), /^No outliers, and no change that lasts\.$/);
});
