// SPDX-License-Identifier: Apache-2.0
//
// Roles of processes: what the GPU time of each was, who was at work when, whom each waited for, and
// what a faster one would bring. Sentences are those of the text report.
import {PageData, Report, Role, RoleProcess, Roles} from './data';
import {barCell, element, nameCell, part, rowOf, shareCell, table, timeCell} from './dom';
import {exactNs, formatCount, formatShare, formatTime, share} from './format';
import {processName} from './names';
import {Palette} from './palette';
import {intervalOf} from './savings';

// As Bubble of analysis/attribution/role_sweep.h.
const BUBBLES = new Map([
  ['starved', 'it waits for samples'],
  ['blocked', 'it waits for those that take what it makes'],
  ['tail', 'it waits for the last workers of a rollout'],
  ['weight sync', 'weights are brought from those that train to those that act'],
  ['environment or reward', 'an environment is stepped, or a reward computed'],
  ['start-up', 'the process starts up'],
  ['other', 'none of these: mostly the CPU prepares work'],
]);

interface Piece {
  name: string;
  ns: number;
  css: string;
  color: string;
}

// What the time sums up from for which devices are held.
function piecesOf(role: Role, palette: Palette): Piece[] {
  return [
    {name: 'GPU busy', ns: role.busy_ns, css: 'w-compute', color: ''},
    ...role.bubbles.map(
        ({cause, ns}) => ({name: cause, ns, css: '', color: palette.ofBubble(cause)})),
    {name: 'unknown', ns: role.unknown_ns, css: 'c-unknown', color: ''},
  ].filter(({ns}) => ns > 0);
}

function swatch({css, color}: Piece): HTMLElement {
  const node = element('span', {class: `swatch ${css}`, attributes: {'aria-hidden': 'true'}});
  if (color) node.style.background = color;
  return node;
}

function heldBar(role: Role, pieces: Piece[]): HTMLElement {
  const text = ({name, ns}: Piece): string => `${name} ${formatShare(share(ns, role.held_ns))}`;
  const bar = element('div', {
    class: 'bar',
    attributes: {role: 'img', 'aria-label': `${role.role}: ${pieces.map(text).join(', ')}`},
  });
  for (const piece of pieces) {
    const node = element(
        'span', {class: piece.css, title: `${text(piece)} of ${role.role} (${exactNs(piece.ns)})`});
    if (piece.color) node.style.background = piece.color;
    node.style.width = `${share(piece.ns, role.held_ns) * 100}%`;
    bar.append(node);
  }
  return bar;
}

const helpOf = ({name, css}: Piece): string => css === 'w-compute' ? '' :
    css === 'c-unknown' ? 'GPU work could not be recorded' :
                          BUBBLES.get(name) ?? '';

function heldTime({roles}: Roles, said: string, palette: Palette): HTMLElement {
  const holders = roles.filter(({held_ns}) => held_ns > 0);
  if (holders.length === 0) {
    return part('GPU time by role', [element('p', {text: 'No process with a role uses a GPU.'})]);
  }
  const pieces = holders.map((role) => piecesOf(role, palette));
  const bars = table(
      'GPU time by role', ['role', '', 'held', 'busy', 'idle', 'unknown', 'idle share'],
      holders.map((role, i) => rowOf(role.role, [
                    nameCell(role.role),
                    element('td', {class: 'bar-cell'}, [heldBar(role, pieces[i])]),
                    timeCell(role.held_ns, 'held_ns'),
                    timeCell(role.busy_ns, 'busy_ns', false, role.unknown_ns > 0),
                    timeCell(role.idle_ns, 'idle_ns', false, role.unknown_ns > 0),
                    timeCell(role.unknown_ns, 'unknown_ns'),
                    shareCell(share(role.idle_ns, role.held_ns)),
                  ])));
  bars.classList.add('roles');
  const seen = new Map(pieces.flat().map((piece) => [piece.name, piece]));
  const legend = element('ul', {class: 'legend wrapped'}, [...seen.values()].map((piece) => {
    const help = helpOf(piece);
    return element('li', {}, [swatch(piece), help ? `${piece.name}: ${help}` : piece.name]);
  }));
  const bubbles = table(
      'Idle GPU time by role and cause', ['role', 'cause', 'time', 'of the time held'],
      holders.flatMap(
          (role, i) => pieces[i]
                           .filter(({color}) => color !== '')
                           .map((piece) => rowOf(`${role.role} ${piece.name}`, [
                                  nameCell(role.role),
                                  element('td', {}, [swatch(piece), piece.name]),
                                  timeCell(piece.ns, 'ns'),
                                  shareCell(share(piece.ns, role.held_ns)),
                                ]))));
  bubbles.classList.add('bubbles');
  return part('GPU time by role', [
    element('p', {class: 'said', text: said}),
    bars,
    legend,
    element('details', {}, [element('summary', {text: 'Idle time by cause, as a table'}), bubbles]),
  ]);
}

const namesOf = (roles: string[]): string => roles.length === 0 ? 'nobody' :
    roles.length === 1                                          ? `${roles[0]} alone` :
                                                                  roles.join(' and ');

function overlap(roles: Roles, said: string): HTMLElement {
  const result = table(
      'Roles at work', ['at work', '', 'time', 'share'],
      roles.overlap.map(({roles: names, ns}) => rowOf(names.join('+'), [
                          nameCell(namesOf(names)),
                          barCell('c-plain', share(ns, roles.ns)),
                          timeCell(ns, 'ns'),
                          shareCell(share(ns, roles.ns)),
                        ])));
  result.classList.add('overlap');
  return part('Who was at work when', [element('p', {class: 'said', text: said}), result]);
}

// What each role would save, and at the end overlap of all; the bound is in the sentence.
function bound(roles: Roles, said: string): HTMLElement {
  const cell = (text: string): HTMLElement => element('td', {class: 'figure', text});
  const row = (key: string, name: string, saves: number, text: string, interval: string) => {
    const node = rowOf(key, [
      nameCell(name),
      barCell('c-plain', Math.max(0, saves)),
      cell(text),
      cell(interval),
    ]);
    node.dataset.saves = String(saves);
    return node;
  };
  const result = table('What a faster role would bring', ['change', '', 'saves', '95 %'], [
    ...roles.savings.map(
        (saving) =>
            row(saving.role, `${saving.role} infinitely fast`, saving.saves,
                formatShare(saving.saves), intervalOf(saving))),
    row('overlap', 'perfect overlap', roles.perfect_overlap_saves,
        `at most ${formatShare(roles.perfect_overlap_saves)}`, '\u2013'),
  ]);
  result.classList.add('role-savings');
  return part('What a faster role would bring', [
    element('p', {class: 'said', text: said}),
    result,
    ...(roles.savings.length > 0 ? [] : [element('p', {
      class: 'note',
      text: 'What each role by itself would save is not known: the run was not replayed.',
    })]),
  ]);
}

function tail({tail: figures}: Roles, said: string): HTMLElement {
  const fact = (key: keyof NonNullable<Roles['tail']>, text: string, ns: number): HTMLElement => {
    const value = element('dd', {text: formatTime(ns), title: exactNs(ns)});
    value.dataset.key = key;
    value.dataset.ns = String(ns);
    return element('div', {}, [element('dt', {text}), value]);
  };
  return part('The end of rollouts', [
    element('p', {class: 'said', text: said}),
    ...(figures ? [element(
                      'dl', {class: 'facts tail'},
                      [
                        element(
                            'div', {},
                            [
                              element('dt', {text: 'rollouts'}),
                              element('dd', {text: formatCount(figures.rollouts)}),
                            ]),
                        fact('median_ns', 'a worker, median', figures.median_ns),
                        fact('p95_ns', '95 % within', figures.p95_ns),
                        fact('max_ns', 'the longest', figures.max_ns),
                        fact('rollout_ns', 'all rollouts', figures.rollout_ns),
                        fact('tail_ns', 'of that their tails', figures.tail_ns),
                        fact('busy_ns', 'GPU busy meanwhile', figures.busy_ns),
                      ])] :
                  []),
  ]);
}

const keyOf = (host: string, pid: number): string => `${pid} ${host}`;

// Roles of a process, "rollout and train" of one that has them in turn, by keyOf().
function rolesByProcess(roles: Roles): Map<string, string> {
  const names = new Map<string, string>();
  for (const {role, processes} of roles.roles) {
    for (const {host, pid} of processes) {
      const known = names.get(keyOf(host, pid));
      names.set(keyOf(host, pid), known ? `${known} and ${role}` : role);
    }
  }
  return names;
}

// Over all time of the processes. Of a wait for any of several the roles of all of these.
export function roleWaits(report: Report, roles: Roles): {role: string; awaited: string;
                                                          ns: number}[] {
  const names = rolesByProcess(roles);
  const sums = new Map < string, {
    role: string;
    awaited: string;
    ns: number
  }
  > ();
  for (const {host, pid, waits} of report.processes) {
    const role = names.get(keyOf(host, pid));
    if (role === undefined) continue;
    for (const wait of waits) {
      const all = wait.pids.map((other) => names.get(keyOf(host, other)) ?? 'processes of no role');
      const awaited = [...new Set(all)].sort().join(' or ');
      const sum = sums.get(`${role}\n${awaited}`) ?? {role, awaited, ns: 0};
      sum.ns += wait.ns;
      sums.set(`${role}\n${awaited}`, sum);
    }
  }
  return [...sums.values()].filter(({ns}) => ns > 0).sort((a, b) => b.ns - a.ns);
}

function waited(report: Report, roles: Roles): HTMLElement[] {
  const rows = roleWaits(report, roles);
  if (rows.length === 0) return [];
  const result = table(
      'Time that roles waited for others', ['role', 'waited for', '', 'time'],
      rows.map(({role, awaited, ns}) => rowOf(`${role} ${awaited}`, [
                 nameCell(role),
                 element('td', {text: awaited}),
                 barCell('c-waiting', share(ns, rows[0].ns)),
                 timeCell(ns, 'ns'),
               ])));
  result.classList.add('role-waits');
  return [part('Time that roles waited for others', [
    result,
    element('p', {
      class: 'note',
      text: 'Time of primary threads, summed over the processes of a role and all their time.',
    }),
  ])];
}

const MOST_ROWS = 40;

function processTable(report: Report, roles: Roles, said: string|undefined): HTMLElement {
  const all: [string, RoleProcess][] = roles.roles.flatMap(
      ({role, processes}) => processes.map((row): [string, RoleProcess] => [role, row]));
  const nameOf = (host: string, pid: number): string => {
    const named = report.processes.find((process) => process.pid === pid && process.host === host);
    return named ? processName(report, named) : `process (${pid})`;
  };
  const result = table(
      'Processes by role', ['process', 'role', 'said by', 'in that role', 'active', 'share'],
      all.slice(0, MOST_ROWS)
          .map(([role, row]) => rowOf(`${role} ${row.pid}`, [
                 nameCell(nameOf(row.host, row.pid)),
                 element('td', {text: role}),
                 element('td', {text: row.inferred ? 'inferred from operations' : 'the program'}),
                 timeCell(row.ns, 'ns'),
                 timeCell(row.active_ns, 'active_ns'),
                 shareCell(share(row.active_ns, row.ns)),
               ])));
  result.classList.add('role-processes');
  const more = all.length - MOST_ROWS;
  return part('Processes by role', [
    ...(said ? [element('p', {class: 'said', text: said})] : []),
    result,
    ...(more > 0 ?
            [element('p', {class: 'note', text: `and ${more} more: gpubound report --json`})] :
            []),
  ]);
}

export function rolesSection(data: PageData, roles: Roles, palette: Palette): HTMLElement[] {
  const {report, training: words} = data;
  const window =
      report.run.headline === 'iterations' ? 'in the iterations after warm-up' : 'in the whole run';
  return [
    element('p', {
      class: 'note',
      text: `What processes with a role did ${window}, ${formatTime(roles.ns)}.`,
    }),
    bound(roles, words.bound ?? ''),
    heldTime(roles, words.bubbles ?? '', palette),
    overlap(roles, words.overlap ?? ''),
    ...waited(report, roles),
    ...(words.tail ? [tail(roles, words.tail)] : []),
    processTable(report, roles, words.inferred),
  ];
}
