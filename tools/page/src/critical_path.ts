// SPDX-License-Identifier: Apache-2.0
//
// What the length of the run hangs on.
import {CriticalPath, PageData} from './data';
import {element, nameCell, nameText, rowOf, shareCell, sumOf, table, timeCell} from './dom';
import {exactNs, formatShare, formatTime, share} from './format';
import {processName} from './names';
import {inkOn, Palette} from './palette';

const MOST_ROWS = 12;
const LETTERS = 40;  // of a name

const ROOM = 90;  // characters that the bar has room for

const isDevice = (layer: string): boolean => layer.startsWith('gpu ');

// The whole path, longest part first: the GPU's in the colour of its operation, the CPU's paler.
function pathBar(path: CriticalPath, palette: Palette): HTMLElement {
  const text = ({operation, layer, ns}: CriticalPath['parts'][0]): string =>
      `${operation}, ${layer}: ${formatShare(share(ns, path.wall_ns))}`;
  const said = path.parts.slice(0, MOST_ROWS).map(text);
  const node = element('div', {
    class: 'bar tall path-bar',
    attributes: {role: 'img', 'aria-label': said.join('; ')},
  });
  for (const part of path.parts) {
    const color = palette.ofScope(part.operation);
    const piece = element('span', {title: `${text(part)} (${exactNs(part.ns)})`});
    piece.style.width = `${share(part.ns, path.wall_ns) * 100}%`;
    piece.style.background = color;
    piece.classList.toggle('paler', !isDevice(part.layer));
    const label = `${part.operation} ${part.layer}`;
    if (isDevice(part.layer) && share(part.ns, path.wall_ns) * ROOM >= label.length) {
      const name = element('b', {text: label});
      name.style.color = inkOn(color);
      piece.append(name);
    }
    node.append(piece);
  }
  return node;
}

function partTable(path: CriticalPath, {report, summary}: PageData, palette: Palette): HTMLElement {
  const owner = report.processes[summary.told_process ?? 0];
  const others = path.parts.some(({host, pid}) => pid !== owner.pid || host !== owner.host);
  const shown = path.parts.length > MOST_ROWS + 1 ? path.parts.slice(0, MOST_ROWS) : path.parts;
  const loops = path.loop_ns > 0 && path.loop_ns < path.wall_ns;
  const row =
      (name: string, process: string, layer: string, ns: number, loopNs: number): HTMLElement => {
        const head = nameCell(name, '', LETTERS);
        if (layer !== '') {
          const swatch = element('span', {
            class: isDevice(layer) ? 'swatch' : 'swatch paler',
            attributes: {'aria-hidden': 'true'},
          });
          swatch.style.background = palette.ofScope(name);
          head.prepend(swatch);
        }
        return rowOf(`${name} ${process} ${layer}`, [
          head,
          ...(others ? [element('td', {class: 'name', title: process}, [nameText(process)])] : []),
          element('td', {text: layer}),
          timeCell(ns, 'ns'),
          shareCell(share(ns, path.wall_ns)),
          ...(loops ? [shareCell(share(loopNs, path.loop_ns))] : []),
        ]);
      };
  const nameOf = (host: string, pid: number): string => {
    const named = report.processes.find((process) => process.pid === pid && process.host === host);
    return named ? processName(report, named, '') : `process (${pid})`;
  };
  const rows = shown.map(
      ({operation, host, pid, layer, ns, loop_ns}) =>
          row(operation, nameOf(host, pid), layer, ns, loop_ns));
  const rest = path.parts.slice(shown.length);
  const restNs = sumOf(rest, ({ns}) => ns);
  if (restNs > 0)
    rows.push(row(`${rest.length} others`, '', '', restNs, sumOf(rest, ({loop_ns}) => loop_ns)));
  const heads = [
    'operation', ...(others ? ['process'] : []), 'layer', 'time', 'share',
    ...(loops ? ['of the loop'] : [])
  ];
  const result = table('Critical path', heads, rows);
  result.classList.add('path');
  return result;
}

// Whose path it is: by name where that is not the run's own, since its root was not recorded or
// only launches.
function ownerName({report, summary}: PageData): string {
  const main = report.processes[summary.told_process ?? 0];
  const isRoot = main.pid === report.run.root && main.host === report.run.root_host;
  return isRoot ? 'the main process' : processName(report, main);
}

export function criticalPath(path: CriticalPath, data: PageData, palette: Palette): HTMLElement[] {
  const owner = ownerName(data);
  return [
    element('p', {
      class: 'note',
      text: `The chain of what waited for what, from the end of ${owner} back to its begin: ${
          formatTime(path.wall_ns)}. What is not on it can take longer at no cost.`,
    }),
    pathBar(path, palette),
    partTable(path, data, palette),
  ];
}
