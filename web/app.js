// SPDX-License-Identifier: Apache-2.0
// The frame: which page is shown, whether the service is heard, pause and resume, signing in.

import { $, calm, h, put } from './dom.js';
import { get, listen, post, setToken } from './api.js';
import { notice } from './parts.js';
import { refreshTimes } from './text.js';
import { fleetPage } from './pages/fleet.js';
import { tablePage } from './pages/table.js';
import { queuePage } from './pages/queue.js';
import { jobsPage } from './pages/jobs.js';
import { decisionsPage } from './pages/decisions.js';
import { requestsPage } from './pages/requests.js';
import { policiesPage } from './pages/policies.js';

const PAGES = [['', 'Fleet', fleetPage], ['queue', 'Queue', queuePage], ['jobs', 'Jobs', jobsPage], ['decisions', 'Decisions', decisionsPage],
  ['requests', 'Requests', requestsPage], ['policies', 'Policies', policiesPage]];
const main = $('#main');
let page = null;
let open = null;
let drawn = '';

function place() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  const [name, part] = path.split('/');
  return { name: name ?? '', part: part ? decodeURIComponent(part) : '', query: new URLSearchParams(query ?? '') };
}

function show(focus) {
  const at = place();
  const entry = PAGES.find(([name]) => name === at.name);
  const build = at.name === 'tables' && at.part ? tablePage : entry?.[2];
  const here = at.name === 'tables' ? '' : at.name;
  put($('#nav'), PAGES.map(([name, text]) => h('li', {}, h('a', { href: `#/${name}`, 'aria-current': name === here ? 'page' : undefined }, text))));
  $('#nav [aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' });
  if (!build) {
    put(main, h('h1', {}, 'Nothing here'), h('p', {}, 'There is no such page. ', h('a', { href: '#/' }, 'Back to the fleet')));
    page = null;
    document.title = 'firn';
    return;
  }
  const root = h('div', { class: 'page' });
  put(main, root);
  page = build(root, at);
  document.title = `${page.title} · firn`;
  page.ready.then(() => performance.mark('firn-ready'));
  scrollTo(0, 0);
  if (focus) main.focus({ preventScroll: true });
}

function signIn() {
  const input = h('input', { type: 'password', autocomplete: 'off', required: true, 'aria-label': 'Token' });
  const form = h('form', { class: 'card form narrow' }, h('h1', {}, 'Sign in'), h('p', { class: 'quiet' }, 'This service asks for its token (firn.serve.token). It is kept in this tab only.'), input,
    h('button', { type: 'submit', class: 'button strong' }, 'Sign in'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    setToken(input.value.trim());
    start();
  });
  put(main, form);
  page = null;
  input.focus();
}

async function service() {
  const box = $('#service');
  let fleet;
  try {
    fleet = await get('/fleet');
  } catch (error) {
    if (error.status === 401) return false;
    drawn = '';
    put(box, h('span', { class: 'live off' }, error.status ? 'in trouble' : 'no answer'));
    put($('#banner'), h('p', { class: 'note bad' }, error.status ? 'The service answers, and cannot read its state. What is shown may be old.' : 'The service is not heard. What is shown may be old.'));
    return true;
  }
  const state = [fleet.paused, fleet.shadow, open].join();
  if (state === drawn) return true;
  drawn = state;
  const toggle = h('button', { type: 'button', class: 'button' }, fleet.paused ? 'Resume all' : 'Pause all');
  toggle.addEventListener('click', async () => {
    toggle.disabled = true;
    try {
      await post(fleet.paused ? '/resume' : '/pause');
      notice(fleet.paused ? 'Work is started again.' : 'Nothing new is started. Running jobs end.');
    } catch (error) {
      notice(error.message, 'bad');
    }
    drawn = '';
    await service();
    $('#service button')?.focus();
  });
  put(box, h('span', { class: `live ${open ? 'on' : 'off'}` }, open === null ? 'connecting' : open ? 'live' : 'not live'), toggle);
  put($('#banner'), fleet.paused ? h('p', { class: 'note warn' }, 'Everything is paused: commits are seen, nothing new is started.') : null,
    fleet.shadow ? h('p', { class: 'note' }, 'Shadow mode: it decides and explains, and changes no table.') : null,
    open === false ? h('p', { class: 'note bad' }, 'The service is not heard. What is shown may be old.') : null);
  return true;
}

const refreshPage = calm(() => page?.refresh(), 400, 2000);
const refreshService = calm(service, 400, 2000);

async function start() {
  show(false);
  if (!(await service())) return signIn();
  dispatchEvent(new Event('firn-token'));
}

addEventListener('hashchange', () => show(true));
addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  const search = $('#search');
  if (search) { event.preventDefault(); search.focus(); search.select(); }
});
setInterval(() => refreshTimes(document), 10_000);
start();
let first = true;
listen((kind, data) => {
  // The first hello comes beside the first load.
  if (kind === 'hello' && first) { first = false; return; }
  if (kind === 'fleet' || kind === 'lost' || kind === 'hello') refreshService();
  if (kind === 'lost' || kind === 'hello' || page?.hears(kind, data)) refreshPage();
}, (state) => {
  if (open === state) return;
  open = state;
  refreshService();
});
