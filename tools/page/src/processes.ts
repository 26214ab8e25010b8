// SPDX-License-Identifier: Apache-2.0
//
// Processes as a tree: who started whom, when each lived, and what it had of the GPU.
import {Device, PageData, Report, ReportProcess, unknownNs} from './data';
import {button, element, listed, longTable, nameCell, othersName, part, rowOf, shareCell, sumOf, table, timeCell} from './dom';
import {bounded, formatBytes, formatShare, formatTime, share, shortName} from './format';
import {deviceName, processName} from './names';

// The process that started that of |index|; null where it is no part of the run.
function parentOf(processes: ReportProcess[], index: number): number|null {
  const {parent, host} = processes[index];
  const known = processes.findIndex((p, k) => k !== index && p.pid === parent && p.host === host);
  return parent !== null && known >= 0 ? known : null;
}

const LETTERS = 36;  // of a name with its pid

// Of its row: hosts share pids, and a process that starts another program keeps its own.
const idOf = (processes: ReportProcess[], index: number): string =>
    processes.findIndex(({pid}) => pid === processes[index].pid) === index ?
    `pid-${processes[index].pid}` :
    `pid-${processes[index].pid}-${index}`;

// Indices of |processes|, parents before their children, with the depth of each.
function inTreeOrder(processes: ReportProcess[]): {index: number; depth: number}[] {
  const children = new Map<number|null, number[]>();
  processes.forEach((_, i) => {
    const parent = parentOf(processes, i);
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
  const rowOfProcess = ({index, depth}: {index: number; depth: number}): HTMLElement => {
    const process = processes[index];
    const page = data.processes[index];
    const [most, least] = [process.gpu_busy_is_upper_bound, unknownNs(process) > 0];
    const life = element('span', {
      class: 'c-plain',
      title: `${formatTime(page.offset_ns)} to ${formatTime(page.offset_ns + process.span_ns)}`
    });
    life.style.marginLeft = `${share(page.offset_ns, spanNs) * 100}%`;
    life.style.width = `${Math.max(0.3, share(process.span_ns, spanNs) * 100)}%`;
    const name = element('th', {class: 'name', attributes: {scope: 'row'}}, [
      button(
          shortName(processName(data.report, process), LETTERS), () => choose(index),
          `Show the figures of ${processName(data.report, process)}`),
    ]);
    name.style.paddingLeft = `${0.5 + depth * 1.4}rem`;
    const parent = element('td');
    const starter = parentOf(processes, index);
    if (starter !== null) {
      parent.append(element(
          'a', {href: `#${idOf(processes, starter)}`, text: String(processes[starter].pid)}));
    } else if (process.parent !== null) {
      parent.append(String(process.parent));
    }
    const row = element('tr', {id: idOf(processes, index)}, [
      name,
      parent,
      element('td', {text: process.host}),
      element(
          'td', {class: 'bar-cell'},
          [element('div', {class: 'bar thin', attributes: {'aria-hidden': 'true'}}, [life])]),
      timeCell(process.span_ns, 'span_ns'),
      timeCell(process.gpu_busy_ns, 'gpu_busy_ns', most, least),
      timeCell(process.gpu_wait_ns, 'gpu_wait_ns', most && process.gpu_wait_ns > 0, least),
      element('td', {
        class: 'figure',
        text: bounded(most, least, formatShare(share(process.gpu_busy_ns, process.span_ns))),
      }),
      element('td', {text: page.end === 'closed' ? '' : page.end}),
    ]);
    row.dataset.row = String(process.pid);
    return row;
  };
  return longTable(
      'Processes',
      ['process', 'parent', 'host', 'lifetime', 'span', 'GPU busy', 'GPU wait', 'busy share', ''],
      inTreeOrder(processes), rowOfProcess, 'processes', 'plain');
}

const isAtLeast = (device: Device): boolean =>
    device.has_unknown_time || device.busy_is_lower_bound;

function remarkOn(device: Device): string {
  if (!device.used) return isAtLeast(device) ? 'visible, use unknown' : 'visible, not used';
  const others = device.not_profiled.length;
  const why = [
    device.has_unknown_time ? 'GPU time is unknown for a while' : '',
    others > 0 ? `${others} other process${others === 1 ? '' : 'es'} on it` :
        device.busy_is_lower_bound ? 'what is lost may have used it' :
                                     '',
  ].filter(Boolean);
  return why.length > 0 ? `busy for at least that: ${why.join('; ')}` : '';
}

function deviceCell(tag: 'th'|'td', report: Report, device: Device): HTMLElement {
  const attributes: Record<string, string> = tag === 'th' ? {scope: 'row'} : {};
  const text = deviceName(report, device);
  return element(tag, {class: 'device-name', text, title: device.uuid, attributes});
}

function nameOf(report: Report, {host, pid, name}: Device['processes'][0]): string {
  const known = report.processes.find((process) => process.pid === pid && process.host === host);
  return known ? processName(report, known) : `${name || 'process'} (pid ${pid})`;
}

// The most that was in use at once by whatever ran there, and what there is.
function memoryText({memory_bytes: all, memory_peak_bytes: peak}: Device): string {
  if (peak === null) return '-';
  return formatBytes(peak) + (all === null ? '' : ` of ${formatBytes(all)}`);
}

function deviceTable(report: Report): HTMLElement {
  const hasMemory = report.devices.some((device) => device.memory_peak_bytes !== null);
  return longTable(
      'Devices',
      [
        'device',
        '',
        'busy',
        'share',
        'nvidia-smi',
        'nvidia-smi would show',
        ...(hasMemory ? ['memory in use at most'] : []),
      ],
      report.devices,
      (device) => element('tr', {}, [
        deviceCell('th', report, device),
        element('td', {text: remarkOn(device)}),
        timeCell(device.busy_ns, 'busy_ns', device.busy_is_upper_bound, isAtLeast(device)),
        element('td', {
          class: 'figure',
          text: bounded(
              device.busy_is_upper_bound, isAtLeast(device),
              formatShare(share(device.busy_ns, device.span_ns))),
        }),
        shareCell(device.nvml_utilization),
        shareCell(device.smi_model),
        ...(hasMemory ? [element('td', {class: 'figure', text: memoryText(device)})] : []),
      ]));
}

// What each of several processes had of a device: at least what ran alone, at most all of it.
function bandTable(report: Report): HTMLElement {
  const bands =
      report.devices.flatMap((device) => device.processes.map((band) => ({band, device})));
  return longTable(
      'Shared devices', ['process', 'device', 'alone', 'contended', 'at most'], bands,
      ({band, device}) => rowOf(
          `${band.pid} ${device.uuid}`,
          [
            nameCell(nameOf(report, band)),
            deviceCell('td', report, device),
            timeCell(band.alone_ns, 'alone_ns'),
            timeCell(band.contended_ns, 'contended_ns'),
            timeCell(band.alone_ns + band.contended_ns, 'sum_ns'),
          ]),
      'bands');
}

function operationTable(report: Report): HTMLElement {
  const known = new Map(report.devices.map((device) => [device.uuid, device]));
  const cellOf = (uuid: string): HTMLElement => {
    const device = known.get(uuid);
    return device ? deviceCell('td', report, device) :
                    element('td', {class: 'name', text: uuid, title: uuid});
  };
  const {shown, others} =
      listed([...report.operation_devices].sort((a, b) => b.wall_ns - a.wall_ns));
  if (others.length > 0) {
    shown.push({
      operation: othersName(others),
      device: '',
      wall_ns: sumOf(others, (row) => row.wall_ns),
      busy_ns: sumOf(others, (row) => row.busy_ns),
      idle_ns: sumOf(others, (row) => row.idle_ns),
      unknown_ns: sumOf(others, (row) => row.unknown_ns),
      busy_is_upper_bound: others.some((row) => row.busy_is_upper_bound),
    });
  }
  const rows = others.length > 0 ? shown : report.operation_devices;
  const result = table(
      'Operations on devices', ['operation', 'device', 'wall', 'busy', 'idle', 'unknown'],
      rows.map((row) => rowOf(`${row.operation} ${row.device}`, [
                 nameCell(row.operation),
                 cellOf(row.device),
                 timeCell(row.wall_ns, 'wall_ns'),
                 timeCell(row.busy_ns, 'busy_ns', row.busy_is_upper_bound, row.unknown_ns > 0),
                 timeCell(row.idle_ns, 'idle_ns'),
                 timeCell(row.unknown_ns, 'unknown_ns'),
               ])));
  result.classList.add('operation-devices');
  return result;
}

export function devices(report: Report): HTMLElement[] {
  if (report.devices.length === 0) return [element('p', {text: 'No device was seen.'})];
  const nodes = [deviceTable(report)];
  if (report.devices.some((device) => device.processes.length > 1))
    nodes.push(part('What each process had of a shared device', [bandTable(report)]));
  if (report.operation_devices.length > 0) {
    nodes.push(element('details', {}, [
      element('summary', {text: 'Operations on each device, over all processes'}),
      operationTable(report),
    ]));
  }
  return nodes;
}
