// SPDX-License-Identifier: Apache-2.0
//
// The training itself, from what the program said of it: when a target was reached and where the
// time until then went, work per second, samples and how old they were, FLOPs, and weight syncs.
// Sentences are those of the text report.
import {Flops, PageData, Samples, Target, WeightSync, Work} from './data';
import {barCell, element, listed, nameCell, othersName, part, rowOf, shareCell, sumOf, table, timeCell} from './dom';
import {exactNs, formatCount, formatShare, formatTime, share} from './format';
import {inkOn, Palette} from './palette';

const MOST_PARTS = 8;
const LETTERS = 28;  // of a name
const ROOM = 90;     // characters that a bar has room for

const said = (text: string): HTMLElement => element('p', {class: 'said', text});

// A figure that is no time: shown as |text|, with its exact value.
function numberCell(key: string, value: number|null, text: (value: number) => string): HTMLElement {
  const cell = element('td', {
    class: 'figure',
    text: value === null ? '\u2013' : text(value),
    title: value === null ? '' : String(value),
  });
  if (value !== null) {
    cell.dataset.key = key;
    cell.dataset.value = String(value);
  }
  return cell;
}

// As RateText of analysis/output/text/rates.h.
const rateText = (value: number): string =>
    value >= 999.5 ? formatCount(Math.round(value)) : String(Number(value.toPrecision(3)));

function targetParts(target: Target, palette: Palette): HTMLElement[] {
  if (target.parts.length === 0) return [];
  const {shown, others} = listed(target.parts, MOST_PARTS);
  const rows = others.length === 0 ? shown : [
    ...shown, {
      operation: othersName(others),
      wall_ns: sumOf(others, (row) => row.wall_ns),
      gpu_busy_ns: sumOf(others, (row) => row.gpu_busy_ns),
    }
  ];
  const text = ({operation, wall_ns}: typeof rows[0]): string =>
      `${operation} ${formatShare(share(wall_ns, target.parts_ns))}`;
  const bar = element('div', {
    class: 'bar tall target-bar',
    attributes: {role: 'img', 'aria-label': `Until ${target.target}: ${rows.map(text).join(', ')}`},
  });
  for (const row of rows) {
    const color = palette.ofScope(row.operation);
    const piece = element('span', {title: `${text(row)} (${exactNs(row.wall_ns)})`});
    piece.style.width = `${share(row.wall_ns, target.parts_ns) * 100}%`;
    piece.style.background = color;
    if (share(row.wall_ns, target.parts_ns) * ROOM >= row.operation.length) {
      const name = element('b', {text: row.operation});
      name.style.color = inkOn(color);
      piece.append(name);
    }
    bar.append(piece);
  }
  const result = table(
      `Until ${target.target}`, ['operation', 'time', 'share', 'GPU busy'], rows.map((row) => {
        const name = nameCell(row.operation, '', LETTERS);
        const swatch = element('span', {class: 'swatch', attributes: {'aria-hidden': 'true'}});
        swatch.style.background = palette.ofScope(row.operation);
        name.prepend(swatch);
        return rowOf(row.operation, [
          name,
          timeCell(row.wall_ns, 'wall_ns'),
          shareCell(share(row.wall_ns, target.parts_ns)),
          timeCell(row.gpu_busy_ns, 'gpu_busy_ns'),
        ]);
      }));
  result.classList.add('target-parts');
  return [bar, result];
}

function targets(all: Target[], words: string[], palette: Palette): HTMLElement[] {
  if (all.length === 0) return [];
  return [part(
      'Time to a target',
      all.flatMap(
          (target, i) =>
              [said(words[i]),
               ...targetParts(target, palette),
  ]))];
}

function work(all: Work[], words: string[]): HTMLElement[] {
  if (all.length === 0) return [];
  const perMillion = (value: number): string => `${rateText(value)} s`;
  const result = table(
      'Work done',
      [
        'of', 'done', 'in', 'per second', 'per second of simulation', 'and of inference',
        'GPU time for a million', 'of that busy'
      ],
      all.map((row) => rowOf(row.counter, [
                nameCell(row.counter.replace('_', ' ')),
                numberCell('done', row.done, (value) => formatCount(Math.round(value))),
                timeCell(row.ns, 'ns'),
                numberCell('per_second', row.per_second, rateText),
                numberCell('per_simulation_second', row.per_simulation_second, rateText),
                numberCell(
                    'per_simulation_and_inference_second', row.per_simulation_and_inference_second,
                    rateText),
                numberCell('gpu_seconds_per_million', row.gpu_seconds_per_million, perMillion),
                numberCell(
                    'gpu_busy_seconds_per_million', row.gpu_busy_seconds_per_million, perMillion),
              ])));
  result.classList.add('work');
  return [part('Work per second', [...words.map(said), result])];
}

// Of samples whose age is known; and why samples were thrown away.
function samples(all: Samples, data: PageData): HTMLElement[] {
  const {staleness, waste, goodput} = data.training;
  const nodes: HTMLElement[] = [];
  const count = (value: number): string => formatCount(Math.round(value));
  const rowsOf = (rows: {key: string; name: string; samples: number}[], whole: number) =>
      rows.map((row) => rowOf(row.key, [
                 nameCell(row.name),
                 barCell('c-plain', share(row.samples, whole)),
                 numberCell('samples', row.samples, count),
                 shareCell(share(row.samples, whole)),
               ]));
  if (staleness) {
    const known = all.consumed - all.unknown_version;
    const result = table(
        'Age of consumed samples', ['policy versions old', '', 'samples', 'share'],
        rowsOf(
            all.versions_behind.map(
                ({behind, samples}) => ({key: String(behind), name: String(behind), samples})),
            known));
    result.classList.add('versions');
    nodes.push(said(staleness), result);
  }
  if (waste) nodes.push(said(waste));
  if (all.reasons.length > 0) {
    const result = table(
        'Discarded samples', ['discarded because', '', 'samples', 'of all samples'],
        rowsOf(
            all.reasons.map(
                ({reason, samples}) => ({key: reason, name: reason || 'no reason said', samples})),
            all.consumed + all.discarded));
    result.classList.add('discarded');
    nodes.push(result);
  }
  if (goodput) nodes.push(said(goodput));
  return nodes.length > 0 ? [part('Samples', nodes)] : [];
}

function fact(key: string, text: string, ns: number): HTMLElement {
  const value = element('dd', {text: formatTime(ns), title: exactNs(ns)});
  value.dataset.key = key;
  value.dataset.ns = String(ns);
  return element('div', {}, [element('dt', {text}), value]);
}

function flops(figures: Flops, words: string): HTMLElement {
  return part('Model FLOPs (MFU)', [
    said(words),
    element(
        'dl', {class: 'facts flops'},
        [fact('ns', 'time', figures.ns), fact('gpu_busy_ns', 'GPU busy', figures.gpu_busy_ns)]),
  ]);
}

function weightSync(figures: WeightSync, words: string): HTMLElement {
  return part('Weight sync', [
    said(words),
    element(
        'dl', {class: 'facts weight-sync'},
        [
          fact('exposed_ns', 'exposed: the primary thread is in it', figures.exposed_ns),
          fact('hidden_ns', 'hidden: only other threads are', figures.hidden_ns),
          fact('ns', 'of', figures.ns),
        ]),
  ]);
}

// Empty where the program says nothing of it.
export function trainingSection(data: PageData, palette: Palette): HTMLElement[] {
  const {report, training: words} = data;
  const {training} = report.run;
  const nodes: HTMLElement[] = [];
  if (training) {
    nodes.push(
        ...targets(training.targets, words.targets, palette), ...work(training.work, words.work),
        ...(training.samples ? samples(training.samples, data) : []));
  }
  const process = words.process === null ? null : report.processes[words.process].training;
  if (process?.flops && words.flops) nodes.push(flops(process.flops, words.flops));
  if (process?.weight_sync && words.weight_sync)
    nodes.push(weightSync(process.weight_sync, words.weight_sync));
  return nodes;
}
