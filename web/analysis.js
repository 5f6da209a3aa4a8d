// SPDX-License-Identifier: Apache-2.0
// What an analysis recommends for a table, and what it stands on.

import { h } from './dom.js';
import { figures, grid } from './parts.js';
import { ago, bytes, count, seconds } from './text.js';

const WORDS = {
  leave: 'Leave it as it is', merge: 'Merge', 'change-target': 'Change the target file size',
  'change-target-and-merge': 'Change the target file size and merge',
};

const answer = (yes, words) => (yes ? words[0] : words[1]);

function advice(found) {
  const { merge, file_size: size, sort } = found.advice;
  const rows = [['Merging', answer(merge.advised, ['yes', 'no']), merge.reason], ['File size', answer(size.change, ['change', 'keep']), size.reason],
    ['Sorting', answer(sort.advised, ['yes', 'no']), sort.reason]];
  return grid({
    caption: 'Recommendation', rows, empty: '',
    columns: [{ name: 'Question', cell: (r) => r[0] }, { name: 'Answer', cell: (r) => r[1] }, { name: 'Why', wide: true, cell: (r) => r[2] }],
  });
}

function candidates(found) {
  return grid({
    caption: 'Target file sizes', rows: found.candidates ?? [], empty: 'No size was compared.',
    columns: [
      { name: 'Target', cell: (c) => `${bytes(c.target_size_bytes)}${c.is_current ? ' (now)' : ''}` },
      { name: 'Files after', number: true, cell: (c) => count(c.files_after) }, { name: 'Rewrites', number: true, cell: (c) => bytes(c.bytes_rewritten) },
      { name: 'Takes', number: true, cell: (c) => seconds(c.merge_seconds) }, { name: 'Read of two columns', number: true, cell: (c) => seconds(c.lasting_read.two_seconds) },
      { name: 'Rewritten a byte', number: true, cell: (c) => c.rewrites_per_byte.toFixed(1) },
    ],
  });
}

/** `row`: of /tables/{id}/analysis, or null. */
export function analysisBox(row) {
  if (!row) return h('p', { class: 'quiet' }, 'It was never analysed: “Request work” with “analyze” does it once, the setting analyze.every-days now and then.');
  const found = row.analysis;
  const list = (title, lines) => h('details', {}, h('summary', {}, title), h('ul', {}, (lines ?? []).map((line) => h('li', {}, line))));
  return [
    figures([
      { label: 'Recommendation', value: WORDS[row.word] ?? row.word, note: ago(row.made_ms) },
      { label: 'Proposed file size', value: row.proposed_target_bytes ? bytes(row.proposed_target_bytes) : '–', note: row.proposed_target_bytes ? 'in force where analyze.apply is true' : 'nothing to apply' },
    ]),
    advice(found), candidates(found), list('What it stands on', found.inputs), list('Assumptions', found.assumptions),
  ];
}
