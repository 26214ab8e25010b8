// SPDX-License-Identifier: Apache-2.0
//
// The timeline as a person handles it: the wheel, dragging, searching, selecting, and the way from a
// kernel to its launch. What it says are the numbers of the report.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {before, test} from 'node:test';

import {browser, open, parseTime, rows, settle, spelledOut, surround, text} from './browser.mjs';

const folder = surround('timeline');
const html = join(folder, 'page.html');
let report;

before(() => {
  report = JSON.parse(readFileSync(join(folder, 'report.json')), spelledOut);
});

// Where the canvas is in the window, in the middle of it.
async function canvasBox(page) {
  const canvas = await page.$('.tl-canvas canvas');
  await canvas.evaluate((node) => node.scrollIntoView({block: 'center'}));
  await settle(page);
  return canvas.boundingBox();
}

// How long the stretch is that is shown, and where it begins, in ns.
async function shown(page) {
  await settle(page);
  const [, length, begin] =
      (await text(page, '#resolution')).match(/^Shown: (.*?) from ([\d.]+) s/);
  return {length: parseTime(length), begin: Number(begin) * 1e9};
}

async function ctrlWheel(page, pixels, times = 1) {
  await page.keyboard.down('Control');
  for (let i = 0; i < times; ++i) await page.mouse.wheel({deltaY: pixels});
  await page.keyboard.up('Control');
}

test('a notch of the wheel with Ctrl zooms by about an eighth, at the pointer', async () => {
  const page = await open(browser, html);
  const {x, y, width} = await canvasBox(page);
  await page.mouse.move(x + width / 4, y + 30);
  await ctrlWheel(page, -100);
  const {length, begin} = await shown(page);
  assert.ok(Math.abs(4e6 / length - 1.13) < 0.02, `${4e6 / length}`);
  assert.ok(Math.abs(begin + length / 4 - 1e6) < 1e4, 'what was under the pointer still is');
  await ctrlWheel(page, 100, 3);
  assert.equal((await shown(page)).length, 4e6);
});

test('the wheel with Ctrl never zooms the browser, not even at the limits', async () => {
  const page = await open(browser, html);
  const {x, y, width} = await canvasBox(page);
  await page.evaluate(() => {
    window.left = 0;
    addEventListener('wheel', (event) => window.left += !event.defaultPrevented);
  });
  await page.mouse.move(x + width / 2, y + 30);
  await ctrlWheel(page, 100, 3);
  await ctrlWheel(page, -4000, 60);
  assert.equal((await shown(page)).length, 200);
  await ctrlWheel(page, -100, 3);
  await page.mouse.move(x - 40, y + 30);  // on the names
  await ctrlWheel(page, 100, 3);
  assert.equal(await page.evaluate(() => window.left), 0);
});

async function drag(page, from, to, y0, y1) {
  await page.mouse.move(from, y0);
  await page.mouse.down();
  await page.mouse.move((from + to) / 2, (y0 + y1) / 2);
  await page.mouse.move(to, y1);
  await page.mouse.up();
}

test('dragging zooms to the range', async () => {
  const page = await open(browser, html);
  const {x, y, width} = await canvasBox(page);
  await drag(page, x + width / 2, x + width / 4, y + 40, y + 60);
  const {length, begin} = await shown(page);
  assert.ok(Math.abs(length - 1e6) < 2e4, `${length}`);
  assert.ok(Math.abs(begin - 1e6) < 2e4, `${begin}`);
});

test('Shift and dragging sums up by name what the range holds', async () => {
  const page = await open(browser, html, {height: 1600});
  const {x, y, width, height} = await canvasBox(page);
  await page.keyboard.down('Shift');
  await drag(page, x + 1, x + width - 1, y + 1, y + height - 2);
  await page.keyboard.up('Shift');
  assert.equal((await shown(page)).length, 4e6, 'the view stays');
  const sums = await rows(page, '.tl-selection');
  const kernels = report.processes.flatMap((process) => process.kernels);
  for (const {name} of kernels) {
    const ofIt = kernels.filter((kernel) => kernel.name === name);
    const row = sums.find((sum) => sum.row === `GPU ${name}`);
    assert.equal(row.figures.ns, ofIt.reduce((sum, kernel) => sum + kernel.sum_ns, 0), name);
    assert.equal(row.count, ofIt.reduce((sum, kernel) => sum + kernel.count, 0), name);
  }
  await page.focus('.tl-canvas canvas');
  await page.keyboard.press('Escape');
  assert.equal(await page.$('.tl-selection'), null);
});

test('a search counts what it finds and goes through it in order of time', async () => {
  const page = await open(browser, html);
  await page.keyboard.press('/');
  await page.keyboard.type('cudastream');
  const {iterations} = report.processes[0];
  const all = iterations.count + iterations.warm_up;
  assert.equal(await text(page, '.timeline output'), String(all));
  const visited = [];
  for (const shift of [false, false, true]) {
    if (shift) await page.keyboard.down('Shift');
    await page.keyboard.press('Enter');
    await page.keyboard.up('Shift');
    await settle(page);
    visited.push([await text(page, '.timeline output'), await text(page, '#chosen')]);
  }
  assert.deepEqual(visited.map(([count]) => count), [`1 of ${all}`, `2 of ${all}`, `1 of ${all}`]);
  assert.match(visited[0][1], /^cudaStreamSynchronize: 22\.0 us .* at 0\.0000500/);
  assert.match(visited[1][1], /^cudaStreamSynchronize: 22\.0 us .* at 0\.0001500/);
  assert.deepEqual(visited[2], visited[0]);
  await page.keyboard.down('Control');
  await page.keyboard.press('a');
  await page.keyboard.up('Control');
  await page.keyboard.type('no such name');
  assert.equal(await text(page, '.timeline output'), 'none');
});

test('a question mark opens a list of keys, and Escape closes it', async () => {
  const page = await open(browser, html);
  await page.keyboard.press('?');
  assert.ok(await page.$eval('.help', (dialog) => dialog.open));
  assert.match(await text(page, '.help'), /Shift and drag.*sums by name/);
  await page.keyboard.press('Escape');
  assert.ok(!await page.$eval('.help', (dialog) => dialog.open));
});

// How many pixels of the canvas have the colour of arrows.
const arrowPixels = (page) => page.$eval('.tl-canvas canvas', (canvas) => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height);
  const context = copy.getContext('2d', {willReadFrequently: true});
  context.drawImage(canvas, 0, 0);
  const {data} = context.getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4)
    count += data[i] === 0xb4 && data[i + 1] === 0x53 && data[i + 2] === 0x09;
  return count;
});

test('a chosen kernel says what launched it, and an arrow leads there', async () => {
  const page = await open(browser, html);
  await page.evaluate(
      () => [...document.querySelectorAll('.tl-label')]
                .find((label) => label.textContent.startsWith('GPU 0 stream'))
                .click());
  await page.focus('.tl-canvas canvas');
  await page.keyboard.press('n');
  assert.match(await text(page, '#chosen'), /, launched by cudaLaunchKernel 3\.00 us before$/);
  await page.keyboard.press('f');
  await settle(page);
  const withArrow = await arrowPixels(page);
  await page.keyboard.press('n');  // a copy, of which no call was recorded as its launch
  await page.keyboard.press('f');
  await settle(page);
  assert.ok(withArrow > await arrowPixels(page) + 30, `${withArrow}`);
});

// What the tip says at the middle of the row |title|, |share| of the way.
async function tipOn(page, title, share) {
  const {x, y, width} = await canvasBox(page);
  const [top, height] = await page.evaluate((title) => {
    const label = [...document.querySelectorAll('.tl-label')].find((l) => l.textContent === title);
    return [parseFloat(label.style.top), parseFloat(label.style.height)];
  }, title);
  await page.mouse.move(x + share * width, y + top + height / 2 - 2);
  return text(page, '.tip');
}

test('counters of the program, and what was sampled, are tracks', async () => {
  const page = await open(browser, html, {height: 1400});
  assert.equal(await tipOn(page, 'mean_return', 0.6), 'mean_return24');
  assert.equal(await tipOn(page, 'mean_return', 0.01), 'mean_returnnot sampled yet');
  assert.equal(await tipOn(page, 'resident memory', 0.6), 'resident memory1.50 GiB');
});

test('a track says why the device was idle', async () => {
  const page = await open(browser, html, {height: 1400});
  // Of the first iteration, between its copy and the kernel of the second one.
  const gap = report.processes[0].gaps[0];
  const said = await tipOn(page, 'GPU 0 idle, why', (gap.begin_ns + gap.ns / 2) / 4e6);
  const words = await text(page, '.gaps tbody tr td:nth-of-type(3)');
  assert.ok(said.endsWith(words), `${said} for ${words}`);
  assert.match(said, /^idle for /);
});

test('the timeline is as wide as the window', async () => {
  const page = await open(browser, html, {width: 2200});
  assert.ok((await page.$eval('.timeline', (node) => node.clientWidth)) > 2050);
});

test('the address leads another reader to what is seen', async () => {
  const page = await open(browser, html);
  await page.focus('.tl-canvas canvas');
  for (let i = 0; i < 3; ++i) await page.keyboard.press('+');
  await page.select('#process', 'program (pid 101)');
  await page.evaluate(
      () => [...document.querySelectorAll('button')]
                .find((b) => b.textContent === 'by layer')
                .click());
  const there = await shown(page);
  await page.waitForFunction(() => /by=layer/.test(location.hash) && /begin=/.test(location.hash));
  const hash = await page.evaluate(() => location.hash);
  const other = await open(browser, html);
  await other.evaluate((hash) => {
    location.hash = hash;
    location.reload();
  }, hash);
  await other.waitForSelector('html[data-ready]');
  assert.deepEqual(await shown(other), there);
  assert.equal(await other.$eval('#process', (choice) => choice.selectedIndex), 1);
  assert.equal(await text(other, '.breakdown thead th'), 'layer');
});

test('the theme that was chosen is there on the next page', async () => {
  const page = await open(browser, html);
  await page.click('#theme');
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.reload();
  await page.waitForSelector('html[data-ready]');
  assert.equal(await ground(), dark);
  await page.click('#theme');
  assert.notEqual(await ground(), dark);
});
