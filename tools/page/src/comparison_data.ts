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
}

export interface ComparedFigure {
  figure: string;
  name: string;  // of an operation or cause; empty for figures of the run
  unit: 'ns'|'share';
  groups: ComparedValue[];
}

export interface ComparisonData {
  format: 'gpubound.compare.v1';
  per_iteration: boolean;
  seed: number;
  replicates: number;
  groups: {
    name: string; runs: string[]; resampled: 'runs' | 'iterations' | 'nothing'; simulated: boolean
  }[];
  figures: ComparedFigure[];
  notes: string[];
}
