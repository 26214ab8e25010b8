// SPDX-License-Identifier: Apache-2.0
//
// What to type in a shell.
import {Saving} from './data';

// As a shell takes it.
const quoted = (word: string): string =>
    /^[\w.,:=/+-]+$/.test(word) ? word : `'${word.replace(/'/g, '\'\\\'\'')}'`;

export function whatIfCommand(run: string, {part, name, factor}: Saving): string {
  const scaled = part === 'gpu' ? 'device' : `${part.replace('_', '-')}=${name}`;
  return `gpubound whatif ${quoted(run || 'RUN')} --scale ${quoted(`${scaled}:${factor}`)}`;
}

// An option of the report, as advice names it. Beside the text report it stands alone.
const OPTION = /--(?:by [a-z]+(?:,[a-z]+)*|full)(?![\w-])/g;

// |advice| with whole commands, between backticks as everywhere.
export const withCommands = (advice: string, run: string): string =>
    advice.replace(OPTION, (option) => `\`gpubound report ${quoted(run || 'RUN')} ${option}\``);
