// SPDX-License-Identifier: Apache-2.0
//
// The report page in headless Chromium: it says what the report JSON says, obeys no name, asks the
// network for nothing, and can be used with keys alone.
import assert from 'node:assert/strict';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {before, test} from 'node:test';

import {browser, closeHarmless, moduleOf, open, parseTime, rows, settle, spelledOut, surround, text} from './browser.mjs';

const folder = surround('page');
const html = join(folder, 'page.html');
let report;
let textReport;
let page;

const COLUMNS = ['cpu_only_ns', 'cpu_gpu_ns', 'gpu_only_ns', 'waiting_ns', 'idle_ns', 'unknown_ns'];
const evil = '</script><img src=x onerror=window.harmed=1>';

before(() => {
  report = JSON.parse(readFileSync(join(folder, 'report.json')), spelledOut);
  textReport = readFileSync(join(folder, 'report.txt'), 'utf8');
});

function assertShown(row, key, ns) {
  assert.equal(row.figures[key], ns, `${row.row} ${key}`);
  // Three digits are shown.
  const shown = row.texts[key].replace(/^\u2265 /, '');
  assert.ok(Math.abs(parseTime(shown) - ns) <= ns * 0.0051, `${row.texts[key]} for ${ns} ns`);
}

test('every operation has its figures and bars as long as they are', async () => {
  page = await open(browser, html);
  const {operations} = report.processes[0];
  const shown = await rows(page, '.breakdown');
  assert.deepEqual(shown.map((row) => row.row), operations.map((row) => row.operation));
  const longest = Math.max(...operations.map((row) => row.wall_ns));
  operations.forEach((row, i) => {
    for (const key of ['wall_ns', 'gpu_busy_ns', 'gpu_caused_ns', ...COLUMNS])
      assertShown(shown[i], key, row[key]);
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

test('every kernel has its figures beside the operation that launched it', async () => {
  page = await open(browser, html);
  const {kernels} = report.processes[0];
  const shown = await rows(page, '.kernels');
  assert.deepEqual(
      shown.map((row) => row.row).sort(),
      kernels.map((kernel) => `${kernel.operation} ${kernel.name}`).sort());
  assert.deepEqual(
      shown.map((row) => row.figures.sum_ns),
      kernels.map((kernel) => kernel.sum_ns).sort((a, b) => b - a), 'the longest first');
  for (const kernel of kernels) {
    const row = shown.find((row) => row.row === `${kernel.operation} ${kernel.name}`);
    for (const key of ['sum_ns', 'mean_ns', 'median_ns', 'p95_ns']) {
      assertShown(row, key, kernel[key]);
    }
    assert.equal(row.figures.sm_filled_ns, kernel.sm_filled_ns);
    assert.equal(row.count, kernel.count);
  }
});

// Lines of the text report that begin with |start|.
const linesOf = (start) => textReport.split('\n').filter((line) => line.startsWith(start));

// The report at length, of which sentences are in one line each.
test('the first lines say what those of the text report say', async () => {
  page = await open(browser, html);
  const [first, ...others] = report.diagnosis;
  assert.equal(await text(page, '.lead'), first.finding);
  assert.equal(textReport.split('\n')[0], first.finding);
  const {withCommands} = await moduleOf('commands');
  const run = (await page.title()).replace('gpubound: ', '');
  const shown = (action) => withCommands(action, run).replaceAll('`', '');
  if (first.action) assert.equal(await text(page, '.action'), shown(first.action));
  assert.equal(await text(page, '.gain'), first.gain);
  assert.deepEqual(linesOf('Gain: '), [`Gain: ${first.gain}`]);
  assert.deepEqual(
      await page.$$eval('.advice li', (nodes) => nodes.map((node) => node.textContent)),
      others.map(({finding, action}) => `${finding} ${shown(action)}`.trim()));
  const notes =
      await page.$$eval('#headline > details .note', (nodes) => nodes.map((n) => n.textContent));
  assert.deepEqual(notes, [
    ...linesOf('GPU busy '), ...linesOf('GPU: '), ...linesOf('Wall time '),
    ...linesOf('Data quality: ')
  ]);
  assert.match(notes[2], /75 % of the work was done/);
});

// What the tile |label| says: its figure, and what is below it.
const tileOf = (page, label) => page.$$eval('.tile', (tiles, label) => {
  const tile = tiles.find((tile) => tile.querySelector('dt').textContent === label);
  return [tile.querySelector('strong').textContent, tile.querySelector('.note').textContent];
}, label);

test('the figures below it are those that it names', async () => {
  page = await open(browser, html);
  const [, busy, claimed] = linesOf('GPU busy ')[0].match(
      /GPU busy (at least \d+ %).*nvidia-smi would show up to (\d+ %)/);
  const [shown, note] = await tileOf(page, 'GPU busy');
  assert.equal(shown, busy);
  assert.match(note, /unknown \u2264 1\.0 %/);
  assert.ok(note.endsWith(`nvidia-smi would show up to ${claimed}`), note);
  const [process] = report.processes;
  const [median] = await tileOf(page, 'Iteration, median');
  assert.ok(Math.abs(parseTime(median) - process.iterations.median_ns) < 0.005 * parseTime(median));
  const filled = process.operations.reduce((sum, row) => sum + row.sm_filled_ns, 0);
  const [fill, limited] = await tileOf(page, 'Filled (SM fill of busy time)');
  const share = 100 * filled / process.gpu_busy_ns;
  assert.ok(Math.abs(parseFloat(fill.replace('\u2264 ', '')) - share) <= 0.5, `${fill}, ${share}`);
  assert.ok(
      limited.includes(`save \u2265 ${(report.run.gpu_limited_share * 100).toFixed(1)} %`),
      limited);
});

test('what the run would be without this and that is the report\'s', async () => {
  page = await open(browser, html);
  const {run} = report;
  const overview = await text(page, '.halves');
  const {saving} = report.diagnosis[0];
  if (saving) {
    assert.ok(
        overview.includes(`the largest saves ${Math.floor(saving.saves_low * 100)} to ${
            Math.ceil(saving.saves_high * 100)} %`),
        overview);
  }
  const path = await rows(page, '.path');
  assert.deepEqual(path.map((row) => row.figures.ns), run.critical_path.parts.map(({ns}) => ns));
  assert.ok(path[0].shown.startsWith(run.critical_path.parts[0].operation));
  assert.notEqual(path[3].row, path[4].row, 'rows of two processes can be told apart');
  const savings = await rows(page, '.savings');
  assert.ok(savings.length > 0);
  const takes = `${run.savings[0].of === 'iteration' ? 'an iteration' : 'the run'} takes`;
  for (const table of ['.savings', '.what-if'])
    assert.ok((await text(page, `${table} thead`)).includes(takes), `${table}: ${takes}`);
  assert.deepEqual(
      savings.map((row) => [row.row, row.figures.wall_ns]),
      run.savings.filter(({saves}) => saves >= 0.01)
          .map(({part, name, wall_ns}) => [`${part} ${name}`, wall_ns]));
});

test('the bar of the critical path has every part, as wide as its share', async () => {
  page = await open(browser, html);
  const {parts, wall_ns: whole} = report.run.critical_path;
  const pieces = await page.$$eval(
      '.path-bar span', (nodes) => nodes.map(({title, style}) => [title, parseFloat(style.width)]));
  assert.equal(pieces.length, parts.length);
  parts.forEach(({operation, layer, ns}, i) => {
    assert.ok(pieces[i][0].startsWith(`${operation}, ${layer}: `), pieces[i][0]);
    assert.ok(Math.abs(pieces[i][1] - 100 * ns / whole) < 0.01, `${pieces[i]}`);
  });
  const said = await page.$eval('.path-bar', (node) => node.getAttribute('aria-label'));
  assert.ok(said.startsWith(pieces[0][0].replace(/ \([\d,]+ ns\)$/, '')), said);
});

test('a section is called in the navigation what its title is', async () => {
  page = await open(browser, html);
  const links = await page.$$eval(
      'nav a', (nodes) => nodes.map((node) => [node.getAttribute('href'), node.textContent]));
  const titles = await page.$$eval(
      'main > section[id]',
      (nodes) => nodes.map((node) => [`#${node.id}`, node.querySelector('h2').textContent]));
  assert.deepEqual(links, titles);
  const names = links.map(([, name]) => name);
  for (const name of ['Kernels', 'GPU idle', 'What if', 'Critical path', 'Data quality'])
    assert.ok(names.includes(name), `${names}`);
});

test('corrected values stand beside the recorded ones, with their intervals', async () => {
  page = await open(browser, html);
  const process = report.processes[0];
  const {corrected} = process;
  const shown = await rows(page, '.corrected');
  assert.deepEqual(
      shown.map((row) => row.figures.wall_ns),
      [corrected.span_ns, ...corrected.operations.map((row) => row.wall_ns)]);
  assert.equal(shown[0].figures.wall_ns_recorded, process.span_ns);
  const intervals = await page.$$eval(
      '.corrected [data-key="wall_ns_interval"]',
      (nodes) => nodes.map((node) => [Number(node.dataset.low), Number(node.dataset.high)]));
  assert.deepEqual(intervals, [
    [corrected.span_ns_low, corrected.span_ns_high],
    ...corrected.operations.map((row) => [row.wall_ns_low, row.wall_ns_high])
  ]);
  assert.ok((await text(page, '#quality')).includes(linesOf('Without the profiler: ')[0]));
  assert.match(linesOf('Without the profiler: ')[0], /GPU busy >= /);
  for (const key of ['gpu_busy_ns', 'gpu_busy_ns_recorded'])
    assert.match(shown[0].texts[key], /^\u2265 /);
});

test('waits, counters, collectives and further threads are those of the report', async () => {
  page = await open(browser, html);
  const [process, worker] = report.processes;
  assert.ok((await text(page, '#idle')).includes(linesOf('Waiting ')[0]));
  const waits = await rows(page, '.waits');
  assert.deepEqual(
      waits.map((row) => [row.row, row.figures.ns]),
      process.waits.map((wait) => [`${wait.pid} ${wait.operation}`, wait.ns]));
  assert.match(waits[0].shown, /simulation \u203a simulator 99\.3\u00a0%/);
  const [counters] = await rows(page, '.counters');
  assert.equal(counters.figures.sampled_ns, process.counters[0].sampled_ns);
  assert.match(counters.shown, /41 %17 %\u2013$/);
  const cpu = await rows(page, '.cpu-time');
  const known = process.operations.filter((row) => row.cpu && row.wall_ns > 0);
  assert.deepEqual(
      cpu.map(({row, figures}) => [row, figures.on_cpu_ns, figures.ready_ns, figures.blocked_ns]),
      known.sort((a, b) => b.wall_ns - a.wall_ns)
          .map(({operation,
                 cpu}) => [`primary ${operation}`, cpu.on_cpu_ns, cpu.ready_ns, cpu.blocked_ns]));
  assert.match(cpu[0].shown, / no core for 29\s%/);
  const ranks = await rows(page, '.collectives');
  for (const key of ['comm_sum_ns', 'peer_wait_ns', 'moving_ns', 'unmatched_ns', 'waited_for_ns']) {
    assert.deepEqual(ranks.map((row) => row.figures[key]), report.ranks.map((rank) => rank[key]));
  }
  assert.deepEqual(
      ranks.map(({texts}) => [texts.peer_wait_ns, texts.waited_for_ns, texts.comm_sum_ns]), [
        ['\u2264 500 us', '20.0 us', '900 us'],
        ['about 100 us', '~480 us', '900 us'],
      ]);
  assert.match(ranks[0].shown, /\u2264 56\s%/);
  const bands = await rows(page, '.bands');
  assert.deepEqual(
      bands.map((row) => row.figures.alone_ns),
      report.devices[0].processes.map((band) => band.alone_ns));
  const lane = await rows(page, '.lane');
  assert.deepEqual(
      lane.map((row) => [row.row, row.figures.wall_ns]),
      process.lanes[0].operations.map((row) => [row.operation, row.wall_ns]));
  await page.select('#process', `program (pid ${worker.pid})`);
  for (const part of ['.lane', '.waits', '.counters', '.cpu-time'])
    assert.equal(await page.$(part), null, part);
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
      for (const row of shownCauses) {
        const words = row.shown.split(/\d/)[0];  // before the first figure
        assert.ok(linesOf('Without GPU work of its own ')[0].includes(words), words);
      }
      assert.match(
          await text(page, '#idle .said'), /^Time without GPU work of its own, by cause: \d+ %/);
      const whole = process.span_ns * new Set(process.devices.map(({uuid}) => uuid)).size;
      for (const {row, share, action} of await page.$$eval(
               '.causes tbody tr',
               (rows) => rows.map((row) => ({
                                    row: row.dataset.row,
                                    share: row.querySelector('[data-key=share]').textContent,
                                    action: row.lastElementChild.textContent,
                                  })))) {
        assert.ok(
            Math.abs(parseFloat(share.replace('<', '')) - 100 * causes[row] / whole) <= 0.5,
            `${row} ${share}`);
        assert.match(action, /^[A-Z].*\.$/, row);
      }

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
      const mean = await rows(page, '.mean-iteration');
      const each = (ns) => Math.floor(ns / process.iterations.count);
      assert.deepEqual(
          mean.map((row) => [row.row, row.figures.wall_ns, row.figures.gpu_busy_ns]),
          process.iterations.operations.map(
              (row) => [row.operation, each(row.wall_ns), each(row.gpu_busy_ns)]));
      const slowest = await rows(page, '.slowest');
      assert.deepEqual(
          slowest.map((row) => [row.figures.ns, row.figures.gpu_busy_ns]),
          process.iterations.slowest.map((slow) => [slow.ns, slow.gpu_busy_ns]));

      const processes = await rows(page, '.processes');
      assert.deepEqual(processes.map((row) => Number(row.row)), report.processes.map((p) => p.pid));
      assert.deepEqual(
          processes.map((row) => row.figures.gpu_wait_ns),
          report.processes.map((p) => p.gpu_wait_ns));
      assert.equal(await page.$eval('#pid-101 a', (link) => link.getAttribute('href')), '#pid-100');

      const ledger = await rows(page, '.ledger');
      assert.deepEqual(
          ledger.map((row) => row.row),
          [...report.ledger, ...report.not_counted].map((entry) => entry.counter));
    });

test('counters that some process did not count are not shown as known', async () => {
  page = await open(browser, html);
  const [{counter}] = report.not_counted;
  const shown = await page.$$eval(
      `.ledger tr[data-row="${counter}"]`,
      (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.equal(shown.length, 2);
  assert.match(shown[0][2], /^1[.,]23/);
  assert.deepEqual([shown[1][0], shown[1][2]], ['unknown', '?']);
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
  const shown = await page.evaluate((evil) => {
    const name = [...document.querySelectorAll('.full-name')].find(({title}) => title === evil);
    name.click();
    return name.textContent;
  }, evil);
  assert.equal(shown, evil);
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

test('no name turns the direction of the text, or widens the page', async () => {
  for (const width of [1280, 400, 360]) {
    page = await open(browser, html, {width, height: 800});
    for (const shown of [await page.$eval('body', (body) => body.innerText), await page.title()]) {
      assert.doesNotMatch(shown, /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/);
    }
    const names = await page.$$eval('.name', (nodes) => nodes.map((node) => node.textContent));
    assert.ok(names.includes('step\\xe2\\x80\\xaegnp.exe'));
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width, `${width}`);
    await closeHarmless(page);
  }
  page = undefined;
});

test('nothing sticks out of a window of 360 pixels', async () => {
  page = await open(browser, html, {width: 360, height: 800});
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 360);
});

test('of many operations the longest are drawn, and what the others come to', async () => {
  page = await open(browser, join(folder, 'many.html'));
  const shown = await rows(page, '.breakdown');
  assert.equal(shown.length, 41);
  assert.equal(shown[0].row, '(no operation)');
  assert.equal(shown[1].row, 'turn-99');
  assert.equal(shown[40].row, '(61 others)');
  assert.equal(shown.reduce((sum, row) => sum + row.figures.wall_ns, 0), 1_000_000);
  assert.ok(shown.every((row) => row.texts.wall_ns.startsWith('~')));
});

test('unknown GPU time is neither idle nor a lack of work', async () => {
  page = await open(browser, join(folder, 'killed.html'));
  assert.equal(
      await text(page, '.lead'),
      'Inconclusive: what the GPU did is unknown for 100 % of the time.');
  assert.equal(
      await text(page, '#headline > details .note'),
      'GPU unknown 100 %: no work was recorded, but some could have run.');
  assert.deepEqual(await tileOf(page, 'GPU busy'), ['at least 0 %', 'unknown 100 %']);
  const [process] = await rows(page, '.processes');
  assert.equal(process.texts.gpu_busy_ns, '\u2265 0');
  assert.match(await text(page, '#processes'), /device 1visible, use unknown\u2265 0\u2265 0 %/);
  assert.match(await text(page, '#run'), /0 used, use unknown: device 1/);
  assert.match(await text(page, '#idle'), /No gaps: no device of .* is known .* unknown for 100 %/);
});

test('of no iteration there is no mean, and no slowest', async () => {
  page = await open(browser, join(folder, 'killed.html'));
  const facts = await page.$$eval(
      '#iterations dd[data-ns]', (nodes) => nodes.map((node) => node.dataset.key));
  assert.deepEqual(facts, ['start_up_ns', 'warm_up_ns', 'shutdown_ns']);
  assert.match(await text(page, '#iterations'), /0 after 1 of warm-up/);
  assert.equal(await page.$('.slowest'), null);
  assert.match(await text(page, '.halves h3'), /^Where the run goes/);
});
