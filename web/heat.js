// SPDX-License-Identifier: Apache-2.0
// Partitions as a field of cells, worst first. One cell is in the tab order; arrows move among them.

import { h, put, redraw } from './dom.js';
import { ago, bytes, count, entropy, files } from './text.js';

const MEASURES = {
  noise: { text: 'noise since the last scan', steps: [0.25, 0.5, 1, 2], of: (p) => p.noise, show: (p) => p.noise.toFixed(2) },
  entropy: { text: 'entropy', steps: [0.1, 0.3, 0.5, 0.75], of: (p) => p.entropy, show: (p) => entropy(p.entropy) },
  removable: { text: 'removable files', steps: [1, 8, 24, 64], of: (p) => p.removable_files, show: (p) => count(p.removable_files) },
};

const nameOf = (p) => p.text || 'the whole table';

function details(p) {
  const row = (name, value) => [h('dt', {}, name), h('dd', {}, value)];
  return h('dl', { class: 'facts' }, row('partition', h('code', {}, nameOf(p))), row('files', `${files(p.files)}, ${bytes(p.bytes)}`),
    row('small', count(p.small_files)), row('removable', count(p.removable_files)), row('delete files', count(p.delete_files)),
    row('entropy', entropy(p.entropy)), row('noise', p.noise.toFixed(2)), row('last change', ago(p.last_change_ms)), row('last scan', ago(p.last_scan_ms)),
    row('verdict', `${p.verdict}: ${p.reason}`));
}

/** Returns a function that shows a page of partitions in `root`; what was chosen stays chosen. */
export function heatMap(root) {
  let measure = 'noise';
  let chosen = null;
  let page = { items: [], next: null };

  function draw() {
    if (!page.items.length) return put(root, h('p', { class: 'quiet' }, 'No partition is known yet: the table has not been scanned.'));
    const way = MEASURES[measure];
    const level = (p) => way.steps.filter((step) => way.of(p) >= step).length;
    const select = h('select', { 'aria-label': 'Colour by' }, Object.entries(MEASURES).map(([key, m]) => h('option', { value: key, selected: key === measure }, m.text)));
    select.addEventListener('change', () => { measure = select.value; draw(); root.querySelector('select').focus(); });
    const box = h('div', { class: 'quiet', 'aria-live': 'polite' }, 'Choose a partition to see its figures.');
    const cells = page.items.map((p, i) => h('button', {
      type: 'button', class: `cell heat-${level(p)}`, tabindex: i === 0 ? '0' : '-1', title: `${nameOf(p)}: ${way.text} ${way.show(p)}`,
      'aria-label': `${nameOf(p)}: ${way.text} ${way.show(p)}`, 'aria-pressed': String(p.text === chosen), 'data-index': i,
    }));
    const field = h('div', { class: 'heat', role: 'group', 'aria-label': `Partitions by ${way.text}; arrow keys move` }, cells);
    const choose = (i) => {
      chosen = page.items[i].text;
      cells.forEach((cell, k) => cell.setAttribute('aria-pressed', String(k === i)));
      put(box, details(page.items[i]));
    };
    field.addEventListener('click', (event) => { if (event.target.dataset.index) choose(Number(event.target.dataset.index)); });
    field.addEventListener('keydown', (event) => {
      const at = cells.indexOf(document.activeElement);
      if (at < 0) return;
      const across = Math.max(1, cells.findIndex((cell) => cell.offsetTop > cells[0].offsetTop));
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + across, ArrowUp: at - across, Home: 0, End: cells.length - 1 }[event.key];
      if (to === undefined || !cells[to]) return;
      event.preventDefault();
      cells[at].tabIndex = -1;
      cells[to].tabIndex = 0;
      cells[to].focus();
    });
    const legend = h('span', { class: 'legend' }, 'less', [0, 1, 2, 3, 4].map((n) => h('i', { class: `key heat-${n}` })), 'more');
    redraw(root, h('div', { class: 'head' }, h('p', { class: 'quiet' }, page.next ? `The ${count(page.items.length)} noisiest.` : `${count(page.items.length)} in all, noisiest first.`), h('div', { class: 'filters' }, legend, select)), field, box);
    const held = cells.indexOf(document.activeElement);
    if (held > 0) {
      cells[0].tabIndex = -1;
      cells[held].tabIndex = 0;
    }
    const again = page.items.findIndex((p) => p.text === chosen);
    if (again >= 0) choose(again);
  }
  return (loaded) => {
    if (JSON.stringify(loaded) === JSON.stringify(page) && page.items.length) return;
    page = loaded;
    draw();
  };
}
