// SPDX-License-Identifier: Apache-2.0
//
// How far the figures can be trusted, and what was run.
import {PageData, shownName} from './data';
import {element, table} from './dom';
import {counted, formatCount, formatTime} from './format';
import {namesWithCounts} from './names';

function ledgerRow(
    severity: string, counter: string, value: string, help: string,
    exact: string = ''): HTMLElement {
  const row = element('tr', {}, [
    element(
        'th', {attributes: {scope: 'row'}},
        [element('span', {class: `severity s-${severity}`, text: severity.replace('_', ' ')})]),
    element('td', {text: counter}),
    element('td', {class: 'figure', text: value, title: exact}),
    element('td', {class: 'wide', text: help}),
  ]);
  row.dataset.row = counter;
  return row;
}

export function ledger(data: PageData): HTMLElement {
  const {report} = data;
  const block = element(
      'div', {}, [element('p', {class: 'verdict', text: `Data quality: ${report.run.verdict}`})]);
  const rows = [
    ...report.ledger.map(
        ({severity, counter, value, help}) =>
            ledgerRow(severity, counter, formatCount(value), help, String(value))),
    ...report.not_counted.map((what) => ledgerRow('unknown', what.counter, '?', what.why)),
  ];
  if (rows.length > 0) {
    const entries = table('Ledger', ['severity', 'counter', 'value', 'what it means'], rows);
    entries.classList.add('ledger', 'plain');
    block.append(entries);
  }
  if (data.notes.length > 0) {
    block.append(element('details', {}, [
      element(
          'summary',
          {text: `${counted(data.notes.length, 'note')} of the recorder and the reader`}),
      element('ul', {}, data.notes.map((note) => element('li', {text: note}))),
    ]));
  }
  return block;
}

export function facts(data: PageData): HTMLElement {
  const {run, report} = data;
  const list = element('dl', {class: 'facts stacked'});
  const add = (name: string, value: string|undefined|null): void => {
    if (value)
      list.append(element('div', {}, [element('dt', {text: name}), element('dd', {text: value})]));
  };
  add('run', run.name);
  add('command', (run.command ?? data.processes[0]?.command)?.join(' '));
  add('folder', run.cwd);
  add('host', run.host ?? report.processes[0]?.host);
  const started = run.start_realtime_ns ?? report.processes[0]?.start_ns;
  if (started)
    add('began', new Date(started / 1e6).toISOString().replace('T', ' ').replace(/\..*/, ' UTC'));
  add('wall time', formatTime(report.run.wall_ns));
  if (run.signal) {
    add('ended', `by signal ${run.signal}`);
  } else if (run.exit_code !== undefined && run.exit_code !== null) {
    add('ended', `with exit status ${run.exit_code}`);
  }
  const unclear =
      report.devices.filter((d) => !d.used && (d.has_unknown_time || d.busy_is_lower_bound))
          .map((d) => d.name);
  add('devices',
      `${report.devices.filter((d) => d.used).length} used` +
          (report.run.devices_unused.length > 0 ?
               `, unused: ${namesWithCounts(report.run.devices_unused)}` :
               '') +
          (unclear.length > 0 ? `, use unknown: ${namesWithCounts(unclear)}` : ''));
  add('recorded by', `gpubound ${run.version ?? data.processes[0]?.version ?? ''}`);
  for (const [name, value] of Object.entries(run.metadata)) add(shownName(name), value);
  return list;
}
