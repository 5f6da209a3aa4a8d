// SPDX-License-Identifier: Apache-2.0
// Pieces that several pages show.

import { h, put, redraw } from './dom.js';
import { get } from './api.js';
import { bytes, count } from './text.js';

/** A name that breaks between its parts rather than inside a word. */
export const broken = (name) => name.split(/(?<=[./_=])/).flatMap((part, i) => (i ? [h('wbr', {}), part] : [part]));
export const tableLink = (id) => h('a', { href: `#/tables/${encodeURIComponent(id)}`, class: 'name' }, broken(id));

const STATE_MARKS = {
  ok: '✓', paused: '❚❚', failing: '!', unreadable: '✕', dropped: '✕', running: '▸', done: '✓', failed: '!', waiting: '…',
  cancelled: '✕', lost: '?', queued: '…', refused: '✕',
};
const STATE_TONES = {
  ok: 'good', done: 'good', running: 'busy', waiting: 'calm', queued: 'calm', paused: 'warn', failing: 'bad', unreadable: 'bad',
  dropped: 'calm', failed: 'bad', cancelled: 'calm', lost: 'bad', refused: 'warn',
};

/** A state as a word with a sign: never by colour alone. */
export const badge = (state, reason) => h('span', { class: `badge ${STATE_TONES[state] ?? 'calm'}`, title: reason || undefined },
  h('span', { 'aria-hidden': 'true' }, STATE_MARKS[state] ?? '•'), state);

/** 0 to 1 as a bar with its figure. */
export const meter = (part, text, tone) => h('span', { class: `meter ${tone ?? ''}` },
  h('span', { class: 'bar', vars: { '--part': `${Math.max(0, Math.min(100, part * 100))}%` } }), h('span', {}, text));

export const scoreTone = (score) => (score === null ? '' : score < 50 ? 'bad' : score < 80 ? 'warn' : 'good');

/** Figures in a row: [{label, value, note}]. */
export const figures = (items) => h('dl', { class: 'figures' }, items.map((item) => h('div', {},
  h('dt', {}, item.label), h('dd', {}, item.value, item.note ? h('small', {}, item.note) : null))));

export const section = (title, ...children) => h('section', { class: 'card' }, title ? h('h2', {}, title) : null, children);

/** A table that turns into cards on narrow screens. `columns`: [{name, number, cell(row)}]. */
export function grid({ caption, columns, rows, empty, even }) {
  if (!rows.length) return h('p', { class: 'quiet empty' }, empty);
  return h('div', { class: 'grid-box' }, h('table', { class: even ? 'grid even' : 'grid' },
    h('caption', { class: 'sr' }, caption),
    h('thead', {}, h('tr', {}, columns.map((c) => h('th', { scope: 'col', class: c.number ? 'number' : c.wide ? 'wide' : undefined }, c.name)))),
    h('tbody', {}, rows.map((row) => h('tr', {}, columns.map((c, i) => {
      const cell = h(i === 0 ? 'th' : 'td', { scope: i === 0 ? 'row' : undefined, class: c.number ? 'number' : c.wide ? 'wide' : undefined, 'data-label': c.name }, c.cell(row));
      if (['', '–'].includes(cell.textContent)) cell.classList.add('none');
      return cell;
    }))))));
}

/** What went wrong, in words, and what may be done. */
export function problem(error) {
  const advice = error.status === 0 ? 'It is tried again by itself.'
    : error.status === 404 ? 'It may have been dropped or renamed.'
      : error.status === 403 ? 'This service only lets read from here: set a token to allow more.' : '';
  const sentence = error.message.charAt(0).toUpperCase() + error.message.slice(1);
  return h('p', { class: 'note bad', role: 'alert' }, /[.!?]$/.test(sentence) ? sentence : `${sentence}.`, ' ', advice);
}

/**
 * A list that loads page after page and keeps its length when it is loaded again.
 * `draw(items)` makes the content.
 */
export function pagedList({ path, parameters, draw, size = matchMedia('(max-width: 700px)').matches ? 20 : 50 }) {
  const box = h('div', {});
  const more = h('button', { type: 'button', class: 'more', hidden: true }, 'Show more');
  const root = h('div', { class: 'list' }, box, more);
  let items = [];
  let next = null;
  let asked = 0;
  let shown = '';

  async function load(after, limit) {
    const mine = ++asked;
    try {
      const page = await get(path, { ...parameters(), limit, after });
      if (mine !== asked) return;
      items = after ? items.concat(page.items) : page.items;
      next = page.next;
      more.hidden = !next;
      const text = JSON.stringify(items);
      if (text === shown) return;
      shown = text;
      redraw(box, draw(items));
    } catch (error) {
      if (mine !== asked) return;
      shown = '';
      put(box, problem(error));
      more.hidden = true;
    }
  }
  more.addEventListener('click', async () => {
    const before = items.length;
    await load(next, size);
    // The keyboard goes on where the new rows begin.
    box.querySelectorAll('tbody tr, ol > li')[before]?.querySelector('a, button, summary')?.focus();
  });
  return {
    root,
    reset: () => load('', size),
    refresh: () => load('', Math.min(500, Math.max(size, items.length))),
  };
}

/** A setting's value: sizes as people read them, the exact number as its title. */
export function settingValue(row) {
  const size = row.key.endsWith('bytes') && /^\d+$/.test(row.value);
  return h('code', { title: size ? `${count(Number(row.value))} bytes` : undefined }, size ? bytes(Number(row.value)) : row.value);
}

let noticeTimer = 0;
/** A sentence that goes away by itself, also read out. */
export function notice(text, tone = 'good') {
  const box = document.getElementById('notice');
  put(box, h('p', { class: `note ${tone}` }, text));
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => put(box), 6000);
}
