// SPDX-License-Identifier: Apache-2.0
//
// The icicle of Python functions: bars as wide as their shares of the looks, below those that called
// them, and a click or a key for one in full width.
import assert from 'node:assert/strict';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';

import {browser, moduleOf, open, surround} from './browser.mjs';

const folder = surround('stacks');
const html = join(folder, 'page.html');

// As fixture_page.cc has it: all of 200 looks are in main and train, which have only that in common.
const frames = (page) => page.$$eval(
    '.icicle .frame', (nodes) => nodes.map((node) => ({
                                             name: node.title.replace(/(, \/.*)?: [^:]*$/, ''),
                                             title: node.title,
                                             left: parseFloat(node.style.left),
                                             width: parseFloat(node.style.width),
                                             top: parseFloat(node.style.top),
                                             library: node.classList.contains('library'),
                                           })));

test('a bar is as wide as the looks at its function, below its caller', async () => {
  const page = await open(browser, html);
  const [train, step, forward, loss, ...others] = await frames(page);
  assert.deepEqual(others, [], 'what calls all of it is left out');
  assert.deepEqual([train.left, train.width, train.top], [0, 100, 0]);
  assert.match(train.title, /^train, \/src\/train\.py:40: 100 % of the looks, 10 % itself$/);
  assert.deepEqual([step.left, step.width], [0, 60]);
  assert.deepEqual([forward.left, forward.width, forward.library], [0, 45, true]);
  assert.deepEqual([loss.left, loss.width, loss.library], [60, 30, false]);
  assert.ok(train.top < step.top && step.top < forward.top && loss.top === step.top);
});

test('a click shows a function in full width, another one all again', async () => {
  const page = await open(browser, html);
  const before = await frames(page);
  const press = async (start) => {
    for (const node of await page.$$('.icicle .frame')) {
      if ((await node.evaluate(({title}) => title)).startsWith(start)) return node.press('Enter');
    }
    assert.fail(`no ${start}`);
  };
  await press('step,');
  const [step, forward, ...others] = await frames(page);
  assert.deepEqual(others, []);
  assert.deepEqual([step.left, step.width, forward.left, forward.width], [0, 100, 0, 75]);
  assert.match(forward.title, /: 45 % of the looks, 45 % itself$/, 'shares stay those of all');
  await press('step,');
  assert.deepEqual(await frames(page), before);
});

test('the bar that was pressed keeps the focus', async () => {
  const page = await open(browser, html);
  await page.$$eval('.icicle .frame', (nodes) => nodes[1].focus());
  await page.keyboard.press('Enter');
  const title = await page.evaluate(() => document.activeElement.title);
  assert.match(title, /^step,/);
});

test('names of functions are text, and looks have a sentence', async () => {
  const page = await open(browser, html);
  const loss = await page.$$eval('.icicle .frame', (nodes) => nodes.map((n) => n.textContent));
  assert.ok(loss.some((name) => name.includes('onload=window.harmed')), `${loss}`);
  const [summary] = await page.$$eval(
      '#breakdown details:has(.icicle) summary', (nodes) => nodes.map((n) => n.textContent));
  assert.match(summary, /: 200 looks; the thread ran, or was ready to, in 75 % of them$/);
});

// Of [begin, end, name] each.
const laneOf = (events) => ({
  begins: Float64Array.from(events, ([begin]) => begin),
  ends: Float64Array.from(events, ([, end]) => end),
  names: Uint32Array.from(events, ([, , name]) => name),
});

const outline = (frames) =>
    frames.map(({name, weight, own, called}) => [name, weight, own, ...outline(called)]);

test('calls of a function by the same callers are one, the longest first', async () => {
  const {callsOf} = await moduleOf('scope_calls');
  const names = ['train.py(3): train', 'nn/linear.py(7): forward', 'aten::add', 'loss.py(9): loss'];
  const lanes = [
    laneOf([[0, 100, 0], [100, 110, 3]]),
    laneOf([[0, 10, 3], [20, 50, 1], [60, 90, 1], [102, 104, 2]]),
    laneOf([[5, 6, 2], [20, 30, 2], [30, 35, 2], [60, 61, 2]]),
  ];
  assert.deepEqual(outline(callsOf(lanes, names)), [
    [
      'train', 100, 30, ['forward', 60, 44, ['aten::add', 16, 16]],
      ['loss', 10, 9, ['aten::add', 1, 1]]
    ],
    ['loss', 10, 8, ['aten::add', 2, 2]],
  ]);
  const [{called: [forward]}] = callsOf(lanes, names);
  assert.deepEqual([forward.file, forward.line, forward.library], ['nn/linear.py', 7, '']);
  assert.notEqual(forward.called[0].library, '', 'no Python function');
});

test('what lies in no scope of the lane above is called by one further up', async () => {
  const {callsOf} = await moduleOf('scope_calls');
  const lanes = [laneOf([[0, 100, 0]]), laneOf([[0, 10, 1]]), laneOf([[20, 30, 2]])];
  assert.deepEqual(
      outline(callsOf(lanes, ['a', 'b', 'c'])), [['a', 100, 80, ['b', 10, 10], ['c', 10, 10]]]);
});

test('an imported run has an icicle of its scopes, a thinned one has none', async () => {
  const bars = async (change) => {
    const whole = readFileSync(join(folder, 'deep.html'), 'utf8');
    const file = join(folder, 'imported_deep.html');
    writeFileSync(
        file,
        whole.replace(
            /(<script type="application\/json".*?>)([^]*?)(?=<\/script>)/, (_, tag, text) => {
              const data = JSON.parse(text);
              change(data);
              return tag + JSON.stringify(data).replaceAll('<', '\\u003c');
            }));
    const page = await open(browser, file);
    return (await frames(page)).length;
  };
  const imported = ({report}) => report.device_kind = 'imported';
  assert.equal(await bars(() => undefined), 0);
  assert.ok(await bars(imported) > 0);
  assert.equal(
      await bars((data) => {
        imported(data);
        data.timeline.whole = false;
      }),
      0);
});
