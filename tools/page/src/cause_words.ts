// SPDX-License-Identifier: Apache-2.0
//
// Causes of idle GPU time in the words of the text report (analysis/diagnosis/cause_rules.h,
// CauseText), for a comparison, whose data has their names alone.
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

export const causeText = (cause: string): string => CAUSES[cause] ?? cause;
