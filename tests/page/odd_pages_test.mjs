// SPDX-License-Identifier: Apache-2.0
//
// Pages of runs that are unlike most (odd_pages.h): nothing is drawn as longer than it was, nothing
// vanishes, and a page stays small however many names the run has.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';

import {browser, open, rows, settle, surround, text} from './browser.mjs';

const folder = surround('odd');
const show = (name, options) => open(browser, join(folder, `${name}.html`), options);
const reportOf = (name) => JSON.parse(readFileSync(join(folder, `${name}.json`)));

// Of the track |title|: the part of each column of pixels that is drawn on, by how far its pixels
// are from the ground.
const drawn = (page, title) => page.evaluate((wanted) => {
  const label = [...document.querySelectorAll('.tl-label')].find((l) => l.textContent === wanted);
  const canvas = document.querySelector('.tl-canvas canvas');
  const [top, height] = [parseInt(label.style.top) + 1, parseInt(label.style.height) - 6];
  const copy = new OffscreenCanvas(canvas.width, height);
  const context = copy.getContext('2d', {willReadFrequently: true});
  context.drawImage(canvas, 0, -top);
  const {data} = context.getImageData(0, 0, canvas.width, height);
  const ground = [0xf1, 0xf3, 0xf5];  // as timeline/scene.ts has it
  const far = (x, y) => {
    const at = (y * canvas.width + x) * 4;
    return Math.max(...[0, 1, 2].map((i) => Math.abs(ground[i] - data[at + i])));
  };
  const columns = Array.from(
      {length: canvas.width}, (_, x) => Array.from({length: height}, (_, y) => far(x, y)));
  const most = Math.max(1, ...columns.map((column) => Math.max(...column)));
  return columns.map((column) => column.reduce((sum, part) => sum + part / most, 0) / height);
}, title);

const mean = (parts) => parts.reduce((sum, part) => sum + part, 0) / parts.length;

async function zoomIn(page, times) {
  await page.focus('.tl-canvas canvas');
  for (let i = 0; i < times; ++i) await page.keyboard.press('+');
  await settle(page);
}

// 0.02 % of the time a kernel runs.
for (const [times, how, most] of [
         [0, /shares in steps of/, 0.2], [3, /every single event/, 0.2],
         [8, /every single event/, 0.1]]) {
  test(`kernels that take no time neither fill the timeline nor vanish, ${times} x +`, async () => {
    const page = await show('sparse');
    await zoomIn(page, times);
    assert.match(await text(page, '#resolution'), how);
    const columns = await drawn(page, 'GPU 0 busy');
    assert.ok(mean(columns) < most, `${mean(columns)} of it is drawn on`);
    const marks = columns.filter((part, x) => part > 0 && !(columns[x - 1] > 0)).length;
    const expected = times < 8 ? 1 : 90;
    assert.ok(marks >= expected, `${marks} marks`);
    if (times === 0) assert.ok(columns.every((part) => part > 0), 'something everywhere');
  });
}

test('as much is drawn as ran, whatever stretch is seen', async () => {
  const page = await show('uneven');
  const {span_ns, gpu_busy_ns} = reportOf('uneven').processes[0];
  for (const how of [/steps of/, /steps of/, /every single event/]) {
    assert.match(await text(page, '#resolution'), how);
    // Of single events one line of 28 is left free between tracks; what shares a pixel is blended.
    const whole = /event/.test(how.source) ? 27 / 28 : 1;
    const part = mean(await drawn(page, 'GPU 0 busy')) / whole;
    assert.ok(Math.abs(part - gpu_busy_ns / span_ns) < 0.04, `${part}, ${how}`);
    await zoomIn(page, 2);
  }
});

// What the tip says of a place on the timeline.
async function tipAt(page, right, down) {
  const canvas = await page.$('.tl-canvas canvas');
  await canvas.evaluate((node) => node.scrollIntoView({block: 'center'}));
  const {x, y} = await canvas.boundingBox();
  await page.mouse.move(x + right, y + down);
  return text(page, '.tip');
}

test(
    'a tip is about all that a column of pixels shows, and claims no more than is known',
    async () => {
      const page = await show('sparse');
      for (let x = 300; x < 310; ++x)
        assert.match(await tipAt(page, x, 36), /^1\.\d\d ms at 0\.\d+ scompute: <0\.[12] %$/);
    });

test('a kernel that is as narrow as a pixel can be pointed at, whatever its name', async () => {
  const page = await show('sparse');
  await zoomIn(page, 8);
  const columns = await drawn(page, 'GPU 0 busy');
  const names = new Set();
  for (const x of columns.flatMap((part, i) => (part > 0 ? [i] : [])).slice(0, 8))
    names.add((await tipAt(page, x + 0.1, 36)).match(/^(\w+?)50 ns/)?.[1]);
  assert.deepEqual([...names].sort(), ['__proto__', 'constructor', 'toString', 'valueOf']);
  await zoomIn(page, 16);  // names are written on the bars
  assert.match(await text(page, '#resolution'), /^Shown: \d+\.?\d* us/);
});

// Of the labels of the time axis.
const placesOf = (page) => page.$$eval(
    '.tl-top .tick text',
    (nodes) => nodes.filter((node) => node.textContent !== '')
                   .map((node) => node.getBoundingClientRect())
                   .map(({left, right}) => ({left, right})));

for (const width of [360, 800, 1280]) {
  test(`labels of the time axis have room, however far the zoom, at ${width} pixels`, async () => {
    const page = await show('long', {width, height: 900});
    for (let i = 0; i < 20; ++i) {
      const places = await placesOf(page);
      assert.ok(places.length >= 1);
      assert.ok(places.every(({right}) => right <= width), JSON.stringify(places));
      for (let k = 1; k < places.length; ++k) assert.ok(places[k - 1].right < places[k].left);
      assert.doesNotMatch(await text(page, '#resolution'), /\.\d{3,} ns/);
      await zoomIn(page, 3);
    }
    assert.match(await text(page, '#resolution'), /^Shown: 200 ns from 5[34]\d\d\.\d{9}/);
  });
}

test(
    'scopes nested deep are drawn, and what is nested too deep is said to be missing', async () => {
      const page = await show('deep');
      assert.match(
          await text(page, '#resolution'),
          /The innermost of deeply nested scopes are not drawn\.$/);
      for (const [down, depth] of [[30, 0], [112, 5], [120, 6], [348, 63]])
        assert.match(
            await tipAt(page, 600, down),
            new RegExp(`^depth-${depth}[^0-9]|^depth-${depth}9[^0-9]`));
    });

test('every table of many operations has the longest, and what the others come to', async () => {
  const page = await show('rows');
  const [process] = reportOf('rows').processes;
  const sum = (shown, key) => shown.reduce((all, row) => all + (row.figures[key] ?? 0), 0);
  const kernels = await rows(page, '.kernels');
  assert.equal(sum(kernels, 'sum_ns'), process.gpu_sum_ns);
  assert.equal(kernels.reduce((all, row) => all + row.count, 0), 100);
  const transitions = await rows(page, '.transitions');
  assert.equal(
      transitions.reduce((all, row) => all + row.count, 0),
      process.operations.flatMap((row) => Object.values(row.transitions)).reduce((a, b) => a + b));
  const devices = await rows(page, '.operation-devices');
  assert.equal(sum(devices, 'wall_ns'), process.span_ns);
  const corrected = (await rows(page, '.corrected')).slice(1);
  assert.equal(sum(corrected, 'wall_ns'), process.corrected.span_ns);
  const lane = await rows(page, '.lane');
  assert.equal(sum(lane, 'wall_ns'), process.span_ns);
  const iteration = await rows(page, '.mean-iteration');
  assert.equal(iteration.length, 9);
  const each = process.iterations.total_ns / process.iterations.count;
  assert.ok(Math.abs(sum(iteration, 'wall_ns') - each) < 9, 'each row is rounded down');
  for (const shown of [kernels, transitions, devices, corrected, lane]) {
    assert.equal(shown.length, 41);
    assert.match(shown[40].row, /^\(\d+ others\)/);
  }
});

test('classes that run side by side are each said whole', async () => {
  const page = await show('classes');
  const bar = '.tile .bar';
  assert.equal(
      await page.$eval(bar, (node) => node.getAttribute('aria-label')),
      'compute 50 %, communication 10 %, copy 20 %');
  assert.deepEqual(
      await page.$$eval(`${bar} span`, (nodes) => nodes.map((node) => node.title)),
      ['compute 50 %', 'communication 10 %', 'copy 20 %']);
  const widths =
      await page.$$eval(`${bar} span`, (nodes) => nodes.map((n) => parseFloat(n.style.width)));
  assert.ok(Math.abs(widths.reduce((a, b) => a + b) - 70) < 0.01, `${widths}`);
});

test('the bar of idle time is as long as its causes say, in shares of the run', async () => {
  const page = await show('rows');
  const [process] = reportOf('rows').processes;
  const bars = await page.$$eval(
      '#idle .bar.tall span', (nodes) => nodes.map((node) => parseFloat(node.style.width)));
  const causes = (await rows(page, '.causes')).map((row) => row.figures.ns);
  assert.equal(bars.length, causes.length);
  bars.forEach((width, i) => {
    assert.ok(Math.abs(width - 100 * causes[i] / process.span_ns) < 0.01, `${width}, ${causes[i]}`);
  });
  assert.equal(causes.reduce((a, b) => a + b), process.span_ns - process.gpu_busy_ns);
});

test('a page of nothing says what may be the cause, as the command does', async () => {
  const page = await show('empty');
  const [first, ...others] = reportOf('empty').diagnosis.map(({finding}) => finding);
  assert.equal(await text(page, '.lead'), first);
  // What to type is marked as such, in the report by backticks.
  const shown = await page.$$eval('.advice li', (nodes) => nodes.map((node) => {
    for (const code of node.querySelectorAll('code')) code.replaceWith(`\`${code.textContent}\``);
    return node.textContent;
  }));
  assert.deepEqual(shown, others);
  assert.equal(others.length, 7);
  assert.match(others[3], /LD_PRELOAD/);
  for (const none of ['.timeline', '.chip']) assert.equal(await page.$(none), null, none);
});

test('the chart of iterations can be read in a narrow window', async () => {
  for (const [width, smallest] of [[360, 11], [1280, 11]]) {
    const page = await show('rows', {width, height: 800});
    const heights = await page.$$eval(
        '.chart .axis text', (nodes) => nodes.map((node) => node.getBoundingClientRect().height));
    assert.ok(Math.min(...heights) >= smallest, `${Math.min(...heights)} pixels at ${width}`);
    const places = await page.$eval(
        '.chart .axis',
        (axis) => [...axis.querySelectorAll('text')]
                      .map((node) => node.getBoundingClientRect())
                      .map(({left, right}) => [left, right]));
    assert.ok(places.length >= 4);
    for (let i = 1; i < places.length; ++i) assert.ok(places[i][0] >= places[i - 1][1]);
  }
});

test('no two processes or devices are called the same', async () => {
  const page = await show('alike');
  const texts = (selector) =>
      page.$$eval(selector, (nodes) => nodes.map((node) => node.textContent.trim()));
  assert.deepEqual(
      await texts('#process option'), ['program (pid 100 on near)', 'program (pid 100 on far)']);
  const lines = await texts('.tl-head');
  assert.match(lines.join('|'), /program \(100 on near\)\|.*program \(100 on far\)/);
  const devices = await texts('th.device-name');
  assert.ok(devices.length >= 2);
  assert.equal(new Set(devices).size, devices.length, `${devices}`);
  assert.ok(devices.every((name) => name.startsWith('NVIDIA H100 ')), `${devices}`);
  const rows = await texts('.operation-devices td.device-name');
  assert.equal(new Set(rows).size, 2, `${rows}`);
  const ids = await page.$$eval('[id]', (nodes) => nodes.map(({id}) => id));
  assert.equal(new Set(ids).size, ids.length);
});

// Of each column of each table the names that are cut, and of each what can be seen of it.
const cutNames = (page) => page.$$eval('table', (tables) => tables.flatMap((table) => {
  const columns = new Map();
  for (const row of table.querySelectorAll('tbody tr')) {
    [...row.children].forEach((cell, i) => {
      const name = cell.querySelector('.full-name');
      if (!name || !name.checkVisibility()) return;
      const [front, back] = name.children;
      const seen = (part) => part.textContent.slice(
          0, Math.floor(part.textContent.length * part.clientWidth / (part.scrollWidth || 1)));
      const column = columns.get(i) ?? [];
      column.push({
        full: name.title,
        shown: seen(front) + seen(back),
        within: name.getBoundingClientRect().right <= cell.getBoundingClientRect().right,
      });
      columns.set(i, column);
    });
  }
  return [...columns.values()];
}));

for (const width of [1280, 400]) {
  test(`what differs in long names can be seen at ${width} pixels`, async () => {
    const page = await show('names', {width});
    const columns = await cutNames(page);
    assert.ok(columns.length >= 6, `${columns.length} columns`);
    assert.ok(columns.some((names) => names.length >= 40));
    for (const names of columns) {
      const shown = new Map(names.map((name) => [name.full, name.shown]));
      assert.equal(new Set(shown.values()).size, shown.size, JSON.stringify([...shown]));
      for (const name of names) assert.ok(name.within, JSON.stringify(name));
    }
    const pids = await page.$$eval(
        '.processes th button', (nodes) => nodes.map((node) => ({
                                                       text: node.textContent,
                                                       whole: node.scrollWidth <= node.clientWidth,
                                                     })));
    assert.equal(pids.length, 8);
    for (const {text, whole} of pids) assert.ok(whole && /pid \d+, rank \d\)$/.test(text), text);
  });
}

test('the gaps and the legend tell long names apart', async () => {
  const page = await show('names');
  const cells = await page.$$eval(
      '.gaps tbody tr',
      (nodes) => nodes.map((row) => row.children[5]).map((cell) => ({
                                                           shown: cell.textContent,
                                                           full: cell.title,
                                                         })));
  const shown = new Map(cells.map(({full, shown}) => [full, shown]));
  assert.ok(shown.size >= 4);
  assert.equal(new Set(shown.values()).size, shown.size, JSON.stringify([...shown]));
  const legend = await page.$$eval(
      '.timeline > .legend li[title*="/"]', (all) => all.map((n) => n.textContent));
  assert.equal(legend.length, 12);
  assert.equal(new Set(legend).size, legend.length, `${legend}`);
});

test('what to do about idle time is on the screen, however long names are', async () => {
  const page = await show('names');
  const right = await page.$$eval(
      '.causes tbody td.wide', (nodes) => nodes.map((node) => node.getBoundingClientRect().right));
  assert.ok(right.length > 0);
  assert.ok(right.every((at) => at <= 1280), `${right}`);
});

test('a legend names no kind of which there is nothing', async () => {
  const groups = async (name) => {
    const page = await show(name);
    return page.$$eval('.legend-group', (nodes) => nodes.map((node) => node.textContent));
  };
  assert.ok((await groups('names')).includes('Threads:'));
  assert.ok(!(await groups('classes')).includes('Threads:'), 'it has no operation');
  assert.deepEqual((await groups('deep')).filter((group) => /GPU|CUDA/.test(group)), []);
  const items = async (name) => {
    const page = await show(name);
    return page.$$eval('.timeline > .legend li', (nodes) => nodes.map((node) => node.title));
  };
  assert.ok((await items('classes')).includes('comm'));
  assert.ok(!(await items('names')).includes('comm'));
});

test('no figure beside a name is cut off in a window of 1280 pixels', async () => {
  for (const name of ['page', 'names']) {
    const page = await show(name);
    const tables = await page.$$eval(
        '.halves .scroll, .kernels .scroll',
        (nodes) => nodes.map(
            ({ariaLabel, scrollWidth, clientWidth}) => [ariaLabel, scrollWidth - clientWidth]));
    assert.ok(tables.length >= 3, `${tables}`);
    assert.deepEqual(tables.filter(([, hidden]) => hidden > 0), [], name);
  }
});

test('a column of which no row says anything is not shown, nor explained', async () => {
  for (const name of ['names', 'alike', 'classes', 'rows', 'page']) {
    const page = await show(name);
    const silent = await page.$$eval('table', (tables) => tables.flatMap((table) => {
      const rows = [...table.querySelectorAll('tbody tr')];
      const isSilent = (cell) => /^(|0|0 %|-|\u2013)$/.test(cell.textContent) &&
          !cell.querySelector('.bar > span, .interval > *, button, input, a');
      return [...table.querySelectorAll('thead tr > *')]
          .filter((_, i) => i > 0 && rows.length > 0)
          .map((head, i) => [head, rows.every((row) => isSilent(row.children[i + 1]))])
          .filter(([head, silent]) => silent !== head.hidden)
          .map(([head]) => `${table.caption.textContent}: ${head.textContent}`);
    }));
    assert.deepEqual(silent, [], name);
    const {heads, explained} = await page.evaluate(
        () => ({
          heads: [...document.querySelectorAll('#breakdown .breakdown thead th:not([hidden])')].map(
              (head) => head.textContent),
          explained: [...document.querySelectorAll('#breakdown .legend li')].map(
              (item) => item.textContent.split(':')[0]),
        }));
    const first = heads.includes('caused') ? 'caused' : 'GPU busy';
    const columns = heads.slice(heads.indexOf(first) + 1);
    assert.deepEqual(explained.filter((one) => one !== 'caused'), columns, name);
    assert.equal(columns.includes('unknown'), name === 'page', name);
  }
});

test('ticks of the time axis have a unit in which they are short', async () => {
  for (const [name, last] of [['alike', /^[1-9]\d* ns$/], ['rows', /^\d+\.?\d* [mu]s$/]]) {
    const page = await show(name);
    const ticks = await page.$$eval(
        '.tl-top .tick text', (nodes) => nodes.map((node) => node.textContent).filter(Boolean));
    assert.ok(ticks.length >= 3, `${ticks}`);
    assert.match(ticks.at(-1), last);
    assert.ok(ticks.every((tick) => tick.length <= 8), `${ticks}`);
  }
});

test('of one thing nothing is said in the plural', async () => {
  for (const name of ['alike', 'classes', 'deep', 'empty', 'long', 'names', 'rows', 'sparse']) {
    const page = await show(name);
    const found = await page.evaluate(() => {
      const titles = [...document.querySelectorAll('[title], [aria-label]')].map(
          (node) => `${node.title} ${node.getAttribute('aria-label')}`);
      const all = [...titles, document.body.textContent, ...document.body.innerText.split('\n')];
      const wrong = new RegExp(
          '(^|[^0-9.,])1 (more )?(iterations|processes|threads|kernels|launches|notes|rows|others|' +
          'names|events|looks|runs|ranks|devices|stretches|operations)\\b');
      return all.map((text) => wrong.exec(text)?.[0]).filter(Boolean);
    });
    assert.deepEqual(found, [], name);
  }
});

test('runs that leave no interval are not said to be alike', async () => {
  const page = await show('single');
  assert.match(
      await text(page, '.lead'),
      /^Of these two runs, B .*; whether that is more than chance is not known\.$/);
});

test('differences without an interval are drawn, and no column is kept for intervals', async () => {
  const page = await show('single');
  const points = await page.$$eval(
      'tr[data-row^="operation_wall"] .interval > b',
      (nodes) => nodes.map((node) => parseFloat(node.style.left)));
  assert.equal(points.length, 40);
  assert.ok(points.some((left) => left > 55), 'some take longer');
  const heads =
      await page.$$eval('thead th:not([hidden])', (nodes) => nodes.map((node) => node.textContent));
  assert.ok(heads.includes('change') && !heads.includes('95 % interval'), `${heads}`);
});

test('of many operations that are compared those are listed that matter most', async () => {
  const page = await show('single');
  const names = (await rows(page, '#group-1')).map(({row}) => row).filter(Boolean);
  const operations = names.filter((name) => name.startsWith('operation_wall '));
  assert.equal(operations.length, 40);
  assert.ok(operations.includes('operation_wall turn-59'));
  assert.ok(!operations.includes('operation_wall turn-0'));
  assert.match(await text(page, '#group-1'), /and 21 more: gpubound compare --json/);
});

test('long tables show their first rows, and all of them at the press of a button', async () => {
  const page = await show('many_processes');
  const {processes, devices} = reportOf('many_processes');
  assert.deepEqual([processes.length, devices.length], [50, 50]);
  for (const [caption, key, all] of [
           ['Processes', 'gpu_busy_ns', processes.map((process) => process.gpu_busy_ns)],
           ['Devices', 'busy_ns', devices.map((device) => device.busy_ns)]]) {
    const table = `[aria-label="Table: ${caption}"]`;
    const shown = () => page.$$eval(
        `${table} tbody tr [data-key="${key}"]`, (cells) => cells.map(({dataset}) => +dataset.ns));
    assert.deepEqual(await shown(), all.slice(0, 40), caption);
    const button = await page.$(`${table} + button`);
    assert.equal(await button.evaluate((node) => node.textContent), 'Show all 50');
    await button.click();
    assert.deepEqual(await shown(), all, caption);
    assert.equal(await page.$(`${table} + button`), null);
    assert.equal(await page.evaluate(() => document.activeElement.ariaLabel), `Table: ${caption}`);
  }
});

test('ranks that lie apart are called by what they have in common', async () => {
  const page = await show('ranks');
  const {outlier_groups: [group]} = reportOf('ranks').distribution;
  assert.equal(group.processes, 8);
  const shown = await rows(page, '.outliers');
  assert.deepEqual(
      shown.map(({row, figures}) => [row, figures.median_ns, figures.others_median_ns]),
      group.times.map(
          (time) => [`all 8 on node1 ${time.operation}`, time.median_ns, time.others_median_ns]));
  assert.match(shown[0].shown, /^all 8 on node1simulation700 ns303 ns$/);
  const [first] = await rows(page, '.collectives');
  assert.equal(first.row, 'rank 0 on device 0 of node0');
  const many = await show('many_processes');
  assert.equal(await many.$('.outliers'), null);
});

test('what was in use of the memory of GPUs is said where that is known', async () => {
  for (const [name, said] of [['roles', '12.3 GiB of 80.0 GiB'], ['uneven', null]]) {
    const page = await show(name);
    const devices = await rows(page, '.scroll[aria-label="Table: Devices"] table');
    const heads = await page.$$eval(
        '[aria-label="Table: Devices"] thead th', (cells) => cells.map((cell) => cell.textContent));
    assert.equal(heads.includes('memory in use at most'), said !== null, name);
    if (said !== null)
      assert.ok(devices.every((row) => row.shown.endsWith(said)), devices[0].shown);
  }
});

test('the legend names waits where a thread waited, and nowhere else', async () => {
  for (const [name, waits] of [['roles', true], ['rows', false]]) {
    const page = await show(name);
    const legend = await page.$$eval('.legend li', (items) => items.map((item) => item.title));
    assert.equal(legend.includes('waiting'), waits, name);
  }
});
