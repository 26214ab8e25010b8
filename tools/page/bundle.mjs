// SPDX-License-Identifier: Apache-2.0
//
// node bundle.mjs SOURCE OUTPUT: bundles src/ into one HTML file whose only hole is the data. The
// file's policy allows this script and this style by their hashes and nothing else: no network, no
// image, no other script, whatever a name in the data says.
import {build} from 'esbuild';
import {createHash} from 'node:crypto';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';

const [source, output] = process.argv.slice(2);

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(source, 'src', entry)],
    bundle: true,
    minify: true,
    charset: 'ascii',
    format: 'iife',
    target: 'es2021',
    legalComments: 'none',
    write: false,
  });
  return result.outputFiles[0].text.trim().replaceAll('</', '<\\/');
}

const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const script = await bundle('main.ts');
const style = await bundle('style.css');
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; ` +
    `base-uri 'none'; form-action 'none'`;
const page = readFileSync(join(source, 'src', 'page.html'), 'utf8')
                 .replace('@POLICY@', () => policy)
                 .replace('@STYLE@', () => style)
                 .replace('@SCRIPT@', () => script);
mkdirSync(dirname(output), {recursive: true});
writeFileSync(output, page);
