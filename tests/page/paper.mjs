// SPDX-License-Identifier: Apache-2.0
//
// What a PDF shows: its words with their places, and its pixels, as poppler sees them (Debian's
// package poppler-utils). Places are in points, from the top left.
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';

const DPI = 72;  // a pixel is a point

function parsePpm(bytes) {
  const [head] = bytes.subarray(0, 64).toString('latin1').match(/^P6\s+\d+\s+\d+\s+255\s/);
  const [, width, height] = head.match(/(\d+)\s+(\d+)\s+255/).map(Number);
  const data = bytes.subarray(head.length);
  return {
    width,
    height,
    at: (x, y) => {
      const i = 3 * (Math.round(y) * width + Math.round(x));
      return [data[i], data[i + 1], data[i + 2]];
    },
  };
}

const unescaped = (text) => text.replaceAll('&lt;', '<')
                                .replaceAll('&gt;', '>')
                                .replaceAll('&quot;', '"')
                                .replaceAll('&amp;', '&');

// The pages of the PDF at |path|.
export function pagesOf(path) {
  const options = {encoding: 'utf8', maxBuffer: 1 << 28};
  const layout = execFileSync('pdftotext', ['-bbox', path, '-'], options);
  return layout.split('<page ').slice(1).map((text, index) => {
    const number = String(index + 1);
    const prefix = `${path}.${number}`;
    execFileSync(
        'pdftoppm', ['-r', String(DPI), '-f', number, '-l', number, '-singlefile', path, prefix]);
    const words = [...text.matchAll(
        /<word xMin="(.*?)" yMin="(.*?)" xMax="(.*?)" yMax="(.*?)">(.*?)<\/word>/g)];
    return {
      ...parsePpm(readFileSync(`${prefix}.ppm`)),
      words: words.map(([, left, top, right, bottom, word]) => ({
                         left: Number(left),
                         top: Number(top),
                         right: Number(right),
                         bottom: Number(bottom),
                         word: unescaped(word),
                       })),
    };
  });
}

export const luminanceOf = ([red, green, blue]) => 0.21 * red + 0.72 * green + 0.07 * blue;

// Where the words |text| stand one after the other: their page and the box around them.
export function findWords(pages, text) {
  const wanted = text.split(' ');
  for (const page of pages) {
    for (let i = 0; i + wanted.length <= page.words.length; ++i) {
      const found = page.words.slice(i, i + wanted.length);
      if (found.some((word, k) => word.word !== wanted[k])) continue;
      const {left, top, bottom} = found[0];
      return {page, left, top, right: found.at(-1).right, bottom};
    }
  }
  return null;
}

// The lowest row of |page| that is not blank.
export function lowestInk(page) {
  for (let y = page.height - 1; y > 0; --y) {
    for (let x = 0; x < page.width; x += 2) {
      if (luminanceOf(page.at(x, y)) < 230) return y;
    }
  }
  return 0;
}
