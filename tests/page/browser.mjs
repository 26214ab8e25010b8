// SPDX-License-Identifier: Apache-2.0
//
// A headless Chromium for tests of the page, which notes everything that a page must not do. Needs
// the Debian package chromium, or the browser that GPUBOUND_CHROMIUM names.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, afterEach, before} from 'node:test';
import {fileURLToPath} from 'node:url';

const {GPUBOUND_CHROMIUM, GPUBOUND_PAGE_MODULES} = process.env;
const require = createRequire(join(GPUBOUND_PAGE_MODULES, 'package.json'));
const puppeteer = require('puppeteer-core');

export async function launch() {
  const executablePath = GPUBOUND_CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(executablePath)) {
    throw new Error(
        `no Chromium at ${executablePath}; install Debian's chromium or set GPUBOUND_CHROMIUM`);
  }
  // Without a sandbox, since tests run as root; what is opened is ours.
  return (puppeteer.default ?? puppeteer)
      .launch({executablePath, args: ['--no-sandbox', '--disable-gpu']});
}

// What a module of the page's sources exports, for tests of what needs no browser.
export async function moduleOf(name) {
  const source = fileURLToPath(new URL(`../../tools/page/src/${name}.ts`, import.meta.url));
  const {outputFiles: [{text}]} = require('esbuild').buildSync(
      {entryPoints: [source], bundle: true, format: 'esm', write: false});
  return import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`);
}

// Opens |file|. |page.sins| gathers messages of the console, errors, and requests beyond the file.
export async function open(browser, file, {width = 1280, height = 900, scheme = 'light'} = {}) {
  const page = await browser.newPage();
  page.sins = [];
  page.on('console', (message) => page.sins.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => page.sins.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => page.sins.push(`dialog: ${dialog.message()}`));
  page.on('request', (request) => {
    if (request.url().replace(/#.*/, '') !== `file://${file}`)
      page.sins.push(`request: ${request.url()}`);
  });
  await page.setViewport({width, height});
  await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}]);
  await page.goto(`file://${file}`);
  await page.waitForSelector('html[data-ready]');
  await settle(page);
  return page;
}

// Closes |page|, which has done nothing that it must not.
export async function closeHarmless(page) {
  assert.deepEqual(page.sins, []);
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  await page.close();
}

// That of `surround`, while tests run.
export let browser;

// What is around the tests of a file: a folder with what the fixture writes, whose path is
// returned, a browser, and no page left open after a test, none of which did any harm.
export function surround(name) {
  const folder = mkdtempSync(join(tmpdir(), `gpubound-${name}-`));
  before(async () => {
    execFileSync(process.env.GPUBOUND_FIXTURE_PAGE, [folder]);
    browser = await launch();
  });
  afterEach(async () => {
    for (const page of await browser.pages()) {
      if (page.sins) await closeHarmless(page);
    }
  });
  after(async () => {
    await browser?.close();
    rmSync(folder, {recursive: true});
  });
  return folder;
}

// Until what was asked for has been painted.
export const settle = (page) => page.evaluate(
    () => new Promise(
        (done) =>
            requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));

export const text = (page, selector) => page.$eval(selector, (node) => node.textContent);

// The rows of a table below |selector|: name of the row, and the exact figures by key.
export const rows = (page, selector) => page.$$eval(
    `${selector} tbody tr`,
    (nodes) => nodes.map((node) => ({
                           row: node.dataset.row,
                           shown: node.textContent,
                           figures: Object.fromEntries([...node.querySelectorAll('[data-ns]')].map(
                               (cell) => [cell.dataset.key, Number(cell.dataset.ns)])),
                           texts: Object.fromEntries([...node.querySelectorAll('[data-ns]')].map(
                               (cell) => [cell.dataset.key, cell.textContent])),
                           widths: [...node.querySelectorAll('.bar span')].map(
                               (piece) => parseFloat(piece.style.width)),
                           count: Number(node.querySelector('[data-count]')?.dataset.count),
                         })));

// For JSON.parse: names as the page shows them, what could steer the text around it spelled out.
export const spelledOut = (_, value) =>
    typeof value === 'string' ? value.replaceAll('\u202e', '\\xe2\\x80\\xae') : value;

// A time as the page prints it, in ns.
export function parseTime(shown) {
  const [number, unit] = shown.split(' ');
  return Number(number) * {undefined: 1, ns: 1, us: 1e3, ms: 1e6, s: 1e9}[unit];
}
