// SPDX-License-Identifier: Apache-2.0
// One table: its partitions, its files' sizes, what was decided about it and why, what that brought.

import { h, put, redraw } from '../dom.js';
import { get, post, tablePath } from '../api.js';
import { lineChart, pairChart, promiseBars } from '../chart.js';
import { badge, figures, grid, notice, pagedList, problem, section, settingValue } from '../parts.js';
import { decisionList } from './decisions.js';
import { heatMap } from '../heat.js';
import { analysisBox } from '../analysis.js';
import { ago, brief, bytes, count, entropy, plural, score, seconds } from '../text.js';

/** "64K", "1M", "1G": edges are powers of two. */
function edgeText(edge) {
  const [size, unit] = [[2 ** 30, 'G'], [2 ** 20, 'M'], [2 ** 10, 'K'], [1, '']].find(([least]) => edge >= least) ?? [1, ''];
  return `${Math.round(edge / size)}${unit}`;
}

function bars(histogram) {
  const edges = histogram.edges.map(edgeText);
  return histogram.now.map((now, i) => ({
    label: i < edges.length ? `≤ ${edges[i]}` : `> ${edges.at(-1) ?? 0}`, now, before: histogram.before[i] ?? 0,
  }));
}

function sizes(histogram) {
  if (!histogram.now.length) return h('p', { class: 'quiet' }, 'No file sizes are known yet: the table has not been scanned.');
  const rows = bars(histogram);
  return [pairChart({ title: 'Data files by size', bars: rows, names: { before: 'at first sight', now: 'now' }, format: count }),
    h('details', {}, h('summary', {}, 'As a table'), grid({
      caption: 'Data files by size', rows, empty: '',
      columns: [{ name: 'file size', cell: (r) => r.label }, { name: 'at first sight', number: true, cell: (r) => count(r.before) }, { name: 'now', number: true, cell: (r) => count(r.now) }],
    }))];
}

function savings(table) {
  const s = table.savings;
  if (!s.jobs) return h('p', { class: 'quiet' }, 'No job has finished on this table yet.');
  return [figures([
    { label: 'Jobs', value: count(s.jobs) }, { label: 'Files removed', value: brief(s.files) },
    { label: 'Delete file opens saved', value: brief(s.delete_reads_saved), note: 'by each read of the table' },
    { label: 'Rewritten', value: bytes(s.bytes_rewritten) }, { label: 'File reads saved', value: s.reads_saved ? brief(s.reads_saved) : '–', note: s.reads_saved ? 'by scan reports' : 'no scan reports' },
  ]), promiseBars([{ label: 'worker time', predicted: s.predicted_seconds, measured: s.measured_seconds, format: seconds }])];
}

function actions(table, reload) {
  const paused = table.state === 'paused';
  const toggle = h('button', { type: 'button', class: 'button' }, paused ? 'Resume this table' : 'Pause this table');
  toggle.addEventListener('click', async () => {
    toggle.disabled = true;
    try {
      await post(`${tablePath(table.id)}/${paused ? 'resume' : 'pause'}`);
      notice(paused ? `${table.id} is looked after again.` : `Nothing new is started on ${table.id}.`);
      await reload();
    } catch (error) {
      notice(error.message, 'bad');
      toggle.disabled = false;
    }
  });
  return h('div', { class: 'actions' }, toggle, h('a', { class: 'button', href: `#/requests?table=${encodeURIComponent(table.id)}` }, 'Request work'));
}

function headline(table) {
  return [
    table.state !== 'ok' ? h('p', { class: `note ${table.state === 'paused' || table.state === 'dropped' ? 'warn' : 'bad'}` }, table.state_reason || `The table is ${table.state}.`) : null,
    table.breaker.state !== 'closed' ? h('p', { class: 'note warn' }, `The circuit breaker is ${table.breaker.state} after ${plural(table.breaker.failures, 'failure')}: ${table.breaker.reason}. Tried again `, ago(table.breaker.until_ms), '.') : null,
    figures([
      { label: 'Health', value: score(table.score), note: 'of 100' },
      { label: 'Files', value: brief(table.files), note: bytes(table.bytes) },
      { label: 'Removable', value: brief(table.removable_files), note: `${brief(table.small_files)} small` },
      { label: 'Entropy', value: entropy(table.entropy) },
      { label: 'Delete files', value: brief(table.delete_files) },
      { label: 'Partitions', value: brief(table.partitions), note: `${count(table.noisy_partitions)} noisy` },
    ]),
  ];
}

function facts(table) {
  const row = (name, value) => [h('dt', {}, name), h('dd', {}, value)];
  return h('dl', { class: 'facts' }, row('uuid', h('code', {}, table.uuid || '–')), row('format version', table.format_version || '–'),
    row('snapshot', h('code', {}, table.last_snapshot_id ?? '–')), row('last commit', ago(table.last_commit_ms)), row('last looked at', ago(table.last_looked_ms)),
    row('priority', table.priority));
}

const jobColumns = [
  { name: 'Started', cell: (j) => ago(j.started_ms ?? j.created_ms) }, { name: 'Action', cell: (j) => j.action }, { name: 'State', cell: (j) => badge(j.state, j.error) },
  { name: 'Took', number: true, cell: (j) => seconds(j.measured?.seconds ?? null) },
  { name: 'Files less', number: true, cell: (j) => (j.measured ? count(j.measured.files_removed) : '–') },
  { name: 'Note', wide: true, cell: (j) => j.error || '' },
];

export function tablePage(root, { part: id }) {
  const top = h('div', {}, h('p', { class: 'quiet' }, 'Loading …'));
  const heat = h('div', {}), analysis = h('div', { id: 'analysis' });
  const decisions = pagedList({ path: `${tablePath(id)}/decisions`, parameters: () => ({}), size: 10, draw: (rows) => decisionList(rows, { showTable: false }) });
  const jobs = pagedList({
    path: '/jobs', parameters: () => ({ table: id }), size: 5,
    draw: (rows) => grid({ caption: 'Jobs of the table', columns: jobColumns, rows, empty: 'No job has run on this table yet.' }),
  });
  let analysed; // what is shown: drawing it again would close what was opened
  const left = h('div', {}), right = h('div', {});
  put(root, h('p', { class: 'crumb' }, h('a', { href: '#/' }, 'Fleet')), h('div', { class: 'head' }, h('h1', { class: 'name' }, id), h('span', { id: 'actions' })), top,
    section('Partitions', heat), h('div', { class: 'columns two' }, left, right), section('Analysis', analysis), section('Decisions', decisions.root), section('Jobs', jobs.root));
  const map = heatMap(heat);

  async function load() {
    try {
      const table = await get(tablePath(id));
      redraw(root.querySelector('#actions'), actions(table, load));
      put(top, headline(table));
      if (table.analysed_ms !== analysed) put(analysis, analysisBox(table.analysed_ms ? await get(`${tablePath(id)}/analysis`) : null));
      analysed = table.analysed_ms;
      put(left, section('File sizes', sizes(table.histogram)), section('Savings, predicted and measured', savings(table)), section('About', facts(table)));
      put(right, section(null, lineChart({ title: 'Files', points: table.trends.map((p) => ({ ms: p.ms, value: p.files })), format: brief }),
        lineChart({ title: 'Entropy', points: table.trends.map((p) => ({ ms: p.ms, value: p.entropy })), format: entropy })),
      section('Settings in force', grid({
        caption: 'Settings', rows: table.settings, empty: 'All settings are the defaults.',
        columns: [{ name: 'Setting', cell: (r) => [h('code', {}, r.key), r.about ? h('small', { class: 'reason' }, r.about) : null] }, { name: 'Value', cell: settingValue }, { name: 'From', cell: (r) => r.source }],
      })));
    } catch (error) {
      put(top, problem(error));
    }
    try {
      map(await get(`${tablePath(id)}/partitions`, { limit: 500 }));
    } catch (error) {
      put(heat, problem(error));
    }
  }
  return {
    title: id,
    ready: Promise.all([load(), decisions.reset(), jobs.reset()]),
    refresh: () => Promise.all([load(), decisions.refresh(), jobs.refresh()]),
    hears: (kind, data) => kind === 'lost' || kind === 'hello' || data.table === id,
  };
}
