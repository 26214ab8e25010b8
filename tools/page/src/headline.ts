// SPDX-License-Identifier: Apache-2.0
//
// The first thing on the page: the first lines of the text report, with their shares as bars.
import {PageData, Report, Saving} from './data';
import {element} from './dom';
import {bounded, exactNs, formatShare, formatTime, share, upTo} from './format';
import {intervalOf, savingName} from './savings';

// In the words of the text report (analysis/diagnosis/cause_rules.h, CauseText).
const CAUSES: Record<string, string> = {
  'compile': 'compiling or capturing',
  'waiting': 'waiting for others',
  'queued': 'between queued work',
  'event-wait': 'waiting for another stream',
  'sync': 'CPU notices late that the GPU is done',
  'copy': 'copying data',
  'launch': 'CPU preparing launches',
  'checkpoint': 'writing checkpoints',
  'unknown': 'nothing recorded',
};

export const causeText = (cause: string, python = false): string =>
    cause === 'launch' && python ? 'Python preparing launches' : CAUSES[cause] ?? cause;

// Whether an interpreter of Python ran in |process|, and the replay does not say that the run would
// be as long without its time.
export function blamesPython(report: Report, process: number): boolean {
  const hardlyShorter = 0.05;
  if (!report.processes[process].cells.some((cell) => cell.layer === 'python')) return false;
  const path = report.run.critical_path;
  if (!path) return true;
  const python = path.parts.filter(({layer}) => layer === 'python');
  const ns = python.reduce((sum, part) => sum + part.ns, 0);
  if (share(ns, path.wall_ns) < hardlyShorter) return false;
  return !report.run.savings.some(
      ({part, name, factor, saves}) =>
          part === 'layer' && name === 'python' && saves < hardlyShorter * (1 - factor));
}

// Idle time of the devices of |process| by cause, longest first, over its whole span.
export function idleCauses(report: Report, process: number): [string, number][] {
  const sums = new Map<string, number>();
  for (const row of report.processes[process].operations) {
    for (const [cause, ns] of Object.entries(row.device_idle)) {
      sums.set(cause, (sums.get(cause) ?? 0) + ns);
    }
  }
  return [...sums].filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]);
}

const ROOM = 32;  // characters that a bar has room for

interface Part {
  css: string;
  name: string;
  share: number;  // of the bar
  said?: string;  // in words; else |share|
}

const partText = ({name, share, said}: Part): string => `${name} ${said ?? formatShare(share)}`;

function meter(label: string, value: string, parts: Part[], note: string): HTMLElement {
  const bar = element('div', {
    class: 'bar tall',
    attributes: {role: 'img', 'aria-label': parts.map(partText).join(', ')},
  });
  for (const part of parts) {
    if (part.share <= 0) continue;
    const piece = element('span', {class: part.css, title: partText(part)});
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

function smiMeter(data: PageData): HTMLElement {
  const sampled = data.report.run.nvml_utilization;
  const measured = sampled !== null;
  const said = sampled ?? data.summary.smi_model;
  return meter(
      measured ? 'nvidia-smi says' : 'nvidia-smi would say', formatShare(said),
      [{css: 'c-smi', name: 'utilisation', share: said}],
      measured ? 'sampled by NVML during the run' :
                 'model: windows of 1/6 s in which any kernel ran; an upper bound');
}

// Classes may run side by side: each is said whole, and of the bar collectives and copies get what
// computation leaves.
function classParts({run}: Report): Part[] {
  const rest = Math.max(0, run.gpu_busy_share - run.compute_share);
  const beside = run.comm_share + run.copy_share;
  const scale = beside > rest ? rest / beside : 1;
  const part = (css: string, name: string, whole: number, drawn: number): Part =>
      ({css, name, share: drawn, said: formatShare(whole)});
  return [
    part('w-compute', 'compute', run.compute_share, run.compute_share),
    part('w-comm', 'communication', run.comm_share, run.comm_share * scale),
    part('w-copy', 'copy', run.copy_share, run.copy_share * scale),
  ];
}

function busyMeter(data: PageData): HTMLElement {
  const {run} = data.report;
  const own = data.summary.own_share;
  const others = run.gpu_busy_is_lower_bound && own === null;
  const least = data.summary.unknown_share > 0 || others ? 'at least ' : '';
  const parts: Part[] = own !== null ?
      [
        {css: 'w-compute', name: 'main process', share: own},
        {css: 'c-peers', name: 'peers', share: Math.max(0, run.gpu_busy_share - own)},
      ] :
      classParts(data.report);
  const span = run.headline === 'iterations' ? 'iterations after warm-up' : 'whole run';
  return meter(
      'GPU busy',
      least && run.gpu_busy_is_upper_bound ?
          `about ${formatShare(own ?? run.gpu_busy_share)}` :
          least + upTo(run.gpu_busy_is_upper_bound, formatShare(own ?? run.gpu_busy_share)),
      parts,
      (own !== null ? `of ${formatShare(run.gpu_busy_share)} by all processes; ` : '') +
          `${span}, ${formatTime(run.headline_ns)}`);
}

function idleMeter(data: PageData): HTMLElement {
  const unknown = data.summary.unknown_share;
  const idle = Math.max(0, 1 - data.report.run.gpu_busy_share - unknown);
  const causes = Object.entries(data.summary.idle_causes);
  const told = data.summary.told_process;
  const python = told !== null && blamesPython(data.report, told);
  const total = data.summary.idle_ns;
  const parts = causes.map(
      ([cause, ns]) =>
          ({css: `i-${cause}`, name: causeText(cause, python), share: idle * share(ns, total)}));
  // Of a device that others use a cause is known only as far as it holds whatever they did.
  const rest = idle - parts.reduce((sum, {share}) => sum + share, 0);
  if (rest > 1e-9) parts.push({css: 'c-idle', name: 'cause not known', share: rest});
  parts.push({css: 'c-unknown', name: 'unknown', share: unknown});
  const first = causes.length > 0 ?
      `${formatShare(idle * share(causes[0][1], total))} ${causeText(causes[0][0], python)}` :
      '';
  const {run} = data.report;
  const least = run.gpu_busy_is_upper_bound || data.summary.unknown_is_upper_bound;
  const bound = run.gpu_busy_is_lower_bound ? (least ? 'about ' : 'at most ') : least ? '>= ' : '';
  const shownUnknown = upTo(data.summary.unknown_is_upper_bound, formatShare(unknown));
  return meter(
      'idle', bound + formatShare(idle), parts,
      [first, unknown > 0 ? `unknown ${shownUnknown}` : ''].filter(Boolean).join('; '));
}

function fact(name: string, value: string, note: string, title: string): HTMLElement {
  return element('div', {}, [
    element('dt', {text: name}),
    element('dd', {title}, [value, element('small', {text: note})]),
  ]);
}

// The one change that saves most.
function savingFact(saving: Saving|null): HTMLElement|null {
  if (!saving) return null;
  return fact(
      `${savingName(saving)} twice as fast`, `saves ${formatShare(saving.saves)}`,
      `95 %: ${intervalOf(saving)}; the run takes ${formatTime(saving.wall_ns)}`,
      `${saving.saves} (${saving.saves_low} to ${saving.saves_high})`);
}

// What the replay knows of the run beyond its first sentence.
function factList(data: PageData): HTMLElement|null {
  const {run, processes, diagnosis} = data.report;
  const corrected = processes[data.summary.main_process ?? 0]?.corrected;
  const facts: (HTMLElement|null)[] = [
    corrected ?
        fact(
            'without the profiler', formatTime(corrected.span_ns),
            `95 %: ${formatTime(corrected.span_ns_low)} to ${formatTime(corrected.span_ns_high)}`,
            exactNs(corrected.span_ns)) :
        null,
    run.gpu_limited_share === null ?
        null :
        fact(
            'GPU-limited',
            bounded(
                run.whole_gpu_busy_is_upper_bound, run.whole_unknown_share > 0,
                formatShare(run.gpu_limited_share)),
            `so much ${
                data.summary.headline_is_part ? 'of the whole run ' :
                                                ''}an infinitely fast GPU would save`,
            String(run.gpu_limited_share)),
    savingFact(diagnosis[0]?.saving ?? null),
  ];
  return facts.some((one) => one !== null) ? element('dl', {class: 'facts overview'}, facts) : null;
}

export function headlineBlock(data: PageData): HTMLElement {
  const {summary} = data;
  const {diagnosis, run} = data.report;
  const [first, ...others] = diagnosis;
  const block =
      element('div', {id: 'headline'}, [element('p', {class: 'lead', text: first.finding})]);
  if (first.action) block.append(element('p', {class: 'action', text: first.action}));
  if (run.devices_used > 0) {
    block.append(
        element('div', {class: 'meters'}, [smiMeter(data), busyMeter(data), idleMeter(data)]));
  } else if (summary.unknown_share > 0) {
    block.append(element('div', {class: 'meters'}, [busyMeter(data), idleMeter(data)]));
  }
  const facts = run.critical_path ? factList(data) : null;
  if (facts) block.append(facts);
  if (others.length > 0) {
    block.append(element(
        'ul', {class: 'advice', attributes: {'aria-label': 'Further findings'}},
        others.map(({finding, action}) => element('li', {text: `${finding} ${action}`.trim()}))));
  }
  for (const text
           of [summary.headline, summary.scope, summary.wall, `Data quality: ${run.verdict}`]) {
    if (text) block.append(element('p', {class: 'note', text}));
  }
  return block;
}
