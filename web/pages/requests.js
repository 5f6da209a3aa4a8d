// SPDX-License-Identifier: Apache-2.0
// Asking for work, and what became of it.

import { h, put, calm } from '../dom.js';
import { get, post } from '../api.js';
import { badge, grid, notice, pagedList, section, tableLink } from '../parts.js';
import { ago } from '../text.js';

const ACTIONS = [['merge', 'merge small files'], ['fold', 'fold deletes into data'], ['rewrite-deletes', 'rewrite delete files'], ['analyze', 'find out which settings would pay'], ['scan', 'only look again']];

const columns = [
  { name: 'Asked for', cell: (r) => [tableLink(r.table), h('small', { class: 'reason' }, `${r.action} · ${r.id}`)] },
  { name: 'State', cell: (r) => badge(r.state, r.reason) },
  { name: 'When', number: true, cell: (r) => ago(r.created_ms) },
  { name: 'Priority', number: true, cell: (r) => r.priority },
  { name: 'Deadline', number: true, cell: (r) => (r.deadline_ms ? ago(r.deadline_ms) : '–') },
  { name: 'Note', wide: true, cell: (r) => r.reason || (r.job ? `job ${r.job}` : '') },
];

const field = (label, input, about) => h('label', { class: 'field' }, h('span', {}, label), input, about ? h('small', {}, about) : null);

function form(table, added) {
  const names = h('datalist', { id: 'table-names' });
  const name = h('input', { name: 'table', required: true, list: 'table-names', value: table, placeholder: 'catalog/ns.table', autocomplete: 'off', spellcheck: 'false' });
  const action = h('select', { name: 'action' }, ACTIONS.map(([value, text]) => h('option', { value }, text)));
  const priority = h('input', { name: 'priority', type: 'number', min: '0.01', max: '100', step: 'any', value: '1' });
  const deadline = h('input', { name: 'deadline', type: 'datetime-local' });
  const partitions = h('textarea', { name: 'partitions', rows: '2', placeholder: 'day=2026-01-01/region=eu', spellcheck: 'false' });
  const send = h('button', { type: 'submit', class: 'button strong' }, 'Send the request');
  const fault = h('div', {});
  name.addEventListener('input', calm(async () => {
    const page = await get('/tables', { search: name.value.trim(), sort: 'name', limit: 10 }).catch(() => ({ items: [] }));
    put(names, page.items.map((t) => h('option', { value: t.id })));
  }, 200, 800));
  const root = h('form', { class: 'form', novalidate: false }, field('Table', name), field('What', action),
    field('Priority', priority, 'Against other requests; 1 is usual.'), field('Done by', deadline, 'Optional.'),
    field('Partitions', partitions, 'One a line; none means all.'), fault, send, names);
  root.addEventListener('submit', async (event) => {
    event.preventDefault();
    put(fault);
    send.disabled = true;
    const lines = partitions.value.split('\n').map((line) => line.trim()).filter(Boolean);
    try {
      const made = await post('/requests', {
        table: name.value.trim(), action: action.value, priority: Number(priority.value),
        ...(deadline.value ? { deadline_ms: new Date(deadline.value).getTime() } : {}), ...(lines.length ? { partitions: lines } : {}),
      });
      notice(`Request ${made.id} was taken.`);
      added();
    } catch (error) {
      put(fault, h('p', { class: 'note bad', role: 'alert' }, error.message));
    }
    send.disabled = false;
  });
  return root;
}

export function requestsPage(root, { query }) {
  const list = pagedList({
    path: '/requests', parameters: () => ({}),
    draw: (rows) => grid({ caption: 'Requests', columns, rows, empty: 'Nobody has asked for anything yet.' }),
  });
  put(root, h('h1', {}, 'Requests'), section('Ask for work', form(query.get('table') ?? '', list.reset)), section('Requests so far', list.root));
  return { title: 'Requests', ready: list.reset(), refresh: list.refresh, hears: (kind) => kind === 'queue' || kind === 'job' };
}
