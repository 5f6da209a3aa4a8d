// SPDX-License-Identifier: Apache-2.0
// Small charts as SVG: drawn once for a width, no library. Each says in words what it shows.

import { h, s } from './dom.js';
import { tick } from './text.js';

/** Steps of 1, 2, 2.5 or 5 that cover 0 to `most` in at most `steps`. */
function niceMax(most, steps) {
  const rough = Math.max(most, 1e-9) / steps;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((f) => f * power).find((v) => v >= rough);
  return { step, max: Math.ceil(most / step - 1e-9) * step || step };
}

/** A line over time. `points`: [{ms, value}], oldest first. */
export function lineChart({ title, points, format, width = 520, height = 150 }) {
  if (points.length < 2) return h('figure', { class: 'chart' }, h('figcaption', {}, title), h('p', { class: 'quiet' }, 'Too few points yet.'));
  const left = 46, right = 8, top = 8, bottom = 20;
  const from = points[0].ms, to = points.at(-1).ms;
  const { step, max } = niceMax(Math.max(...points.map((p) => p.value)), 3);
  const x = (ms) => left + ((ms - from) / Math.max(1, to - from)) * (width - left - right);
  const y = (value) => height - bottom - (value / max) * (height - top - bottom);
  const grid = [];
  for (let value = 0; value <= max + step / 2; value += step) {
    grid.push(s('line', { x1: left, x2: width - right, y1: y(value), y2: y(value), class: 'grid' }),
      s('text', { x: left - 6, y: y(value) + 4, 'text-anchor': 'end' }, format(value)));
  }
  const path = points.map((p, i) => `${i ? 'L' : 'M'}${x(p.ms).toFixed(1)} ${y(p.value).toFixed(1)}`).join('');
  const ticks = [0, 0.5, 1].map((part) => s('text', {
    x: left + part * (width - left - right), y: height - 5, 'text-anchor': part === 0 ? 'start' : part === 1 ? 'end' : 'middle',
  }, tick(from + part * (to - from), to - from)));
  const dot = s('circle', { r: 3.5, class: 'dot', visibility: 'hidden' });
  const read = h('span', { class: 'reading' }, `${format(points.at(-1).value)} now`);
  const first = format(points[0].value), last = format(points.at(-1).value);
  const svg = s('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${title}: from ${first} to ${last}` },
    grid, s('path', { d: `${path}L${x(to)} ${y(0)}L${x(from)} ${y(0)}Z`, class: 'area' }), s('path', { d: path, class: 'line' }), ticks, dot);
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect();
    const ms = from + (((event.clientX - box.left) / box.width) * width - left) / (width - left - right) * (to - from);
    const near = points.reduce((a, b) => (Math.abs(b.ms - ms) < Math.abs(a.ms - ms) ? b : a));
    dot.setAttribute('cx', x(near.ms));
    dot.setAttribute('cy', y(near.value));
    dot.setAttribute('visibility', 'visible');
    read.textContent = `${format(near.value)} at ${tick(near.ms, to - from)}`;
  });
  svg.addEventListener('pointerleave', () => {
    dot.setAttribute('visibility', 'hidden');
    read.textContent = `${last} now`;
  });
  return h('figure', { class: 'chart' }, h('figcaption', {}, title, read), svg);
}

/** Two bars a class. `bars`: [{label, before, now}]. */
export function pairChart({ title, bars, names, format, width = 640, height = 210 }) {
  const left = 46, right = 4, top = 8, bottom = 40;
  const { step, max } = niceMax(Math.max(1, ...bars.flatMap((b) => [b.before, b.now])), 4);
  const slot = (width - left - right) / bars.length;
  const y = (value) => height - bottom - (value / max) * (height - top - bottom);
  const parts = [];
  for (let value = 0; value <= max + step / 2; value += step) {
    parts.push(s('line', { x1: left, x2: width - right, y1: y(value), y2: y(value), class: 'grid' }),
      s('text', { x: left - 6, y: y(value) + 4, 'text-anchor': 'end' }, format(value)));
  }
  bars.forEach((bar, i) => {
    const at = left + i * slot;
    const each = Math.max(3, slot * 0.36);
    ['before', 'now'].forEach((which, k) => {
      const value = bar[which];
      parts.push(s('rect', {
        x: at + slot * 0.12 + k * (each + 1), width: each, y: y(value), height: Math.max(0, y(0) - y(value)), rx: 1.5, class: which,
      }, s('title', {}, `${bar.label}: ${format(value)} ${names[which]}`)));
    });
    // Every second label where they would run into each other.
    if (slot >= 48 || i % 2 === 0) parts.push(s('text', { x: at + slot / 2, y: height - 24, 'text-anchor': 'middle' }, bar.label));
  });
  parts.push(s('text', { x: left + (width - left - right) / 2, y: height - 5, 'text-anchor': 'middle' }, 'file size in bytes'));
  const legend = h('span', { class: 'legend' }, h('i', { class: 'key before' }), names.before, h('i', { class: 'key now' }), names.now);
  return h('figure', { class: 'chart' }, h('figcaption', {}, title, legend),
    s('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${title}; the figures are in the table below` }, parts));
}

/** Bars that get shorter: each is a part of the one before. `rows`: [{label, value, text}]. */
export function funnel(rows) {
  const most = Math.max(1, ...rows.map((row) => row.value));
  return h('ol', { class: 'funnel' }, rows.map((row) => h('li', {},
    h('span', { class: 'label' }, row.label),
    h('span', { class: 'bar', vars: { '--part': `${Math.max(0.4, (100 * row.value) / most)}%` } }),
    h('b', {}, row.text))));
}

/** Promised beside measured. */
export function promiseBars(rows) {
  return h('table', { class: 'promise' },
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'what'), h('th', { scope: 'col' }, 'predicted'), h('th', { scope: 'col' }, 'measured'), h('th', { scope: 'col' }, 'measured / predicted'))),
    h('tbody', {}, rows.map((row) => {
      const ratio = row.predicted > 0 && row.measured !== null ? row.measured / row.predicted : null;
      return h('tr', {}, h('th', { scope: 'row' }, row.label), h('td', {}, row.format(row.predicted)),
        h('td', {}, row.measured === null ? '–' : row.format(row.measured)),
        h('td', {}, ratio === null ? '–' : h('span', { class: 'ratio' },
          h('span', { class: 'bar', vars: { '--part': `${Math.min(100, ratio * 50)}%` } }), `${ratio.toFixed(2)} ×`)));
    })));
}
