// SPDX-License-Identifier: Apache-2.0
//
// The heat map of processes: at most 256 by 256 cells, each the mean of what falls into it.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {moduleOf} from './browser.mjs';

const {cellsOf} = await moduleOf('heat_map');

// |count| processes, of which |busyOf|(process) of 255 is what a device of each did all the time.
function run(count, buckets, busyOf) {
  const processes = Array.from({length: count}, () => ({}));
  const varint = (value) => (value < 128 ? [value] : [value & 0x7f | 0x80, value >> 7]);
  const tracks = processes.flatMap((_, process) => {
    const busy = busyOf(process);
    if (busy === null) return [];
    const band = Buffer.from([...varint(buckets), 1, 1, busy]).toString('base64');
    return [{process, kind: 'device', band}, {process, kind: 'thread', band}];
  });
  return {processes, timeline: {buckets, tracks}};
}

test('a process has a row, and a bucket a column, where there are few', () => {
  const {rows, columns, perRow, busy} = cellsOf(run(10, 20, (process) => process * 25 + 1));
  assert.deepEqual([rows, columns, perRow], [10, 20, 1]);
  for (let row = 0; row < rows; ++row) {
    for (let column = 0; column < columns; ++column)
      assert.ok(Math.abs(busy[row * columns + column] - (row * 25 + 1) / 255) < 1e-9);
  }
});

test('neighbours share a row where there are too many, those without a device apart', () => {
  const {rows, columns, perRow, busy} = cellsOf(
      run(1024, 1000, (process) => (process % 4 === 3 ? null : [51, 102, 153][process % 4])));
  assert.deepEqual([rows, columns, perRow], [256, 256, 4]);
  assert.ok(busy.every((share) => Math.abs(share - 102 / 255) < 1e-9));
});
