// SPDX-License-Identifier: Apache-2.0
// Work that runs and has run, promised beside measured.

import { h, put } from '../dom.js';
import { badge, grid, meter, pagedList, section, tableLink } from '../parts.js';
import { ago, bytes, count, percent, seconds } from '../text.js';

const STATES = [['', 'any state'], ['running', 'running'], ['waiting', 'waiting'], ['done', 'done'], ['failed', 'failed'], ['cancelled', 'cancelled'], ['lost', 'lost']];
const both = (show, predicted, measured) => [h('b', {}, measured === undefined || measured === null ? '–' : show(measured)), h('small', { class: 'reason' }, `predicted ${show(predicted)}`)];

const columns = [
  { name: 'Work', cell: (j) => [tableLink(j.table), h('small', { class: 'reason' }, `${j.action} · ${j.id}`)] },
  { name: 'State', cell: (j) => [badge(j.state, j.error), j.state === 'running' ? meter(j.progress, percent(j.progress), 'busy') : null] },
  { name: 'Started', number: true, cell: (j) => ago(j.started_ms, 'not yet') },
  { name: 'Time', number: true, cell: (j) => both(seconds, j.predicted.seconds, j.measured?.seconds) },
  { name: 'Files less', number: true, cell: (j) => both(count, j.predicted.files_removed, j.measured?.files_removed) },
  { name: 'Rewritten', number: true, cell: (j) => both(bytes, j.predicted.bytes, j.measured?.bytes) },
  { name: 'Note', wide: true, cell: (j) => (j.error ? h('span', { class: 'fault' }, j.error) : j.partitions.length > 2 ? `${j.partitions[0]} and ${j.partitions.length - 1} more partitions` : j.partitions.join(', ')) },
];

export function jobsPage(root, { query }) {
  const state = h('select', { 'aria-label': 'State' }, STATES.map(([value, text]) => h('option', { value, selected: value === query.get('state') }, text)));
  const list = pagedList({
    path: '/jobs', parameters: () => ({ state: state.value }),
    draw: (rows) => grid({ caption: 'Jobs', columns, rows, empty: state.value ? 'No job is in this state.' : 'No job has run yet.' }),
  });
  state.addEventListener('change', list.reset);
  put(root, h('h1', {}, 'Jobs'), section(null, h('div', { class: 'head' }, h('p', { class: 'quiet' }, 'Newest first.'), h('div', { class: 'filters' }, state)), list.root));
  return { title: 'Jobs', ready: list.reset(), refresh: list.refresh, hears: (kind) => kind === 'job' };
}
