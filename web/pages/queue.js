// SPDX-License-Identifier: Apache-2.0
// What waits, in the order in which it would start, and why.

import { h, put } from '../dom.js';
import { grid, pagedList, section, tableLink } from '../parts.js';
import { ago, brief, bytes, plural, seconds } from '../text.js';

const columns = [
  { name: 'Work', cell: (q) => [h('span', { class: 'place' }, q.position), tableLink(q.table), h('small', { class: 'reason' }, `${q.action}, ${q.partitions.length ? plural(q.partitions.length, 'partition') : 'whole table'}`)] },
  { name: 'Why here', wide: true, cell: (q) => q.why_here },
  { name: 'Score', number: true, cell: (q) => q.score.toPrecision(3) },
  { name: 'Benefit', number: true, cell: (q) => brief(q.benefit) },
  { name: 'Cost', number: true, cell: (q) => [seconds(q.predicted_seconds), h('small', { class: 'reason' }, bytes(q.predicted_bytes))] },
  { name: 'Because of', cell: (q) => q.cause },
  { name: 'Waits since', number: true, cell: (q) => ago(q.created_ms) },
  { name: 'Not before', number: true, cell: (q) => (q.not_before_ms ? ago(q.not_before_ms) : '–') },
  { name: 'Deadline', number: true, cell: (q) => (q.deadline_ms ? ago(q.deadline_ms) : '–') },
];

export function queuePage(root) {
  const list = pagedList({
    path: '/queue', parameters: () => ({}),
    draw: (rows) => grid({ caption: 'Queue', columns, rows, empty: 'Nothing waits: no table has work that is worth its cost.' }),
  });
  put(root, h('h1', {}, 'Queue'), section(null, h('p', { class: 'quiet' }, 'Ordered by score: benefit against cost, times priority, growing with age and a near deadline.'), list.root));
  return { title: 'Queue', ready: list.reset(), refresh: list.refresh, hears: (kind) => kind === 'queue' || kind === 'job' };
}
