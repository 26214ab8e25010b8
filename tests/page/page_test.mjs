// SPDX-License-Identifier: Apache-2.0
//
// The report page in headless Chromium: it says what the report JSON says, obeys no name, asks the
// network for nothing, and can be used with keys alone.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, afterEach, before, test} from 'node:test';

import {closeHarmless, launch, open, parseTime, rows, settle, text} from './browser.mjs';

const folder = mkdtempSync(join(tmpdir(), 'gpubound-page-'));
const html = join(folder, 'page.html');
let browser;
let report;
let page;

const COLUMNS = ['cpu_only_ns', 'cpu_gpu_ns', 'gpu_only_ns', 'waiting_ns', 'idle_ns', 'unknown_ns'];
const evil = '</script><img src=x onerror=window.harmed=1>';

before(async () => {
  execFileSync(process.env.GPUBOUND_FIXTURE_PAGE, [folder]);
  report = JSON.parse(readFileSync(join(folder, 'report.json')));
  browser = await launch();
});

after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true});
});

afterEach(async () => {
  if (!page) return;
  await closeHarmless(page);
  page = undefined;
});

function assertShown(row, key, ns) {
  assert.equal(row.figures[key], ns, `${row.row} ${key}`);
  // Three digits are shown.
  assert.ok(
      Math.abs(parseTime(row.texts[key]) - ns) <= ns * 0.0051, `${row.texts[key]} for ${ns} ns`);
}

test('every operation has its figures and bars as long as they are', async () => {
  page = await open(browser, html);
  const {operations} = report.processes[0];
  const shown = await rows(page, '.breakdown');
  assert.deepEqual(shown.map((row) => row.row), operations.map((row) => row.operation));
  const longest = Math.max(...operations.map((row) => row.wall_ns));
  operations.forEach((row, i) => {
    for (const key of ['wall_ns', 'gpu_busy_ns', ...COLUMNS]) assertShown(shown[i], key, row[key]);
    const sum = shown[i].widths.reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(sum - row.wall_ns / longest * 100) < 0.01, `${row.operation}: ${sum} %`);
  });
});

for (const grouping of ['layer', 'phase', 'operation and layer']) {
  test(`rows by ${grouping} sum to the span`, async () => {
    page = await open(browser, html);
    await page.evaluate(
        (name) => [...document.querySelectorAll('button')]
                      .find((b) => b.textContent === `by ${name}`)
                      .click(),
        grouping);
    const shown = await rows(page, '.breakdown');
    const wall = shown.reduce((sum, row) => sum + row.figures.wall_ns, 0);
    assert.equal(wall, report.processes[0].span_ns);
    for (const row of shown) {
      assert.equal(COLUMNS.reduce((sum, key) => sum + row.figures[key], 0), row.figures.wall_ns);
    }
  });
}

test('every kernel has its figures beneath the operation that launched it', async () => {
  page = await open(browser, html);
  const {kernels} = report.processes[0];
  const shown = await rows(page, '.kernels');
  assert.deepEqual(
      shown.map((row) => row.row).filter((name) => kernels.every((k) => k.operation !== name)),
      kernels.map((kernel) => `${kernel.operation} ${kernel.name}`));
  for (const kernel of kernels) {
    const row = shown.find((row) => row.row === `${kernel.operation} ${kernel.name}`);
    for (const key of ['sum_ns', 'mean_ns', 'median_ns', 'p95_ns']) {
      assertShown(row, key, kernel[key]);
    }
    assert.equal(row.figures.sm_filled_ns, kernel.sm_filled_ns);
    assert.equal(row.count, kernel.count);
  }
  const operation = shown.find((row) => row.row === kernels[0].operation);
  const ofIt = kernels.filter((kernel) => kernel.operation === operation.row);
  assert.equal(operation.figures.sum_ns, ofIt.reduce((sum, kernel) => sum + kernel.sum_ns, 0));
});

test('the headline says what nvidia-smi would, and what is true', async () => {
  page = await open(browser, html);
  const lead = await text(page, '.lead');
  assert.match(
      lead, new RegExp(`^nvidia-smi would say ${Math.round(report.devices[0].smi_model * 100)} %`));
  assert.match(lead, new RegExp(`really worked ${Math.round(report.run.gpu_busy_share * 100)} %`));
  assert.match(lead, /first cause: (running environments|waiting for other processes)/);
});

test('a simulated device is named at the top', async () => {
  page = await open(browser, html);
  assert.match(await text(page, '.simulated'), /^SIMULATED DEVICE/);
});

test(
    'idle causes, transitions, gaps, iterations, processes and ledger are those of the report',
    async () => {
      page = await open(browser, html);
      const process = report.processes[0];
      const causes = {};
      for (const row of process.operations) {
        for (const [cause, ns] of Object.entries(row.device_idle))
          causes[cause] = (causes[cause] ?? 0) + ns;
      }
      const shownCauses = await rows(page, '.causes');
      assert.deepEqual(
          Object.fromEntries(shownCauses.map((row) => [row.row, row.figures.ns])), causes);

      const transitions = Object.fromEntries(process.operations.flatMap(
          (row) => Object.entries(row.transitions)
                       .map(([name, count]) => [`${row.operation} ${name}`, count])));
      const shownTransitions = await rows(page, '.transitions');
      assert.deepEqual(
          Object.fromEntries(shownTransitions.map((row) => [row.row, row.count])), transitions);

      const shownGaps = await rows(page, '.gaps');
      assert.deepEqual(
          shownGaps.map((row) => [Number(row.row), row.figures.ns]),
          process.gaps.map((gap) => [gap.begin_ns, gap.ns]));

      const facts = await page.$$eval(
          '#iterations dd[data-ns]',
          (nodes) => nodes.map((node) => [node.dataset.key, Number(node.dataset.ns)]));
      for (const [key, ns] of facts) assert.equal(ns, process.iterations[key], key);
      const slowest = await rows(page, '#iterations');
      assert.deepEqual(
          slowest.map((row) => [row.figures.ns, row.figures.gpu_busy_ns]),
          process.iterations.slowest.map((slow) => [slow.ns, slow.gpu_busy_ns]));

      const processes = await rows(page, '.processes');
      assert.deepEqual(processes.map((row) => Number(row.row)), report.processes.map((p) => p.pid));
      assert.equal(await page.$eval('#pid-101 a', (link) => link.getAttribute('href')), '#pid-100');

      const ledger = await rows(page, '.ledger');
      assert.deepEqual(ledger.map((row) => row.row), report.ledger.map((entry) => entry.counter));
    });

test('iterations on the chart are the report\'s', async () => {
  page = await open(browser, html);
  const data = JSON.parse(await text(page, '#data'));
  const points = data.processes[0].iterations;
  const {iterations} = report.processes[0];
  assert.equal(points.length, iterations.count + iterations.warm_up);
  for (const slow of iterations.slowest) {
    const [, count, begin, end, , , busy] = points.find(([number]) => number === slow.number);
    assert.deepEqual(
        [count, begin, end - begin, busy], [1, slow.begin_ns, slow.ns, slow.gpu_busy_ns]);
  }
});

test('hostile names are shown as they are', async () => {
  page = await open(browser, html);
  assert.ok((await page.$$eval('.name', (nodes) => nodes.map((node) => node.textContent)))
                .includes(evil));
  assert.equal(await page.title(), 'gpubound: <style>*{display:none}<!--.gpubound');
  assert.match(await text(page, '#run'), /javascript:window\.harmed=5/);
  for (const tag of ['img', 'iframe', 'b[onclick]', 'style + style', 'svg[onload]']) {
    assert.equal(await page.$(tag), null, tag);
  }
});

test('markup that got into the page would still do nothing', async () => {
  const broken = join(folder, 'broken.html');
  writeFileSync(
      broken,
      readFileSync(html, 'utf8')
          .replace(
              '<main', '<img src=x onerror=window.harmed=7><script>window.harmed=8</script><main'));
  page = await open(browser, broken);
  assert.ok(page.sins.length >= 2, 'the policy speaks up');
  assert.ok(
      page.sins.every((sin) => /Content Security Policy|request: file:.*\/x$/.test(sin)),
      page.sins.join('\n'));
  page.sins = [];
});

test('a gap is one key away on the timeline', async () => {
  page = await open(browser, html);
  await page.focus('.gaps button');
  await page.keyboard.press('Enter');
  await settle(page);
  const gap = report.processes[0].gaps[0];
  assert.match(
      await text(page, '#chosen'), new RegExp(`^Marked: ${(gap.ns / 1e3).toPrecision(3)} us`));
  assert.match(await text(page, '#resolution'), /every single event/);
});

test('keys zoom, pan, and walk from event to event', async () => {
  page = await open(browser, html);
  await page.focus('.tl-canvas canvas');
  assert.match(await text(page, '#resolution'), /^Shown: 4\.00 ms from 0/);
  for (let i = 0; i < 6; ++i) await page.keyboard.press('+');
  await settle(page);
  assert.match(await text(page, '#resolution'), /^Shown: 238 us .*every single event/);
  const zoomed = await text(page, '#resolution');
  await page.keyboard.press('ArrowRight');
  await settle(page);
  assert.notEqual(await text(page, '#resolution'), zoomed);
  await page.keyboard.press('ArrowDown');
  assert.match(await text(page, '#chosen'), /^Track GPU 0 busy/);
  await page.keyboard.press('n');
  assert.match(await text(page, '#chosen'), /^<svg onload=window\.harmed=2>.*24\.\d us/);
  await page.keyboard.press('0');
  await settle(page);
  assert.match(await text(page, '#resolution'), /^Shown: 4\.00 ms/);
});

test('everything that can be clicked can be reached with Tab', async () => {
  page = await open(browser, html);
  const wanted = await page.$$eval(
      'a[href], button, select, summary, canvas[tabindex]',
      (nodes) => nodes.filter((node) => node.checkVisibility()).length);
  const reached = new Set();
  for (let i = 0; i < wanted + 30; ++i) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate(() => {
      const all =
          [...document.querySelectorAll('a[href], button, select, summary, canvas[tabindex]')];
      return all.indexOf(document.activeElement);
    }));
  }
  reached.delete(-1);
  assert.equal(reached.size, wanted);
});

test('the timeline paints tracks', async () => {
  page = await open(browser, html);
  const colors = await page.$eval('.tl-canvas canvas', (canvas) => {
    const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4) seen.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
    return seen.size;
  });
  assert.ok(colors > 6, `${colors} colours`);
});

test('the theme follows the system until the button is pressed', async () => {
  page = await open(browser, html, {scheme: 'dark'});
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.click('#theme');
  assert.notEqual(await ground(), dark);
  await page.click('#theme');
  assert.equal(await ground(), dark);
});

test('nothing sticks out of a window of 360 pixels', async () => {
  page = await open(browser, html, {width: 360, height: 800});
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 360);
});

test('it is painted within a second', async () => {
  page = await open(browser, html);
  const first = await page.evaluate(
      () => performance.getEntriesByName('first-contentful-paint')[0].startTime);
  assert.ok(first < 1000, `${first} ms`);
});
