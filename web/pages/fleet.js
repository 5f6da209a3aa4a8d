// SPDX-License-Identifier: Apache-2.0
// All tables, worst first; how the fleet got here.

import { h, put, calm } from '../dom.js';
import { get } from '../api.js';
import { funnel, lineChart } from '../chart.js';
import { badge, figures, grid, meter, pagedList, problem, scoreTone, section, tableLink } from '../parts.js';
import { ago, brief, bytes, count, entropy, files, percent, plural, score, seconds } from '../text.js';

const SORTS = [['worst', 'worst first'], ['removable_files', 'most removable files'], ['entropy', 'highest entropy'], ['files', 'most files'],
  ['bytes', 'largest'], ['last_commit', 'latest commit'], ['name', 'name']];
const STATES = [['', 'any state'], ['ok', 'ok'], ['paused', 'paused'], ['failing', 'failing'], ['unreadable', 'unreadable'], ['dropped', 'dropped']];

const columns = [
  { name: 'Table', cell: (t) => [tableLink(t.id), t.state_reason && t.state !== 'ok' ? h('small', { class: 'reason' }, t.state_reason) : null] },
  { name: 'State', cell: (t) => badge(t.state, t.state_reason) },
  { name: 'Health', cell: (t) => meter(t.score / 100, score(t.score), scoreTone(t.score)) },
  { name: 'Files', number: true, cell: (t) => count(t.files) },
  { name: 'Removable', number: true, cell: (t) => count(t.removable_files) },
  { name: 'Entropy', number: true, cell: (t) => entropy(t.entropy) },
  { name: 'Size', number: true, cell: (t) => bytes(t.bytes) },
  { name: 'Noisy partitions', number: true, cell: (t) => `${count(t.noisy_partitions)} of ${count(t.partitions)}` },
  { name: 'Last commit', number: true, cell: (t) => ago(t.last_commit_ms) },
];

const option = (list, chosen) => list.map(([value, text]) => h('option', { value, selected: value === chosen }, text));

function overview(fleet) {
  const trend = (key) => fleet.trends.map((p) => ({ ms: p.ms, value: p[key] }));
  return [
    figures([
      { label: 'Tables', value: count(fleet.tables), note: fleet.tables_not_ok ? `${count(fleet.tables_not_ok)} not ok` : 'all ok' },
      { label: 'Files', value: brief(fleet.files), note: bytes(fleet.bytes) },
      { label: 'Removable files', value: brief(fleet.removable_files), note: fleet.files ? `${percent(fleet.removable_files / fleet.files)} of all` : null },
      { label: 'Entropy', value: entropy(fleet.entropy), note: '0 is even, 1 is all tiny' },
      { label: 'Queue', value: count(fleet.queue_length), note: plural(fleet.jobs_running, 'job') + ' running' },
      { label: 'Seen within', value: seconds(fleet.staleness_bound_ms / 1000), note: `${plural(fleet.snapshots_found_by_sweep_only, 'snapshot')} came without an event` },
    ]),
    h('div', { class: 'columns three' },
      section(null, lineChart({ title: 'Files', points: trend('files'), format: brief, width: 420 })),
      section(null, lineChart({ title: 'Entropy', points: trend('entropy'), format: entropy, width: 420 })),
      section(null, h('h2', { class: 'small' }, 'From commits to replaced files'), funnel([
        { label: 'partitions changed', value: fleet.partitions_changed, text: brief(fleet.partitions_changed) },
        { label: 'of those noisy', value: fleet.partitions_noisy, text: brief(fleet.partitions_noisy) },
        { label: 'scanned', value: fleet.partition_scans, text: brief(fleet.partition_scans) },
        { label: 'merges', value: fleet.merges, text: brief(fleet.merges) },
      ]), h('p', { class: 'quiet small' }, `${brief(fleet.commits_seen)} commits; ${files(fleet.files_replaced)} replaced, ${bytes(fleet.bytes_rewritten)} rewritten; ${brief(fleet.events)} events, ${count(fleet.events_dropped)} dropped`))),
  ];
}

export function fleetPage(root, { query }) {
  const top = h('div', {}, h('p', { class: 'quiet' }, 'Loading …'));
  const search = h('input', { type: 'search', id: 'search', placeholder: 'Find a table', 'aria-label': 'Find a table', value: query.get('search') ?? '', autocomplete: 'off', spellcheck: 'false' });
  const sort = h('select', { 'aria-label': 'Order' }, option(SORTS, query.get('sort') ?? 'worst'));
  const state = h('select', { 'aria-label': 'State' }, option(STATES, query.get('state') ?? ''));
  const list = pagedList({
    path: '/tables',
    parameters: () => ({ search: search.value.trim(), sort: sort.value, state: state.value }),
    draw: (rows) => grid({
      caption: 'Tables', columns, rows,
      empty: search.value || state.value ? 'No table matches.' : 'No table is known yet: the first sweep over the catalogs finds them.',
    }),
  });
  const changed = () => {
    const given = [['search', search.value.trim()], ['sort', sort.value === 'worst' ? '' : sort.value], ['state', state.value]].filter(([, v]) => v);
    history.replaceState(null, '', `#/${given.length ? `?${new URLSearchParams(given)}` : ''}`);
    list.reset();
  };
  search.addEventListener('input', calm(changed, 150, 600));
  sort.addEventListener('change', changed);
  state.addEventListener('change', changed);
  put(root, h('h1', {}, 'Fleet'), top,
    h('section', { class: 'card' }, h('div', { class: 'head' }, h('h2', {}, 'Tables'), h('div', { class: 'filters', role: 'search' }, search, state, sort)), list.root));

  const summary = async () => {
    try {
      put(top, overview(await get('/fleet')));
    } catch (error) {
      put(top, problem(error));
    }
  };
  return {
    title: 'Fleet',
    ready: Promise.all([summary(), list.reset()]),
    refresh: () => Promise.all([summary(), list.refresh()]),
    hears: () => true,
  };
}
