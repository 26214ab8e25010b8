// SPDX-License-Identifier: Apache-2.0
//
// The timeline as it is printed: every line with its name and a picture of its own, so that neither
// the width of the paper nor a page's end can part them.
import {select} from 'd3-selection';

import {element} from '../dom';

import {paintAxis} from './axis';
import {Stretch} from './draw';
import {Rows} from './rows';
import {Overlay, Scene} from './scene';

// What A4 and Letter leave of a line beside the names. Where it is not exact, pictures become a
// little wider or narrower, not higher.
export const PAPER_WIDTH = 562;
const SHARPNESS = 3;  // pixels of a picture in one of the page

export class Paper {
  readonly node = element('div', {class: 'tl-paper', attributes: {'aria-hidden': 'true'}});

  // |scene| of |rows| as it is now.
  draw(scene: Scene, rows: Rows, visible: Stretch, overlay: Overlay): void {
    const axis = select(document.createElementNS('http://www.w3.org/2000/svg', 'svg'));
    axis.attr('class', 'axis');
    paintAxis(axis, visible, PAPER_WIDTH);
    const top = element('div', {class: 'tl-line'}, [element('div'), axis.node()]);
    const lines = rows.rows.map((row) => {
      const canvas = element('canvas');
      canvas.width = PAPER_WIDTH * SHARPNESS;
      canvas.height = row.height * SHARPNESS;
      canvas.style.height = `${row.height}px`;
      const context = canvas.getContext('2d');
      context?.scale(SHARPNESS, SHARPNESS);
      if (context) scene.draw(context, PAPER_WIDTH, row.height, rows, row.top, visible, overlay);
      const css = row.kind === 'head' ? 'tl-head' : 'tl-label';
      return element(
          'div', {class: 'tl-line'},
          [element('div', {class: css, text: rows.nameOf(row)}), canvas]);
    });
    this.node.replaceChildren(top, ...lines);
  }

  clear(): void {
    this.node.replaceChildren();
  }
}
