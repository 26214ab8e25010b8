// SPDX-License-Identifier: Apache-2.0
//
// The page of a comparison in headless Chromium: it says what the comparison's JSON says, colours
// only what is significant, obeys no name and asks the network for nothing.
import assert from 'node:assert/strict';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {before, test} from 'node:test';

import {browser, closeHarmless, open, spelledOut, surround, text} from './browser.mjs';

const folder = surround('compare');
const html = join(folder, 'compare.html');
let comparison;
let page;

before(() => {
  comparison = JSON.parse(readFileSync(join(folder, 'compare.json')), spelledOut);
});

const nameOf = (figure) => `${figure.figure} ${figure.name}`.trim();

// Every row: the numbers that its cells carry, and its text and colours.
const shownRows = (page) => page.$$eval('tr[data-row]', (nodes) => nodes.map((node) => {
  const number = (key) => Number(node.querySelector(`[data-key="${key}"]`)?.dataset.value);
  const interval = node.querySelector('[data-key="interval"]')?.dataset;
  const line = node.querySelector('.interval span');
  return {
    row: node.dataset.row,
    before: number('before'),
    value: number('value'),
    difference: number('difference'),
    low: interval ? Number(interval.low) : null,
    high: interval ? Number(interval.high) : null,
    verdict: node.lastElementChild.textContent,
    ink: getComputedStyle(node.lastElementChild).color,
    line: line ? [parseFloat(line.style.left), parseFloat(line.style.width)] : null,
  };
}));

test('every figure has its numbers, exactly', async () => {
  page = await open(browser, html);
  const shown = new Map((await shownRows(page)).map((row) => [row.row, row]));
  assert.equal(shown.size, comparison.figures.length);
  for (const figure of comparison.figures) {
    const row = shown.get(nameOf(figure));
    const [first, second] = figure.groups;
    assert.equal(row.before, first.value, row.row);
    assert.equal(row.value, second.value, row.row);
    assert.equal(row.difference, second.difference, row.row);
    if (first.value > 0 && second.value > 0) {
      assert.deepEqual([row.low, row.high], [second.low, second.high], row.row);
    }
  }
});

test('what is significant is named and coloured, and nothing else is', async () => {
  page = await open(browser, html);
  const shown = new Map((await shownRows(page)).map((row) => [row.row, row]));
  const ink = await page.evaluate(() => getComputedStyle(document.body).color);
  let significant = 0;
  for (const figure of comparison.figures) {
    const row = shown.get(nameOf(figure));
    assert.equal(row.verdict !== '', figure.groups[1].significant, row.row);
    if (row.verdict === '') assert.equal(row.ink, ink, row.row);
    significant += figure.groups[1].significant;
  }
  assert.ok(significant > 0 && significant < comparison.figures.length, `${significant}`);
});

test(
    'more time is worse, a busier GPU is better, GPU time of an operation is neither', async () => {
      page = await open(browser, html);
      const verdicts =
          Object.fromEntries((await shownRows(page)).map((row) => [row.row, row.verdict]));
      const slower = comparison.figures.find(
          (figure) => figure.figure === 'operation_wall' && figure.groups[1].significant &&
              figure.groups[1].difference > 0);
      assert.match(verdicts[nameOf(slower)], /worse$/);
      assert.match(verdicts.gpu_busy, /better$/);
      assert.match(verdicts[`operation_gpu_busy ${slower.name}`], /differs$/);
    });

test('an interval is drawn on its side of zero', async () => {
  page = await open(browser, html);
  const shown = new Map((await shownRows(page)).map((row) => [row.row, row]));
  for (const figure of comparison.figures) {
    const {line} = shown.get(nameOf(figure));
    const {significant, difference} = figure.groups[1];
    if (!significant || !line) continue;
    const [left, width] = line;
    assert.ok(difference > 0 ? left >= 50 : left + width <= 50.001, `${nameOf(figure)}: ${line}`);
  }
});

// The page with its data as |change| leaves it.
async function openChanged(change) {
  const data = JSON.parse(readFileSync(join(folder, 'compare.json')));
  change(data);
  const file = join(folder, 'changed.html');
  const escaped = JSON.stringify(data).replaceAll('<', '\\u003c');
  writeFileSync(
      file,
      readFileSync(html, 'utf8')
          .replace(
              /(<script type="application\/json".*?>)[^]*?(?=<\/script>)/,
              (_, tag) => tag + escaped));
  return open(browser, file);
}

test('how fast a group is, and what made it so, is said above everything', async () => {
  page = await openChanged((data) => {
    data.groups[1].speed.finding = 'B does 2.00 x [1.90, 2.10] the env steps per second of A.';
    data.groups[1].speed.reason = 'Most of it is in <b>update</b>.';
  });
  assert.equal(
      await text(page, '.lead'), 'B does 2.00 x [1.90, 2.10] the env steps per second of A.');
  assert.equal(await text(page, '.reason'), 'Most of it is in <b>update</b>.');
  await closeHarmless(page);
  page = await open(browser, html);
  assert.equal(await text(page, '.lead'), comparison.groups[1].speed.finding);
});

// The steps of the waterfall: their names, times and bars.
const steps = (page) => page.$$eval('tr[data-step]', (nodes) => nodes.map((node) => {
  const bar = node.querySelector('.step span');
  return {
    name: node.dataset.step,
    ns: Number(node.querySelector('[data-ns]').dataset.ns),
    left: parseFloat(bar.style.left),
    width: parseFloat(bar.style.width),
    look: bar.className,
  };
}));

// Times of operations for so much work, of the first group and of the second.
async function openOperations(times) {
  return openChanged((data) => {
    const operation = data.figures.find(({figure}) => figure === 'operation_wall');
    data.figures = times.map(([before, after], i) => {
      const copy = structuredClone(operation);
      copy.name = `op${i}`;
      copy.groups[0].value = before;
      Object.assign(copy.groups[1], {value: after, difference: after - before});
      return copy;
    });
    data.groups.forEach((group, i) => group.name = 'AB'[i]);
  });
}

test('a waterfall leads from the one time to the other, the largest step first', async () => {
  page = await openOperations([[100, 150], [300, 100], [100, 100]]);
  assert.deepEqual((await steps(page)).map(({name, ns, look}) => [name, ns, look]), [
    ['A', 500, 'differs'], ['op1', -200, 'better'], ['op0', 50, 'worse'], ['B', 350, 'differs']
  ]);
  const places = (await steps(page)).map(({left, width}) => [left, width].map(Math.round));
  assert.deepEqual(places, [[0, 100], [60, 40], [60, 10], [0, 70]]);
});

test('names of steps are whole where there is room', async () => {
  const long = (i) => `actor_critic/encoder/transformer/layer_${i}/attention_output`;
  page = await openChanged((data) => {
    data.figures.filter(({figure}) => figure === 'operation_wall').forEach((figure, i) => {
      figure.name = long(i);
      Object.assign(figure.groups[1], {value: figure.groups[0].value * (2 + i)});
    });
  });
  const names = await page.$$eval(
      '.waterfall .name',
      (nodes) => nodes.map((node) => [node.textContent, node.scrollWidth - node.clientWidth]));
  const operations = names.filter(([name]) => name.startsWith('actor_critic'));
  assert.ok(operations.length >= 3, `${names}`);
  for (const [name, hidden] of operations) {
    assert.match(name, /^actor_critic.encoder.transformer.layer_\d.attention_output$/);
    assert.ok(hidden <= 0, `${name}: ${hidden} pixels are cut`);
  }
});

test('it is said above the figures which runs are compared', async () => {
  const said = async (first, second) => {
    page = await openChanged(({groups}) => {
      Object.assign(groups[0], {name: first[0], runs: first.slice(1)});
      Object.assign(groups[1], {name: second[0], runs: second.slice(1)});
    });
    const note = await page.$eval('.lead + *', (node) => node.textContent);
    await closeHarmless(page);
    return note;
  };
  assert.equal(await said(['A', 'old.gpubound'], ['B', 'n']), 'A: old.gpubound; B: n');
  const many = Array.from({length: 9}, (_, i) => `run${i}`);
  assert.equal(
      await said(['v1', ...many], ['v2', 'n1', 'n2']),
      'v1: run0, run1, run2, run3, (5 others); v2: n1, n2');
  assert.doesNotMatch(await said(['old', 'old'], ['new', 'new']), /old/);
});

test('steps of many operations are the largest and the sum of the others', async () => {
  page = await openOperations(Array.from({length: 30}, (_, i) => [100, 101 + i]));
  const shown = await steps(page);
  assert.equal(shown.length, 11);
  assert.equal(shown[1].name, 'op29');
  assert.equal(shown[9].name, '(19 others)', 'but for what is not seen');
  assert.equal(shown[9].ns, 22 * 23 / 2 - 6);
  assert.equal(shown[10].ns, 3000 + 30 * 31 / 2);
});

test('times that are many times as long are drawn in full, on an axis of factors', async () => {
  page = await openChanged((data) => {
    const operations = data.figures.filter(({figure}) => figure === 'operation_wall');
    [[100, 1600, 1500, 1700], [100, 400, 390, 410], [100, 25, 24, 26]].forEach(
        ([before, value, low, high], i) => {
          Object.assign(operations[i].groups[0], {value: before});
          Object.assign(operations[i].groups[1], {
            value,
            difference: value - before,
            low: low - before,
            high: high - before,
          });
        });
    data.figures = operations.slice(0, 3);
  });
  const middle = (await shownRows(page)).map(({line: [left, width]}) => [left, left + width]);
  for (const [left, right] of middle) assert.ok(left > 0 && right <= 100, `${left} to ${right}`);
  const [most, some, less] = middle.map(([left, right]) => (left + right) / 2 - 50);
  assert.ok(Math.abs(most / some - 2) < 0.05, 'sixteen times is twice as far as four times');
  assert.ok(Math.abs(some + less) < 1, 'a quarter is as far as four times');
  assert.ok((await text(page, '#group-1')).includes('1/17 x to 17 x'));
});

test('what is not all gone has not fallen by all of it', async () => {
  page = await openChanged((data) => {
    const {groups} = data.figures.find(({figure}) => figure === 'operation_wall');
    Object.assign(groups[0], {value: 100000});
    Object.assign(groups[1], {value: 350, difference: -99650});
  });
  assert.equal(
      await text(page, 'tr[data-row^="operation_wall"] [data-key="difference"]'), '\u221299.6 %');
});

test('idle time of runs without a device is no number', async () => {
  page = await openChanged((data) => {
    for (const {figure, groups} of data.figures) {
      if (figure === 'gpu_idle') Object.assign(groups[1], {value: null, difference: 0});
    }
  });
  const rows = await page.$$eval(
      'tr[data-row^="gpu_idle"]',
      (nodes) => nodes.map((node) => [...node.children].slice(2, 5).map((td) => td.textContent)));
  assert.ok(rows.length > 0);
  for (const cells of rows) assert.deepEqual(cells, ['-', '', '']);
});

test('a simulated device is named at the top', async () => {
  for (const [simulated, said] of [
           [[true, true], 'SIMULATED DEVICE: GPU times are those of a model, not of hardware.'], [
             [false, true],
             `SIMULATED DEVICE: GPU times of ${
                 comparison.groups[1].name} are those of a model, not of hardware.`
           ]]) {
    page = await openChanged((data) => {
      assert.deepEqual(data.groups.map((group) => group.simulated), [true, true]);
      simulated.forEach((is, i) => data.groups[i].simulated = is);
    });
    assert.equal(await text(page, '.simulated'), said);
    await closeHarmless(page);
  }
  page = await openChanged((data) => data.groups.forEach((group) => group.simulated = false));
  assert.equal(await page.$('.simulated'), null);
});

test('names are text', async () => {
  page = await open(browser, html);
  const evil = comparison.groups[1].name;
  assert.ok((await text(page, '#group-1 h2')).startsWith(evil));
  assert.ok((await text(page, '#groups')).includes(comparison.groups[0].runs[2]));
  for (const tag of ['img', 'style + style']) assert.equal(await page.$(tag), null, tag);
});

test('the notes of the comparison are there', async () => {
  page = await open(browser, html);
  const shown = await text(page, '#groups');
  for (const note of comparison.notes) assert.ok(shown.includes(note), note);
  assert.ok(shown.includes(`seed ${comparison.seed}`));
});

test('both colours can be read on dark and on light ground', async () => {
  for (const scheme of ['light', 'dark']) {
    page = await open(browser, html, {scheme});
    const colours = await page.evaluate(
        () => ['--better', '--worse', '--sheet'].map(
            (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()));
    const [better, worse, ground] = colours.map(luminance);
    for (const colour of [better, worse]) {
      assert.ok(contrast(colour, ground) >= 4.5, `${colours} ${scheme}`);
    }
    assert.deepEqual(page.sins, []);
    if (scheme === 'light') await page.close();
  }
});

function luminance(colour) {
  const full = colour.length === 4 ? colour.replace(/[0-9a-f]/gi, '$&$&') : colour;
  const [r, g, b] = [1, 3, 5]
                        .map((at) => parseInt(full.slice(at, at + 2), 16) / 255)
                        .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

test('nothing sticks out of a window of 360 pixels', async () => {
  page = await open(browser, html, {width: 360, height: 800});
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 360);
});
