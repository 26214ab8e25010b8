// SPDX-License-Identifier: Apache-2.0
//
// How busy the GPU was by process and time, where there are too many processes to read a table of:
// at most 256 by 256 cells, each the mean of what falls into it.
import {PageData} from './data';
import {element, part} from './dom';
import {formatShare, formatTime} from './format';
import {Show} from './iteration_chart';
import {processName} from './names';
import {decodeBand} from './timeline/decode';
import {sumOf} from './timeline/draw';

const FEWEST_PROCESSES = 8;
const MOST = 256;        // rows, and columns
const CELL_HEIGHT = 12;  // pixels, unless there are too many
const LOWEST = 96;
const HIGHEST = 420;
const LOW = [236, 239, 243];  // nothing ran
const HIGH = [0, 110, 82];    // busy all the time

interface Cells {
  rows: number;
  columns: number;
  perRow: number;  // processes
  busy: Float64Array;
}

// Of the devices that a process used the mean.
function busyOf(data: PageData, columns: number): (Float64Array|null)[] {
  const {timeline, processes} = data;
  return processes.map((_, process) => {
    const tracks =
        timeline.tracks.filter((track) => track.process === process && track.kind === 'device');
    if (tracks.length === 0) return null;
    const busy = new Float64Array(columns);
    for (const track of tracks) {
      const band = decodeBand(track.band, timeline.buckets);
      for (let column = 0; column < columns; ++column) {
        const first = Math.floor(column * timeline.buckets / columns);
        const last = Math.max(first + 1, Math.floor((column + 1) * timeline.buckets / columns));
        const sum = [...sumOf(band, first, last).values()].reduce((all, part) => all + part, 0);
        busy[column] += sum / (last - first) / tracks.length;
      }
    }
    return busy;
  });
}

export function cellsOf(data: PageData): Cells {
  const columns = Math.min(MOST, data.timeline.buckets);
  const perRow = Math.ceil(data.processes.length / MOST);
  const rows = Math.ceil(data.processes.length / perRow);
  const busy = new Float64Array(rows * columns);
  const counts = new Uint32Array(rows);
  busyOf(data, columns).forEach((values, process) => {
    if (!values) return;
    const row = Math.floor(process / perRow);
    ++counts[row];
    values.forEach((value, column) => busy[row * columns + column] += value);
  });
  counts.forEach((count, row) => {
    for (let column = 0; column < columns; ++column)
      busy[row * columns + column] /= Math.max(1, count);
  });
  return {rows, columns, perRow, busy};
}

function paint(canvas: HTMLCanvasElement, {rows, columns, busy}: Cells): void {
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext('2d');
  if (!context) return;
  const image = context.createImageData(columns, rows);
  busy.forEach((share, i) => {
    for (let part = 0; part < 3; ++part)
      image.data[4 * i + part] = LOW[part] + (HIGH[part] - LOW[part]) * Math.min(1, share);
    image.data[4 * i + 3] = 255;
  });
  context.putImageData(image, 0, 0);
}

// null where a table says as much. |choose| shows the figures of a process.
export function heatMap(data: PageData, choose: (process: number) => void, show: Show): HTMLElement|
    null {
  const {report, timeline} = data;
  if (report.processes.length < FEWEST_PROCESSES) return null;
  const cells = cellsOf(data);
  const canvas = element('canvas', {
    class: 'heat-map',
    attributes: {
      role: 'img',
      'aria-label': `GPU busy of ${
          report.processes.length} processes over time; the table below has the figures`,
    },
  });
  canvas.style.height = `${Math.min(HIGHEST, Math.max(LOWEST, cells.rows * CELL_HEIGHT))}px`;
  paint(canvas, cells);
  const said = element('p', {
    class: 'note',
    text: 'Darker: the GPU was busier. Point at a cell; click to see it on the timeline.'
  });
  const at = (event: MouseEvent): {row: number; column: number} => {
    const frame = canvas.getBoundingClientRect();
    const place = (part: number, count: number): number =>
        Math.min(count - 1, Math.max(0, Math.floor(part * count)));
    return {
      row: place((event.clientY - frame.top) / frame.height, cells.rows),
      column: place((event.clientX - frame.left) / frame.width, cells.columns),
    };
  };
  const columnNs = timeline.bucket_ns * timeline.buckets / cells.columns;
  canvas.addEventListener('pointermove', (event) => {
    const {row, column} = at(event);
    const first = row * cells.perRow;
    const last = Math.min(report.processes.length, first + cells.perRow) - 1;
    const who = processName(report, report.processes[first]) +
        (last > first ? ` to ${processName(report, report.processes[last])}` : '');
    said.textContent =
        `${who}: GPU busy ${formatShare(cells.busy[row * cells.columns + column])} at ${
            formatTime(Math.round(column * columnNs))}`;
  });
  canvas.addEventListener('click', (event) => {
    const {row, column} = at(event);
    choose(row * cells.perRow);
    show(Math.round(column * columnNs), Math.round((column + 1) * columnNs));
  });
  return part('GPU busy by process and time', [canvas, said]);
}
