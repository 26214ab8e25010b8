// SPDX-License-Identifier: Apache-2.0
//
// What the page says of the training and of roles: the figures of the report JSON, the sentences of
// the text report, in colours that mean one thing.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {before, test} from 'node:test';

import {browser, moduleOf, open, rows, surround, text} from './browser.mjs';

const folder = surround('roles');
const html = join(folder, 'roles.html');
let report;
let roles;
let training;
let lines;

before(() => {
  report = JSON.parse(readFileSync(join(folder, 'roles.json'), 'utf8'));
  training = report.run.training;
  ({roles} = training);
  lines = readFileSync(join(folder, 'roles.txt'), 'utf8').split('\n');
});

// Cells with a figure that is no time, by row.
const values = (page, selector) => page.$$eval(
    `${selector} tbody tr`,
    (nodes) => nodes.map(
        (node) =>
            [node.dataset.row,
             Object.fromEntries([...node.querySelectorAll('[data-value]')].map(
                 (cell) => [cell.dataset.key, Number(cell.dataset.value)])),
]));

const facts = (page, selector) => page.$$eval(
    `${selector} dd[data-ns]`,
    (nodes) =>
        Object.fromEntries(nodes.map((node) => [node.dataset.key, Number(node.dataset.ns)])));

const saidIn = (page, id) =>
    page.$$eval(`#${id} .said`, (nodes) => nodes.map((node) => node.textContent));

test('what each role held of GPUs is the report\'s, and its bar sums up to it', async () => {
  const page = await open(browser, html);
  assert.equal(roles.roles.length, 2);
  const shown = await rows(page, '.roles');
  for (const [i, role] of roles.roles.entries()) {
    assert.equal(shown[i].row, role.role);
    for (const key of ['held_ns', 'busy_ns', 'idle_ns', 'unknown_ns'])
      assert.equal(shown[i].figures[key], role[key], `${role.role} ${key}`);
    assert.equal(shown[i].widths.length, 1 + role.bubbles.length);
    const parts = [role.busy_ns, ...role.bubbles.map(({ns}) => ns)];
    parts.forEach((ns, k) => {
      const off = shown[i].widths[k] - 100 * ns / role.held_ns;
      assert.ok(Math.abs(off) < 0.01, `${role.role} ${k}: ${shown[i].widths}`);
    });
  }
  const bubbles = await rows(page, '.bubbles');
  assert.deepEqual(
      bubbles.map(({row, figures}) => [row, figures.ns]),
      roles.roles.flatMap(
          ({role, bubbles: all}) => all.map(({cause, ns}) => [`${role} ${cause}`, ns])));
  assert.ok(bubbles.some(({row}) => row === 'train starved'));
  assert.ok(bubbles.some(({row}) => row === 'rollout blocked'));
});

test('overlap, tail, savings and processes are the report\'s', async () => {
  const page = await open(browser, html);
  assert.deepEqual(
      (await rows(page, '.overlap')).map(({row, figures}) => [row, figures.ns]),
      roles.overlap.map(({roles: names, ns}) => [names.join('+'), ns]));
  const tail = await facts(page, '.tail');
  assert.ok(roles.tail.tail_ns > 0);
  for (const [key, ns] of Object.entries(tail)) assert.equal(ns, roles.tail[key], key);
  assert.equal(Object.keys(tail).length, 6);
  assert.equal(roles.savings.length, 2);
  assert.deepEqual(
      await page.$$eval(
          '.role-savings tbody tr',
          (nodes) => nodes.map(({dataset}) => [dataset.row, Number(dataset.saves)])),
      [
        ...roles.savings.map(({role, saves}) => [role, saves]),
        ['overlap', roles.perfect_overlap_saves],
      ]);
  assert.deepEqual(
      (await rows(page, '.role-processes')).map(({row, figures}) => [row, figures]),
      roles.roles.flatMap(
          ({role, processes}) =>
              processes.map(({pid, ns, active_ns}) => [`${role} ${pid}`, {ns, active_ns}])));
});

test('waits of a role are the sum of those of its processes', async () => {
  const page = await open(browser, html);
  const waits = (pid) => report.processes.find((process) => process.pid === pid)
                             .waits.reduce((sum, {ns}) => sum + ns, 0);
  const shown = await rows(page, '.role-waits');
  assert.deepEqual(
      Object.fromEntries(shown.map(({row, figures}) => [row, figures.ns])),
      {'rollout train': waits(101) + waits(102), 'train rollout': waits(100)});
});

test('the training is what the report says of it', async () => {
  const page = await open(browser, html);
  const [reached, never] = training.targets;
  assert.ok(reached.reached_ns > 0 && never.reached_ns === null);
  assert.deepEqual(
      (await rows(page, '.target-parts')).map(({row, figures}) => [row, figures]),
      reached.parts.map(
          ({operation, wall_ns, gpu_busy_ns}) => [operation, {wall_ns, gpu_busy_ns}]));
  const work = await values(page, '.work');
  assert.equal(work.length, 1);
  for (const [key, value] of Object.entries(work[0][1])) {
    assert.equal(value, training.work[0][key], key);
  }
  assert.ok(work[0][1].per_second > 0 && work[0][1].gpu_seconds_per_million > 0);
  assert.deepEqual(
      await values(page, '.versions'),
      training.samples.versions_behind.map(({behind, samples}) => [`${behind}`, {samples}]));
  assert.deepEqual(
      await values(page, '.discarded'),
      training.samples.reasons.map(({reason, samples}) => [reason, {samples}]));
  const {flops, weight_sync: sync} = report.processes[0].training;
  assert.deepEqual(await facts(page, '.flops'), {ns: flops.ns, gpu_busy_ns: flops.gpu_busy_ns});
  assert.deepEqual(
      await facts(page, '.weight-sync'),
      {exposed_ns: sync.exposed_ns, hidden_ns: sync.hidden_ns, ns: sync.ns});
});

test('sentences are those of the text report, each of them once', async () => {
  const page = await open(browser, html);
  const title = lines.indexOf('Training');
  assert.ok(title > 0);
  const section = lines.slice(title + 1, lines.indexOf('', title));
  const shown = [...await saidIn(page, 'training'), ...await saidIn(page, 'roles')];
  const targets = shown.filter((line) => /^return>=/.test(line));
  assert.equal(targets.length, 2);
  for (const target of targets) assert.ok(lines.includes(target), target);
  assert.deepEqual(shown.filter((line) => !targets.includes(line)).sort(), section.sort());
});

test('a role without a GPU, whose processes say nothing, is said to be so', async () => {
  const page = await open(browser, join(folder, 'no_gpu_roles.html'));
  const shown = await text(page, '#roles');
  assert.match(shown, /No process with a role uses a GPU\./);
  assert.match(shown, /inferred from operations/);
  assert.equal(await page.$('.roles'), null);
  assert.equal(await page.$('#training'), null);
});

test('a run of one process has neither of the sections', async () => {
  const page = await open(browser, join(folder, 'uneven.html'));
  assert.equal(await page.$('#roles, #training'), null);
});

test('no two colours of bubbles, and none of an operation, are the same', async () => {
  const {Palette} = await moduleOf('palette');
  const palette = new Palette(Array.from({length: 12}, (_, i) => `operation ${i}`), new Map());
  const causes = ['starved', 'blocked', 'tail', 'weight sync', 'environment or reward', 'start-up'];
  const colours = causes.map((cause) => palette.ofBubble(cause));
  const others = [
    ...palette.operationNames().map((name) => palette.ofScope(name)),
    ...['launch', 'sync', 'copy', 'waiting', 'compile', 'checkpoint', 'queued', 'event-wait'].map(
        (cause) => palette.ofCause(cause)),
  ];
  assert.equal(new Set([...colours, ...others]).size, colours.length + others.length);
  assert.equal(palette.ofBubble('environment or reward'), palette.ofCause('simulation'));
  assert.equal(palette.ofBubble('start-up'), palette.ofCause('start-up'));
});

for (const width of [1280, 400, 360]) {
  test(`a window of ${width} pixels holds the sections, and bars say what they show`, async () => {
    const page = await open(browser, html, {width, height: 800, scheme: 'dark'});
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width);
    const bars = await page.$$eval(
        '#roles [role=img], #training [role=img]',
        (nodes) => nodes.map((node) => [node.getAttribute('aria-label'), node.clientWidth]));
    assert.ok(bars.length >= 3);
    for (const [label, wide] of bars) {
      assert.match(label, /\d %/);
      assert.ok(wide >= 60, `${label}: ${wide}`);
    }
  });
}
