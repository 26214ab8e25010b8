// SPDX-License-Identifier: Apache-2.0
//
// Puts the report together: the figures first, the timeline when they have been painted.
import {breakdown, Grouping, GROUPINGS} from './breakdown';
import {collectives} from './collectives';
import {corrected} from './corrected';
import {counters} from './counters';
import {cpuTime} from './cpu_time';
import {criticalPath} from './critical_path';
import {NO_OPERATION, PageData} from './data';
import {button, element, part, section} from './dom';
import {facts, ledger} from './facts';
import {header} from './header';
import {heatMap} from './heat_map';
import {causes, gaps} from './idle';
import {iterations} from './iterations';
import {kernels} from './kernels';
import {lanes} from './lanes';
import {processName} from './names';
import {outlierGroups} from './outliers';
import {Palette} from './palette';
import {devices, processTree} from './processes';
import {rolesSection} from './roles';
import {scopeCalls} from './scope_calls';
import {stacks} from './stacks';
import {readState, writeState} from './state';
import {summary} from './summary';
import {restoreTheme} from './theme';
import {filled, thinNote} from './thin';
import {Timeline} from './timeline/view';
import {trainingSection} from './training';
import {transitions} from './transitions';
import {waits} from './waits';
import {whatIf} from './what_if';

// A section's title is what the navigation calls it.
const SECTIONS: Record<string, string> = {
  headline: 'Summary',
  timeline: 'Timeline',
  breakdown: 'Operations',
  iterations: 'Iterations',
  training: 'Training',
  roles: 'Roles',
  kernels: 'Kernels',
  idle: 'GPU idle',
  whatif: 'What if',
  path: 'Critical path',
  processes: 'Processes',
  collectives: 'Collectives',
  quality: 'Data quality',
  run: 'Run',
};

const titled = (id: keyof typeof SECTIONS, children: HTMLElement[]): HTMLElement =>
    section(id, SECTIONS[id], children);

function paletteOf(data: PageData): Palette {
  const walls = new Map<string, number>();
  for (const process of data.report.processes) {
    for (const row of process.operations) {
      if (row.operation !== NO_OPERATION)
        walls.set(row.operation, (walls.get(row.operation) ?? 0) + row.wall_ns);
    }
  }
  const operations = [...walls].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const {names, comm_names: comm, copy_names: copies, wait_names: waits} = data.timeline;
  const classes = new Map([
    ...comm.map((i): [string, string] => [names[i], 'comm']),
    ...copies.map((i): [string, string] => [names[i], 'copy']),
  ]);
  return new Palette(
      operations, classes, data.report.device_kind === 'imported',
      new Set(waits.map((i) => names[i])));
}

class Page {
  private process: number;
  private grouping: Grouping;
  private timeline: Timeline|null = null;
  private readonly palette: Palette;
  private readonly holders = new Map<string, HTMLElement>();
  private readonly asked = readState();  // of who made the address

  private readonly data: PageData;

  constructor(given: PageData) {
    const data = this.data = filled(given);
    const {process, by} = this.asked;
    const isKnown = process !== undefined && process < data.report.processes.length;
    this.process = isKnown ? process : data.summary.told_process ?? 0;
    this.grouping = GROUPINGS.find((grouping) => grouping === by) ?? 'operation';
    this.palette = paletteOf(data);
  }

  private readonly show = (begin: number, end: number): void => this.timeline?.show(begin, end);

  build(): void {
    document.title = `gpubound: ${this.data.run.name}`;
    const main = document.getElementById('main') as HTMLElement;
    main.append(summary(this.data, this.palette));
    if (this.data.report.processes.length > 0) {
      main.append(...this.sections());
      this.fill();
    }
    const there = Object.entries(SECTIONS).filter(([id]) => document.getElementById(id));
    document.getElementById('top')?.append(
        ...header(this.data, there, () => this.timeline?.redraw()));
    requestAnimationFrame(() => setTimeout(() => this.addTimeline(), 0));
  }

  // What another reader would have to choose to see the same.
  private keep(): void {
    const seen = this.timeline?.seen;
    writeState({
      process: this.process === (this.data.summary.told_process ?? 0) ? undefined : this.process,
      by: this.grouping === 'operation' ? undefined : this.grouping,
      begin: seen ? Math.round(seen.begin) : undefined,
      end: seen ? Math.round(seen.end) : undefined,
    });
  }

  private holder(name: string): HTMLElement {
    const node = element('div');
    this.holders.set(name, node);
    return node;
  }

  private sections(): HTMLElement[] {
    const {data} = this;
    return [
      titled('timeline', [this.holder('timeline')]),
      titled(
          'breakdown',
          [
            this.choices(), this.holder('breakdown'), this.holder('calls'), this.holder('stacks'),
            this.holder('cpu'), this.holder('lanes'),
            element(
                'details', {},
                [
                  element('summary', {text: 'Transitions between layers'}),
                  this.holder('transitions'),
                ])
          ]),
      titled('iterations', [this.holder('iterations')]),
      ...this.trainingSections(),
      titled('kernels', [this.holder('kernels'), this.holder('counters')]),
      titled(
          'idle',
          [
            this.holder('causes'), this.holder('waits'), element('h3', {text: 'The longest gaps'}),
            this.holder('gaps')
          ]),
      ...this.runSections(),
      titled('quality', [ledger(data), this.holder('corrected')]),
      titled('run', [facts(data)]),
    ];
  }

  // What the program said of the training, and of the jobs of its processes.
  private trainingSections(): HTMLElement[] {
    const {data, palette} = this;
    const training = trainingSection(data, palette);
    const roles = data.report.run.training?.roles;
    return [
      ...(training.length > 0 ? [titled('training', training)] : []),
      ...(roles ? [titled('roles', rolesSection(data, roles, palette))] : []),
    ];
  }

  // What only some runs have, about all of their processes.
  private runSections(): HTMLElement[] {
    const {run, ranks, distribution} = this.data.report;
    const nodes: HTMLElement[] = [];
    const asked = whatIf(this.data);
    if (asked.length > 0) nodes.push(titled('whatif', asked));
    if (run.critical_path)
      nodes.push(titled('path', criticalPath(run.critical_path, this.data, this.palette)));
    nodes.push(titled('processes', this.processParts()));
    if (ranks.length > 0) {
      const [apart, each] = [outlierGroups(distribution.outlier_groups), collectives(ranks)];
      nodes.push(titled(
          'collectives',
          apart.length > 0 ? [...apart, part('Waiting in collectives', each)] : each));
    }
    return nodes;
  }

  private processParts(): HTMLElement[] {
    const {data} = this;
    const tree = processTree(data, (index) => this.choose(index));
    const map = heatMap(data, (index) => this.choose(index), this.show);
    return [...(map ? [map] : []), tree, part('Devices', devices(data.report))];
  }

  private choices(): HTMLElement {
    const bar =
        element('div', {class: 'tools', attributes: {role: 'toolbar', 'aria-label': 'Breakdown'}});
    if (this.data.report.processes.length > 1) {
      const choice = element(
          'select', {id: 'process', attributes: {'aria-label': 'Process'}},
          this.data.report.processes.map(
              (process) => element('option', {text: processName(this.data.report, process)})));
      choice.selectedIndex = this.process;
      choice.addEventListener('change', () => this.choose(choice.selectedIndex));
      bar.append(choice);
    }
    const groups = GROUPINGS.map((grouping) => {
      const node = button(`by ${grouping}`, () => {
        this.grouping = grouping;
        groups.forEach((other) => other.setAttribute('aria-pressed', String(other === node)));
        this.fill();
        this.keep();
      });
      node.setAttribute('aria-pressed', String(grouping === this.grouping));
      return node;
    });
    bar.append(...groups);
    return bar;
  }

  private choose(index: number): void {
    this.process = index;
    const choice = document.getElementById('process') as HTMLSelectElement | null;
    if (choice) choice.selectedIndex = index;
    this.fill();
    this.keep();
    document.getElementById('breakdown')?.scrollIntoView();
  }

  private fill(): void {
    const {data} = this;
    const report = data.report.processes[this.process];
    const page = data.processes[this.process];
    const put = (name: string, node: HTMLElement): void =>
        this.holders.get(name)?.replaceChildren(node);
    put('breakdown',
        element('div', {}, [thinNote(data, this.process), breakdown(report, this.grouping)]));
    put('iterations', iterations(report, page, this.palette, this.show));
    put('causes', causes(data, this.process, this.palette));
    put('gaps', gaps(data.report, this.process, page, this.show));
    put('transitions', transitions(report));
    put('kernels', kernels(page));
    // What only some processes have comes with its title.
    const add = (name: string, title: string, nodes: HTMLElement[]): void =>
        put(name, nodes.length > 0 ? part(title, nodes) : element('div'));
    add('waits', 'For whom it waited', waits(report, page));
    add('stacks', 'Python functions', stacks(page));
    add('cpu', 'Where the CPU was', cpuTime(report));
    add('counters', 'Hardware counters', counters(report));
    add('corrected', 'Without the profiler', corrected(report, page));
    put('lanes', element('div', {}, lanes(report)));
    this.fillCalls();
  }

  // Reads every event of a thread, so not before the figures have been painted.
  private fillCalls(): void {
    if (!this.timeline) return;
    const nodes = scopeCalls(this.data, this.process);
    this.holders.get('calls')?.replaceChildren(
        nodes.length > 0 ? part('Functions and operators', nodes) : element('div'));
  }

  private addTimeline(): void {
    const holder = this.holders.get('timeline');
    if (holder) {
      const timeline = new Timeline(this.data, this.palette, () => this.keep());
      holder.append(timeline.node);
      this.timeline = timeline;
      this.fillCalls();
      const {begin, end} = this.asked;
      if (begin !== undefined && end !== undefined && begin < end) timeline.see({begin, end});
    }
    document.documentElement.dataset.ready = 'true';
  }
}

export function showReport(data: PageData): void {
  restoreTheme();
  new Page(data).build();
}
