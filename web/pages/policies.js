// SPDX-License-Identifier: Apache-2.0
// What is in force, and where it comes from.

import { h, put } from '../dom.js';
import { get } from '../api.js';
import { grid, problem, section, settingValue } from '../parts.js';

const columns = [
  { name: 'Setting', cell: (r) => [h('code', {}, r.key), r.about ? h('small', { class: 'reason' }, r.about) : null] },
  { name: 'Value', cell: settingValue },
  { name: 'From', cell: (r) => r.source },
];

export function policiesPage(root) {
  const box = h('div', { class: 'page' }, h('p', { class: 'quiet' }, 'Loading …'));
  put(root, h('h1', {}, 'Policies and settings'), box);
  const load = async () => {
    try {
      const [policies, settings] = await Promise.all([get('/policies'), get('/settings')]);
      put(box, h('p', { class: 'quiet' }, 'A narrower scope wins. Settings are changed in the configuration file, in table properties, or in Polaris.'),
        policies.items.length ? policies.items.map((p) => h('section', { class: 'card' }, h('h2', {}, h('code', {}, p.scope), h('small', {}, ` from ${p.source}`)),
          grid({ even: true, caption: `Settings of ${p.scope}`, columns, rows: p.settings, empty: 'No setting of its own.' }))) : section('Policies', h('p', { class: 'quiet' }, 'Only the defaults are in force.')),
        section('Settings of the service', grid({ even: true, caption: 'Settings of the service', columns, rows: settings.items, empty: 'Only the defaults are in force.' })));
    } catch (error) {
      put(box, problem(error));
    }
  };
  return { title: 'Policies and settings', ready: load(), refresh: load, hears: () => false };
}
