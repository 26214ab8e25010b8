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

test('one sentence says what differs and by how much', async () => {
  page = await openChanged((data) => {
    data.groups[1].name = 'candidate';
    for (const {figure, groups} of data.figures) {
      if (!/^iteration/.test(figure)) continue;
      Object.assign(groups[0], {value: 100});
      Object.assign(groups[1], {value: 103, difference: 3, low: 2, high: 4, significant: true});
    }
    const operations = data.figures.filter(({figure}) => figure === 'operation_wall');
    operations.forEach(({groups}, i) => {
      Object.assign(groups[0], {value: 100});
      Object.assign(groups[1], {value: 200 + i, difference: 100 + i, significant: true});
    });
    operations[1].name = 'update, all';
  });
  const said = await text(page, '.lead');
  assert.match(said, /^candidate against before\. Worse: median iteration \+3\.0 %, /);
  assert.match(said, /, update, all \+101 %/);
  assert.match(said, /, W{20}\u2026m{19} \+103 %/);
  assert.match(said, /Better: GPU busy \+\d\.\d pt\.$/);
  assert.equal(said.match(/iteration/g).length, 1, said);
  assert.ok(said.length < 250, said);
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

test('what differs without a doubt is counted where it is too much to name', async () => {
  page = await openChanged((data) => {
    const operation = data.figures.find(({figure}) => figure === 'operation_wall');
    data.figures = [];
    for (let i = 0; i < 12; ++i) {
      const copy = structuredClone(operation);
      copy.name = `op${i}`;
      Object.assign(copy.groups[1], {difference: -i, low: -i, high: -i, significant: true});
      data.figures.push(copy);
    }
  });
  assert.match(await text(page, '.lead'), /Better: op11 .*, op10 .*, op9 .*, op8 .* and 8 more\.$/);
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
