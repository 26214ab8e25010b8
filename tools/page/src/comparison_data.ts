// SPDX-License-Identifier: Apache-2.0
//
// The shape of a comparison page's data: gpubound.compare.v1.

// A group's value and how it differs from the first group's.
export interface ComparedValue {
  value: number|null;  // null: a run of the group has no such figure
  difference: number;  // 0 where there is nothing to tell it from
  low: number|null;
  high: number|null;
  is_upper_bound: boolean;
  is_lower_bound: boolean;
  significant: boolean;
  verdict: 'better'|'worse'|'differs'|null;  // null: not significant
}

// How fast a group is beside the first.
export interface ComparedSpeed {
  finding: string;
  reason: string;  // empty: nothing made the difference
  ratio: number;
  low: number|null;
  high: number|null;
  significant: boolean;
  difference_ns: number;
  operation: string;
  operation_ns: number;
  cause: string;
  cause_ns: number;
}

export interface ComparedFigure {
  figure: string;
  name: string;  // of an operation or cause; empty for figures of the run
  unit: 'ns'|'share'|'per_second';
  groups: ComparedValue[];
}

export interface ComparisonData {
  format: 'gpubound.compare.v1';
  per_iteration: boolean;
  counter: string|null;    // of the work that times are for; null: of an iteration or a run
  work_unit: number|null;  // of how much of it
  seed: number;
  replicates: number;
  groups: {
    name: string; runs: string[]; resampled: 'runs' | 'iterations' | 'nothing'; simulated: boolean;
    speed: ComparedSpeed | null  // null of the first
  }[];
  figures: ComparedFigure[];
  notes: string[];
}
