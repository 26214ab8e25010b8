// SPDX-License-Identifier: Apache-2.0
//
// What the page and the text report both say, they say in the same words: figures, and whose
// critical path it is.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {before, test} from 'node:test';

import {browser, moduleOf, open, rows, spelledOut, surround, text} from './browser.mjs';

const folder = surround('words');
const format = await moduleOf('format');
let figures;

before(() => {
  figures = JSON.parse(readFileSync(join(folder, 'figures.json')));
});

for (const [name, kind] of [
         ['formatTime', 'times'], ['formatCount', 'counts'], ['formatShare', 'shares'],
         ['formatBytes', 'bytes']]) {
  test(`${kind} are those of the text report`, () => {
    assert.ok(figures[kind].length > 50);
    for (const [value, said] of figures[kind]) assert.equal(format[name](value), said, `${value}`);
  });
}

test('GPU time beside unknown time is a lower bound in every table', async () => {
  const [process] = JSON.parse(readFileSync(join(folder, 'report.json')), spelledOut).processes;
  const page = await open(browser, join(folder, 'page.html'));
  const isBound = (row, key) => row.texts[key].startsWith('\u2265 ');
  for (const [selector, key] of [
           ['.breakdown', 'gpu_busy_ns'], ['.mean-iteration', 'gpu_busy_ns'],
           ['.operation-devices', 'busy_ns'], ['.lane', 'gpu_busy_ns']]) {
    const shown = await rows(page, selector);
    if (selector !== '.mean-iteration' && selector !== '.lane')
      assert.ok(shown.some((row) => row.figures.unknown_ns > 0), selector);
    for (const row of shown) {
      if (row.figures.unknown_ns === undefined) {
        const known =
            selector === '.lane' ? process.lanes[0].operations : process.iterations.operations;
        row.figures.unknown_ns = known.find(({operation}) => operation === row.row).unknown_ns;
      }
      assert.equal(isBound(row, key), row.figures.unknown_ns > 0, `${selector} ${row.row}`);
    }
  }
  const caused = await rows(page, '.breakdown');
  assert.ok(caused.every((row) => isBound(row, 'gpu_caused_ns')));
  await page.close();
});

test('caused time is a lower bound where work has no launch', async () => {
  const {processes: [{operations}]} =
      JSON.parse(readFileSync(join(folder, 'unlaunched.json'), 'utf8'));
  const page = await open(browser, join(folder, 'unlaunched.html'));
  const shown = await rows(page, '.breakdown');
  assert.deepEqual(
      shown.map((row) => [row.row, row.texts.gpu_caused_ns.startsWith('\u2265 ')]).sort(),
      operations.map((row) => [row.operation, row.gpu_caused_is_lower_bound]).sort());
  assert.ok(operations.some((row) => row.gpu_caused_is_lower_bound));
  assert.ok(operations.some((row) => !row.gpu_caused_is_lower_bound));
  await page.close();
});

test('the critical path of an import is that of the process which the text names', async () => {
  const said =
      readFileSync(join(folder, 'imported.txt'), 'utf8').match(/^(.*), one of \d+ processes/m);
  assert.equal(said[1], 'learner (pid 101)');
  const page = await open(browser, join(folder, 'imported.html'));
  assert.match(
      await text(page, '#path .note'), /^The chain .* the end of learner \(pid 101\) back/);
});

test('a name in which there is nothing to see is marked as in the text', async () => {
  const said = readFileSync(join(folder, 'blank.txt'), 'utf8');
  for (const name of ['(empty name)', '"  "']) assert.ok(said.includes(`\n${name} `), said);
  const page = await open(browser, join(folder, 'blank.html'));
  const operations = await rows(page, '.breakdown');
  assert.deepEqual(
      operations.map((row) => row.row).sort(), ['"  "', '(empty name)', '(no operation)']);
  assert.ok(operations.find((row) => row.row === '(empty name)').shown.startsWith('(empty name)'));
  await page.evaluate(
      () => [...document.querySelectorAll('button')]
                .find((b) => b.textContent === 'by phase')
                .click());
  assert.deepEqual((await rows(page, '.breakdown')).map((row) => row.row), ['(empty name)']);
  await page.evaluate(
      () => [...document.querySelectorAll('.tl-label')]
                .find((l) => l.textContent.startsWith('main'))
                .click());
  await page.focus('.tl-canvas canvas');
  await page.keyboard.press('n');
  assert.match(await text(page, '#chosen'), /^\(empty name\): 30\.0 us/);
});

test('no figure in a sentence loses its unit at the end of a line', async () => {
  for (const width of [320, 400, 700, 1280]) {
    const page = await open(browser, join(folder, 'page.html'), {width});
    const {figures, broken} = await page.evaluate(() => {
      const found = {figures: 0, broken: []};
      for (const sentence of document.querySelectorAll('p, li, dd, .note')) {
        if (!sentence.checkVisibility()) continue;
        for (const {index, 0: figure} of sentence.textContent.matchAll(
                 /\d (ns|us|ms|s|%|x)(?![^\s.,;:)\]])/g)) {
          const walker = document.createTreeWalker(sentence, NodeFilter.SHOW_TEXT);
          let at = 0;
          while (walker.nextNode() && at + walker.currentNode.length <= index)
            at += walker.currentNode.length;
          const range = document.createRange();
          range.setStart(walker.currentNode, index - at);
          range.setEnd(
              walker.currentNode, Math.min(walker.currentNode.length, index - at + figure.length));
          ++found.figures;
          const lines = new Set([...range.getClientRects()].map((rect) => Math.round(rect.top)));
          if (lines.size !== 1) found.broken.push(sentence.textContent.slice(0, index + 9));
        }
      }
      return found;
    });
    assert.ok(figures > 20, `${figures} figures`);
    assert.deepEqual(broken, [], `${width} pixels`);
    await page.close();
  }
});
