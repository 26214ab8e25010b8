// SPDX-License-Identifier: Apache-2.0
//
// Hardware counters by operation, where they were sampled.
import {ReportProcess} from './data';
import {nameCell, rowOf, shareCell, table, timeCell} from './dom';

export function counters(process: ReportProcess): HTMLElement[] {
  if (process.counters.length === 0) return [];
  const result = table(
      'Hardware counters', ['operation', 'sampled', 'SMs active', 'warps active', 'DRAM'],
      process.counters.map((row) => rowOf(row.operation, [
                             nameCell(row.operation),
                             timeCell(row.sampled_ns, 'sampled_ns'),
                             shareCell(row.sm_active_share),
                             shareCell(row.warps_active_share),
                             shareCell(row.dram_throughput_share),
                           ])));
  result.classList.add('counters');
  return [result];
}
