// SPDX-License-Identifier: Apache-2.0
//
// The top of the page: what run it is, how far it can be trusted, and the way to its sections.
import {PageData} from './data';
import {element} from './dom';
import {formatTime} from './format';
import {themeButton} from './theme';

function runChip({run, report}: PageData): HTMLElement {
  const started = run.start_realtime_ns ?? report.processes[0]?.start_ns;
  const when =
      started ? `${new Date(started / 1e6).toISOString().slice(0, 16).replace('T', ' ')}, ` : '';
  const {devices_used: gpus} = report.run;
  const count = report.processes.length > 1 ? `${report.processes.length} processes, ` : '';
  return element('a', {
    class: 'chip',
    href: '#run',
    text: `${when}${formatTime(report.run.wall_ns)}, ${count}${
        gpus === 1 ? '1 GPU' : `${gpus} GPUs`}`,
  });
}

function qualityChip({report}: PageData): HTMLElement {
  const {verdict} = report.run;
  const isGood = verdict.startsWith('complete');
  return element('a', {
    class: `chip ${isGood ? 'good' : 'doubtful'}`,
    href: '#quality',
    text: isGood ? '\u2713 nothing lost' : '! data quality',
    title: `Data quality: ${verdict}`,
  });
}

// |sections|: their ids and titles. |changed|: when the page has got other colours.
export function header(
    data: PageData, sections: [string, string][], changed: () => void): HTMLElement[] {
  const isEmpty = data.report.processes.length === 0;
  const nodes: HTMLElement[] = [];
  if (data.report.device_kind === 'simulated') {
    nodes.push(element('p', {
      class: 'simulated',
      text: 'SIMULATED DEVICE: GPU times are those of a model, not of hardware.',
      attributes: {role: 'note'},
    }));
  }
  nodes.push(element('div', {class: 'bar-top'}, [
    element(
        'h1', {},
        [
          element('span', {class: 'brand', text: 'gpubound'}),
          element('span', {text: data.run.name})
        ]),
    ...(isEmpty ? [] : [runChip(data), qualityChip(data)]),
    element(
        'nav', {attributes: {'aria-label': 'Sections'}},
        sections.map(([id, name]) => element('a', {href: `#${id}`, text: name}))),
    themeButton(changed),
  ]));
  return nodes;
}
