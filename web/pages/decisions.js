// SPDX-License-Identifier: Apache-2.0
// What was decided, newest first, with the reason; more on demand.

import { h, put, calm } from '../dom.js';
import { pagedList, section, tableLink } from '../parts.js';
import { ago, bytes, count, seconds } from '../text.js';

const KINDS = [['', 'all kinds'], ['nothing-to-do', 'nothing to do'], ['not-now', 'not now'], ['scan', 'scan'], ['run', 'run'], ['done', 'done'], ['failed', 'failed'], ['refused', 'refused'], ['cancelled', 'cancelled']];
const plain = (value) => (typeof value === 'number' ? (Number.isInteger(value) ? count(value) : value.toPrecision(3)) : String(value));

function effect(name, e) {
  if (!e) return null;
  const parts = [['files_removed', (v) => `${count(v)} files less`], ['delete_files_removed', (v) => `${count(v)} delete files rewritten`],
    ['delete_reads_saved', (v) => `${count(v)} opens of delete files less a read`], ['bytes', (v) => `${bytes(v)} rewritten`],
    ['seconds', seconds], ['reads_saved', (v) => `${count(v)} file reads saved`]].filter(([key]) => e[key]).map(([key, show]) => show(e[key]));
  return [h('dt', {}, name), h('dd', {}, parts.join(', '))];
}

function more(d) {
  const inputs = Object.entries(d.inputs ?? {});
  const others = d.alternatives ?? [];
  return h('dl', { class: 'facts' },
    inputs.length ? [h('dt', {}, 'looked at'), h('dd', {}, inputs.map(([k, v]) => `${k.replaceAll('_', ' ')} ${plain(v)}`).join(' · '))] : null,
    others.length ? [h('dt', {}, 'instead of'), h('dd', {}, h('ul', {}, others.map((o) => h('li', {}, `${o.text} (${plain(o.value)})${o.why_not ? `: ${o.why_not}` : ''}`))))] : null,
    effect('predicted', d.prediction), effect('measured', d.outcome),
    d.not_before_ms ? [h('dt', {}, 'not before'), h('dd', {}, ago(d.not_before_ms))] : null,
    d.action ? [h('dt', {}, 'action'), h('dd', {}, d.action, d.shadow ? ' (shadow: decided, not done)' : '')] : null,
    d.plan_id ? [h('dt', {}, 'plan'), h('dd', {}, h('code', {}, d.plan_id))] : null,
    h('dt', {}, 'record'), h('dd', {}, h('code', {}, d.id)));
}

/** Items with a summary line; opened ones stay open when the list is drawn again. */
export function decisionList(rows, { showTable }) {
  if (!rows.length) return h('p', { class: 'quiet empty' }, 'Nothing was decided yet.');
  const open = new Set([...document.querySelectorAll('details[data-decision][open]')].map((d) => d.dataset.decision));
  return h('ol', { class: 'decisions' }, rows.map((d) => h('li', {}, h('details', { 'data-decision': d.id, open: open.has(d.id) },
    h('summary', {}, h('span', { class: `kind kind-${d.kind}` }, d.kind.replaceAll('-', ' ')), h('span', { class: 'why' },
      showTable ? h('b', {}, d.table, ' ') : null, d.partition ? h('code', {}, d.partition) : null, ' ', d.reason ?? ''), ago(d.at_ms)),
    more(d), showTable ? h('p', {}, tableLink(d.table)) : null))));
}

export function decisionsPage(root, { query }) {
  const table = h('input', { type: 'search', id: 'search', placeholder: 'catalog/ns.table', 'aria-label': 'Table', value: query.get('table') ?? '', autocomplete: 'off', spellcheck: 'false' });
  const kind = h('select', { 'aria-label': 'Kind' }, KINDS.map(([value, text]) => h('option', { value }, text)));
  const list = pagedList({ path: '/decisions', parameters: () => ({ table: table.value.trim(), kind: kind.value }), draw: (rows) => decisionList(rows, { showTable: true }) });
  table.addEventListener('input', calm(list.reset, 250, 1000));
  kind.addEventListener('change', list.reset);
  put(root, h('h1', {}, 'Decisions'), section(null, h('div', { class: 'head' }, h('p', { class: 'quiet' }, 'Newest first, also where nothing was done.'), h('div', { class: 'filters' }, table, kind)), list.root));
  return { title: 'Decisions', ready: list.reset(), refresh: list.refresh, hears: (event) => event === 'decision' };
}
