// SPDX-License-Identifier: Apache-2.0
//
// The sliders of the page: they say what the report has of each part and factor, and nothing between.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';

import {browser, moduleOf, open, surround, text} from './browser.mjs';

const folder = surround('whatif');
const FACTORS = [0.5, 0.25, 0];

// Of each row what it says now.
const said = (page) => page.$$eval('.what-if tbody tr', (rows) => rows.map((row) => {
  const cell = (key) => row.querySelector(`[data-key="${key}"]`);
  return {
    part: row.dataset.row,
    wall_ns: Number(cell('wall_ns').dataset.ns),
    factor: cell('factor').textContent,
    interval: cell('interval').textContent,
    spoken: row.querySelector('input').getAttribute('aria-valuetext'),
  };
}));

for (const name of ['report:page', 'rows:rows']) {
  const [json, html] = name.split(':');
  test(`every stop of every slider is a figure of the report, ${html}`, async () => {
    const {run} = JSON.parse(readFileSync(join(folder, `${json}.json`), 'utf8'));
    const page = await open(browser, join(folder, `${html}.html`));
    const parts = run.savings.filter(({saves}) => saves >= 0.01);
    assert.ok(parts.length >= (html === 'page' ? 2 : 1));
    const sliders = await page.$$('.what-if input');
    assert.equal(sliders.length, parts.length);
    for (const factor of FACTORS) {
      const shown = await said(page);
      for (const [i, {part, name}] of parts.entries()) {
        const wanted = [...run.savings, ...run.what_if].find(
            (point) => point.part === part && point.name === name && point.factor === factor);
        assert.ok(wanted, `${part} ${name} x ${factor}`);
        assert.equal(shown[i].wall_ns, wanted.wall_ns);
        assert.equal(
            shown[i].interval,
            `${Math.floor(wanted.saves_low * 100)} to ${Math.ceil(wanted.saves_high * 100)} %`);
        assert.equal(shown[i].spoken, shown[i].factor);
      }
      for (const slider of sliders) {
        await slider.focus();
        await page.keyboard.press('ArrowRight');
      }
    }
    assert.match(await text(page, '#whatif code'), /^gpubound whatif .* --scale .*:0'?$/);
  });
}

test('the command below asks for what the slider shows', async () => {
  const {whatIfCommand} = await moduleOf('commands');
  const command = (part, name, factor) => whatIfCommand('my run.gpubound', {part, name, factor});
  assert.equal(command('gpu', '', 0.5), 'gpubound whatif \'my run.gpubound\' --scale device:0.5');
  assert.equal(
      command('operation_cpu', 'it\'s', 0),
      'gpubound whatif \'my run.gpubound\' --scale \'operation-cpu=it\'\\\'\'s:0\'');
  assert.equal(
      command('layer', 'python', 0.25),
      'gpubound whatif \'my run.gpubound\' --scale layer=python:0.25');
});

test('advice that names an option of the report has the whole command', async () => {
  const {withCommands} = await moduleOf('commands');
  assert.equal(
      withCommands('Fuse them; --by category,op names them.', 'a b'),
      'Fuse them; `gpubound report \'a b\' --by category,op` names them.');
  assert.equal(
      withCommands('more (--full names it).', ''), 'more (`gpubound report RUN --full` names it).');
  assert.equal(withCommands('set --by-hand and --fully', 'r'), 'set --by-hand and --fully');
});
