// SPDX-License-Identifier: Apache-2.0
//
// Names on the bars of the timeline can be read, whatever the bar's colour.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {moduleOf} from './browser.mjs';

const {inkOn, Palette} = await moduleOf('palette');

const LEAST = 4.5;  // of small text: WCAG 2, level AA

function luminance(color) {
  const hex = color.length === 4 ? color.replace(/[^#]/g, '$&$&') : color;
  const parts = hex.startsWith('#') ? hex.match(/[^#]{2}/g).map((part) => parseInt(part, 16)) :
                                      hex.match(/\d+/g).map(Number);
  const [r, g, b] = parts.map((part) => part / 255)
                        .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

test('the contrast is that of its definition', () => {
  assert.equal(contrast('#000', '#ffffff').toFixed(2), '21.00');
  assert.equal(contrast('rgb(119,119,119)', '#fff').toFixed(2), '4.48');
});

test('in a trace of another tool kernels and scopes have a colour by their name', () => {
  const names = Array.from({length: 24}, (_, i) => `name ${i}`);
  const copies = new Map([['Memcpy HtoD', 'copy']]);
  const [ours, others] = [false, true].map((byName) => new Palette(['train'], copies, byName));
  const colours = (palette) => new Set(names.map((name) => palette.ofWork(name))).size;
  assert.ok(colours(others) >= 12, `${colours(others)}`);
  assert.ok(colours(ours) <= 5, 'shades of what computes');
  assert.equal(others.ofWork('Memcpy HtoD'), ours.ofWork('Memcpy HtoD'), 'copies are copies');
  assert.ok(new Set(names.map((name) => others.ofScope(name))).size >= 12);
  assert.equal(others.ofScope('(41 others)'), ours.ofScope('(9 others)'), 'no colour of a name');
});

test('every name stands out from its bar', () => {
  const operations = Array.from({length: 21}, (_, i) => `operation ${i}`);
  const palette = new Palette(
      operations,
      new Map(
          [['gemm', 'comm'], ...Array.from({length: 100}, (_, i) => [`memcpy name ${i}`, 'copy'])]),
      false, new Set(['sem_wait']));
  const names = Array.from({length: 100}, (_, i) => `name ${i}`);
  const bars = [
    ...operations.map((name) => palette.ofScope(name)), ...names.map((n) => palette.ofScope(n)),
    palette.ofScope('sem_wait'), ...names.map((n) => palette.ofWork(n)),
    ...names.map((n) => palette.ofWork(`memcpy ${n}`)),
    ...['gemm', 'compute', 'comm', 'copy'].map((name) => palette.ofWork(name)),
    ...['launch', 'sync', 'queued', 'no such cause'].map((name) => palette.ofCause(name)),
    ...['cudaLaunchKernel', 'cudaStreamSynchronize', 'cudaMemcpy', 'cudaMalloc'].map(
        (name) => palette.ofCall(name))
  ];
  assert.ok(new Set(bars).size > 30);
  for (const bar of new Set(bars)) {
    assert.ok(contrast(bar, inkOn(bar)) >= LEAST, `${inkOn(bar)} on ${bar}`);
  }
});
