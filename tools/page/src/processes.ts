// SPDX-License-Identifier: Apache-2.0
//
// Processes as a tree: who started whom, when each lived, and what it had of the GPU.
import {PageData, ReportProcess} from './data';
import {button, element, table, timeCell} from './dom';
import {formatShare, formatTime, share} from './format';

// Indices of |processes|, parents before their children, with the depth of each.
function inTreeOrder(processes: ReportProcess[]): {index: number; depth: number}[] {
  const children = new Map<number|null, number[]>();
  processes.forEach((process, i) => {
    const known = processes.findIndex(
        (p, k) => k !== i && p.pid === process.parent && p.host === process.host);
    const parent = process.parent !== null && known >= 0 ? known : null;
    children.set(parent, [...(children.get(parent) ?? []), i]);
  });
  const order: {index: number; depth: number}[] = [];
  const seen = new Set<number>();
  const visit = (index: number, depth: number): void => {
    if (seen.has(index)) return;  // a pid that was used twice
    seen.add(index);
    order.push({index, depth});
    for (const child of children.get(index) ?? []) visit(child, depth + 1);
  };
  for (const index of children.get(null) ?? []) visit(index, 0);
  processes.forEach((_, index) => visit(index, 0));
  return order;
}

export function processTree(data: PageData, choose: (index: number) => void): HTMLElement {
  const {processes} = data.report;
  const spanNs = data.timeline.span_ns;
  const rows = inTreeOrder(processes).map(({index, depth}) => {
    const process = processes[index];
    const page = data.processes[index];
    const life = element('span', {
      class: 'c-plain',
      title: `${formatTime(page.offset_ns)} to ${formatTime(page.offset_ns + process.span_ns)}`
    });
    life.style.marginLeft = `${share(page.offset_ns, spanNs) * 100}%`;
    life.style.width = `${Math.max(0.3, share(process.span_ns, spanNs) * 100)}%`;
    const name = element('th', {class: 'name', attributes: {scope: 'row'}}, [
      button(
          `${process.name || 'process'} (pid ${process.pid})`, () => choose(index),
          'Show the figures of this process'),
    ]);
    name.style.paddingLeft = `${0.5 + depth * 1.4}rem`;
    const parent = element('td');
    if (process.parent !== null)
      parent.append(element('a', {href: `#pid-${process.parent}`, text: String(process.parent)}));
    const row = element('tr', {id: `pid-${process.pid}`}, [
      name,
      parent,
      element('td', {text: process.host}),
      element(
          'td', {class: 'bar-cell'},
          [element('div', {class: 'bar thin', attributes: {'aria-hidden': 'true'}}, [life])]),
      timeCell(process.span_ns, 'span_ns'),
      timeCell(process.gpu_busy_ns, 'gpu_busy_ns'),
      element(
          'td', {class: 'figure', text: formatShare(share(process.gpu_busy_ns, process.span_ns))}),
      element('td', {text: page.end === 'closed' ? '' : page.end}),
    ]);
    row.dataset.row = String(process.pid);
    return row;
  });
  const result = table(
      'Processes', ['process', 'parent', 'host', 'lifetime', 'span', 'GPU busy', 'share', ''],
      rows);
  result.classList.add('processes', 'plain');
  return result;
}

export function devices(data: PageData): HTMLElement {
  const rows = data.report.devices.map(
      (device) => element('tr', {}, [
        element('th', {
          class: 'name',
          text: device.name || 'GPU',
          title: device.uuid,
          attributes: {scope: 'row'}
        }),
        element('td', {text: device.used ? '' : 'visible, not used'}),
        timeCell(device.busy_ns, 'busy_ns'),
        element('td', {class: 'figure', text: formatShare(share(device.busy_ns, device.span_ns))}),
        element('td', {
          class: 'figure',
          text: device.nvml_utilization === null ? 'not sampled' :
                                                   formatShare(device.nvml_utilization)
        }),
        element('td', {class: 'figure', text: formatShare(device.smi_model)}),
      ]));
  if (rows.length === 0) return element('p', {text: 'No device was seen.'});
  return table('Devices', ['device', '', 'busy', 'share', 'nvidia-smi', 'its model'], rows);
}
