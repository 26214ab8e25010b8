// SPDX-License-Identifier: Apache-2.0
//
// The first thing on the page: what nvidia-smi says, what the GPU really did, and why it was idle.
import {PageData, Report} from './data';
import {element} from './dom';
import {formatShare, formatTime, share} from './format';

const CAUSES: Record<string, string> = {
  'checkpoint': 'saving checkpoints',
  'compile': 'compiling and loading code',
  'start-up': 'starting up',
  'simulation': 'running environments',
  'waiting': 'waiting for other processes',
  'sync': 'synchronisation round trips',
  'copy': 'copying data',
  'launch': 'Python and the launch path',
  'unknown': 'nothing recorded',
};

export const causeText = (cause: string): string => CAUSES[cause] ?? cause;

// Idle time of all devices by cause, longest first, over the whole run.
export function idleCauses(report: Report, process?: number): [string, number][] {
  const sums = new Map<string, number>();
  report.processes.forEach((p, i) => {
    if (process !== undefined && i !== process) return;
    for (const row of p.operations) {
      for (const [cause, ns] of Object.entries(row.device_idle)) {
        sums.set(cause, (sums.get(cause) ?? 0) + ns);
      }
    }
  });
  return [...sums].filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]);
}

interface Headline {
  smi: number;
  measured: boolean;  // by NVML, not modelled
  idle: number;
  unknown: number;
  cause: string|null;
  causeShare: number;
}

export function headlineOf(report: Report): Headline {
  const used = report.devices.filter((device) => device.used);
  const mean = (values: number[]): number =>
      values.reduce((a, b) => a + b, 0) / Math.max(values.length, 1);
  // What a stand-in says of a simulated device is no claim of nvidia-smi's.
  const measured = report.device_kind !== 'simulated' && used.length > 0 &&
      used.every((device) => device.nvml_utilization !== null);
  const sums = {wall: 0, unknown: 0};
  for (const row of report.operation_devices) {
    sums.wall += row.wall_ns;
    sums.unknown += row.unknown_ns;
  }
  const unknown = share(sums.unknown, sums.wall);
  const causes = idleCauses(report);
  const total = causes.reduce((sum, [, ns]) => sum + ns, 0);
  return {
    smi: mean(used.map((d) => (measured ? d.nvml_utilization ?? 0 : d.smi_model))),
    measured,
    idle: Math.max(0, 1 - report.run.gpu_busy_share - unknown),
    unknown,
    cause: causes.length > 0 ? causes[0][0] : null,
    causeShare: causes.length > 0 ? share(causes[0][1], total) : 0,
  };
}

export function headlineSentence(report: Report): string {
  if (report.run.devices_used === 0) return 'No GPU work was recorded in this run.';
  const head = headlineOf(report);
  const said = head.measured ? `nvidia-smi said ${formatShare(head.smi)}` :
                               `nvidia-smi would say ${formatShare(head.smi)} (model)`;
  const where =
      report.run.headline === 'iterations' ? ' of the iterations after warm-up' : ' of the time';
  let sentence = `${said}; the GPU really worked ${formatShare(report.run.gpu_busy_share)}${where}`;
  if (head.idle > 0) sentence += `. Idle ${formatShare(head.idle)}`;
  if (head.idle > 0 && head.cause) sentence += `, first cause: ${causeText(head.cause)}`;
  return `${sentence}.`;
}

const ROOM = 32;  // characters that a bar has room for

interface Part {
  css: string;
  name: string;
  share: number;
}

function meter(label: string, value: string, parts: Part[], note: string): HTMLElement {
  const bar = element('div', {
    class: 'bar tall',
    attributes: {
      role: 'img',
      'aria-label': parts.map((p) => `${p.name} ${formatShare(p.share)}`).join(', ')
    },
  });
  for (const part of parts) {
    if (part.share <= 0) continue;
    const piece =
        element('span', {class: part.css, title: `${part.name}: ${formatShare(part.share)}`});
    piece.style.width = `${Math.min(part.share, 1) * 100}%`;
    if (part.share * ROOM > part.name.length + 1) piece.append(element('b', {text: part.name}));
    bar.append(piece);
  }
  return element('div', {class: 'meter'}, [
    element(
        'div', {class: 'meter-head'},
        [element('span', {text: label}), element('strong', {text: value})]),
    bar,
    element('div', {class: 'note', text: note}),
  ]);
}

export function headlineBlock(data: PageData): HTMLElement {
  const report = data.report;
  const run = report.run;
  const block = element(
      'div', {id: 'headline'}, [element('p', {class: 'lead', text: headlineSentence(report)})]);
  if (run.devices_used === 0) return block;
  const head = headlineOf(report);
  const causes = idleCauses(report);
  const total = causes.reduce((sum, [, ns]) => sum + ns, 0);
  const span = run.headline === 'iterations' ?
      `iterations after warm-up, ${formatTime(run.headline_ns)}; whole run ${
          formatShare(run.whole_gpu_busy_share)}` :
      `whole run, ${formatTime(run.wall_ns)}`;
  block.append(element('div', {class: 'meters'}, [
    meter(
        head.measured ? 'nvidia-smi says' : 'nvidia-smi would say', formatShare(head.smi),
        [{css: 'c-smi', name: 'utilisation', share: head.smi}],
        head.measured ? 'sampled by NVML during the run' :
                        'model: windows of 1/6 s in which any kernel ran; an upper bound'),
    meter(
        'the GPU really worked', formatShare(run.gpu_busy_share),
        [
          {css: 'w-compute', name: 'compute', share: run.compute_share},
          {
            css: 'w-comm',
            name: 'communication',
            share: Math.max(0, Math.min(run.comm_share, run.gpu_busy_share - run.compute_share))
          },
          {
            css: 'w-copy',
            name: 'copy',
            share: Math.max(0, run.gpu_busy_share - run.compute_share - run.comm_share)
          },
        ],
        span),
    meter(
        'idle', formatShare(head.idle), causes.map(([cause, ns]) => ({
                                                     css: `i-${cause}`,
                                                     name: causeText(cause),
                                                     share: head.idle * share(ns, total),
                                                   })),
        (head.cause ? `first cause: ${causeText(head.cause)}, ${
                          formatShare(head.causeShare)} of the whole run's idle time` :
                      'never idle') +
            (head.unknown > 0 ? `; unknown ${formatShare(head.unknown)}` : '')),
  ]));
  return block;
}
