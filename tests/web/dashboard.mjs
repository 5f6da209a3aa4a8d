// SPDX-License-Identifier: Apache-2.0
// Drives the dashboard in Chromium: node dashboard.mjs SERVE_FLEET OUTPUT. One line of JSON a scenario.

import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { readFileSync } from 'node:fs';
import assert from 'node:assert/strict';

const [program, output] = process.argv.slice(2);
const require = createRequire(`${process.env.FIRN_NODE_MODULES}/none.js`);
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

class Service {
  static async start(tables, token = '') {
    const service = new Service();
    service.child = spawn(program, [String(tables), ...(token ? [token] : [])], { stdio: ['pipe', 'pipe', 'inherit'] });
    service.lines = createInterface({ input: service.child.stdout })[Symbol.asyncIterator]();
    service.url = `http://127.0.0.1:${(await service.lines.next()).value}`;
    return service;
  }
  async tell(line) {
    this.child.stdin.write(`${line}\n`);
    assert.equal((await this.lines.next()).value, 'ok');
  }
  async stop() {
    const ended = new Promise((go) => this.child.once('exit', go));
    this.child.stdin.end();
    await ended;
  }
}

const PHONE = { width: 360, height: 740 };
const SCREEN = { width: 1280, height: 860 };
const browser = await chromium.launch({ executablePath: process.env.FIRN_CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
const fleet = await Service.start(120);
const big = await Service.start(10_000);

/** A page that fails the scenario on script errors and blocked resources. */
async function open(path, { service = fleet, size = SCREEN, dark = false, allowed = [] } = {}) {
  const context = await browser.newContext({ viewport: size, colorScheme: dark ? 'dark' : 'light', deviceScaleFactor: 1, hasTouch: size === PHONE });
  const page = await context.newPage();
  page.faults = [];
  page.on('pageerror', (fault) => page.faults.push(String(fault)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !allowed.some((part) => message.text().includes(part))) page.faults.push(message.text());
  });
  page.setDefaultTimeout(10_000);
  if (path !== null) await go(page, `${service.url}/#/${path}`);
  return page;
}

async function go(page, url) {
  await page.goto(url);
  await page.waitForFunction(() => performance.getEntriesByName('firn-ready').length > 0);
}

async function shot(page, name) {
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForTimeout(350);
  await page.screenshot({ path: `${output}/${name}.png`, fullPage: true });
}

/** Names, roles, contrast, headings; nothing wider than the window. */
async function decent(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await axe.run(document, { resultTypes: ['violations'] })).violations
    .map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`));
  assert.deepEqual(found, [], 'accessibility');
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `the page is ${wide} px wider than the window`);
}

async function close(page) {
  assert.deepEqual(page.faults, []);
  await page.context().close();
}

/** The page on a screen and on a phone, in light and dark: decent everywhere, with screenshots. */
async function looks(path, name, check, shots = ['', '-phone-dark']) {
  for (const [suffix, size, dark] of [['', SCREEN, false], ['-dark', SCREEN, true], ['-phone', PHONE, false], ['-phone-dark', PHONE, true]]) {
    if (!shots.includes(suffix)) continue;
    const page = await open(path, { size, dark });
    await check(page);
    await decent(page);
    await shot(page, name + suffix);
    await close(page);
  }
}

const text = (page, selector) => page.locator(selector).first().innerText();
const TABLE = `tables/${encodeURIComponent('lake/sales.orders')}`;

const scenarios = {
  async first_paint(figures) {
    const times = [];
    for (let i = 0; i < 5; ++i) {
      const page = await open('', { service: big });
      await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
      times.push(await page.evaluate(() => ({
        paint: performance.getEntriesByName('first-contentful-paint')[0].startTime, ready: performance.getEntriesByName('firn-ready')[0].startTime,
        bytes: performance.getEntriesByType('resource').reduce((sum, e) => sum + e.transferSize, 0),
      })));
      await close(page);
    }
    const middle = (key) => Math.round(times.map((t) => t[key]).sort((a, b) => a - b)[2]);
    figures.first_paint_ms = middle('paint');
    figures.first_rows_of_10000_tables_ms = middle('ready');
    figures.first_load_kilobytes = Math.round(middle('bytes') / 1000);
  },

  async fleet_page() {
    await looks('', 'fleet', async (page) => {
      assert.equal(await text(page, 'h1'), 'Fleet');
      assert.match(await text(page, '.figures'), /Tables\s+120/);
      assert.equal(await page.locator('table.grid tbody tr').count(), 50);
      const states = await page.locator('table.grid tbody tr td:nth-child(2)').allInnerTexts();
      const firstOk = states.findIndex((s) => s.includes('ok'));
      assert.ok(firstOk > 0 && states.slice(firstOk).every((s) => s.includes('ok')), 'tables that are not ok come first');
      const scores = (await page.locator('table.grid tbody tr td:nth-child(3)').allInnerTexts()).slice(firstOk).map((s) => Number(s.match(/\d+$/)[0]));
      assert.deepEqual(scores, [...scores].sort((a, b) => a - b));
      assert.equal(await page.locator('figure.chart svg[role=img]').count(), 2);
    }, ['', '-dark']);
  },

  async fleet_on_a_phone() {
    await looks('', 'fleet', async (page) => {
      assert.equal(await text(page, 'h1'), 'Fleet');
      const rows = await page.locator('table.grid tbody tr').first().boundingBox();
      assert.ok(rows.width <= 360);
    }, ['-phone', '-phone-dark']);
  },

  async many_tables(figures) {
    const page = await open('', { service: big });
    const timed = async (action, done) => {
      const start = performance.now();
      await action();
      await page.waitForFunction(done);
      return Math.round(performance.now() - start);
    };
    figures.page_of_10000_tables_ms = await timed(() => page.getByRole('button', { name: 'Show more' }).click(), () => document.querySelectorAll('table.grid tbody tr').length === 100);
    figures.search_in_10000_tables_ms = await timed(() => page.getByRole('searchbox').fill('logistics.profiles_12'), () => document.querySelectorAll('table.grid tbody tr').length < 20 && document.querySelector('table.grid'));
    for (const name of await page.locator('table.grid tbody th a').allInnerTexts()) assert.match(name, /logistics\.profiles_12/);
    await page.getByRole('searchbox').fill('no such table');
    await page.getByText('No table matches.').waitFor();
    await page.getByRole('searchbox').fill('');
    figures.sort_of_10000_tables_ms = await timed(() => page.getByRole('combobox', { name: 'Order' }).selectOption('entropy'), () => location.hash.includes('entropy') && document.querySelectorAll('table.grid tbody tr').length === 50);
    await go(page, page.url());
    assert.equal(await page.getByRole('combobox', { name: 'Order' }).inputValue(), 'entropy', 'the address keeps the order');
    await close(page);
  },

  async table_page() {
    await looks(TABLE, 'table', async (page) => {
      assert.equal(await text(page, 'h1'), 'lake/sales.orders');
      assert.ok(await page.locator('.heat button').count() > 20);
      assert.equal(await page.locator('figure.chart rect.now').count(), 10);
      await page.locator('.decisions summary').first().click();
      const decision = await page.locator('.decisions details[open]').first().innerText();
      for (const part of ['looked at', 'noise', 'instead of', 'merge the whole table', 'over budget', '3.75 GiB rewritten']) assert.ok(decision.includes(part), `${part} in ${decision}`);
      assert.match(await page.locator('table.promise').innerText(), /worker time\s+10 min 10 s\s+10 min 55 s\s+1\.07/);
      await page.getByText('firn.target-file-size-bytes').waitFor();
    }, ['', '-dark', '-phone', '-phone-dark']);
  },

  async analysis_of_a_table() {
    const page = await open(TABLE);
    const box = page.locator('#analysis');
    const shown = await box.innerText();
    for (const part of ['Change the target file size and merge', '128 MiB', '512 MiB (now)', '2,000 files become 2', 'no column would gain enough', '6.3']) assert.ok(shown.includes(part), `${part} in ${shown}`);
    await box.getByText('What it stands on').click();
    await box.getByText('earlier merges: 25').waitFor();
    await fleet.tell('touch lake/sales.orders 4321');
    await page.getByText('4,321').first().waitFor();
    assert.ok(await box.getByText('earlier merges: 25').isVisible(), 'news close nothing');
    await decent(page);
    await close(page);
    const other = await open(`tables/${encodeURIComponent('lake/web.orders')}`);
    await other.locator('#analysis').getByText('It was never analysed').waitFor();
    await close(other);
  },

  async heat_map_by_keyboard() {
    const page = await open(TABLE);
    const cells = page.locator('.heat button');
    assert.equal(await page.locator('.heat button[tabindex="0"]').count(), 1);
    await cells.first().focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowLeft');
    const name = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
    assert.equal(name, await cells.nth(1).getAttribute('aria-label'));
    await page.keyboard.press('Enter');
    const partition = name.split(':')[0];
    await page.locator('.facts code', { hasText: partition }).first().waitFor();
    await page.keyboard.press('ArrowDown');
    const below = await page.evaluate(() => document.activeElement.getBoundingClientRect().top);
    assert.ok(below > (await cells.nth(1).boundingBox()).y);
    await page.keyboard.press('End');
    assert.equal(await page.evaluate(() => document.activeElement.dataset.index), String(await cells.count() - 1));
    await page.getByRole('combobox', { name: 'Colour by' }).selectOption('removable');
    assert.match(await cells.first().getAttribute('aria-label'), /removable files/);
    await close(page);
  },

  async queue_page() {
    await looks('queue', 'queue', async (page) => {
      assert.equal(await page.locator('tbody tr').count(), page.viewportSize().width < 700 ? 20 : 30);
      assert.match(await text(page, 'tbody tr'), /files less for .* of work, times priority/);
      const places = await page.locator('.place').allInnerTexts();
      assert.deepEqual(places, places.map((_, i) => String(i + 1)));
    });
  },

  async jobs_page() {
    await looks('jobs', 'jobs', async (page) => {
      assert.match(await text(page, 'tbody tr'), /running/);
      await page.getByRole('combobox', { name: 'State' }).selectOption('failed');
      await page.waitForFunction(() => [...document.querySelectorAll('tbody tr')].every((row) => row.innerText.includes('failed')));
      assert.match(await text(page, 'tbody tr'), /access denied/);
      await page.getByRole('combobox', { name: 'State' }).selectOption('cancelled');
      await page.getByText('No job is in this state.').waitFor();
      await page.getByRole('combobox', { name: 'State' }).selectOption('');
      await page.waitForFunction(() => document.querySelectorAll('tbody tr').length >= 20);
    });
  },

  async decisions_page() {
    await looks('decisions', 'decisions', async (page) => {
      await page.getByRole('combobox', { name: 'Kind' }).selectOption('not-now');
      await page.waitForFunction(() => [...document.querySelectorAll('.kind')].every((k) => k.textContent === 'not now'));
      assert.match(await text(page, '.decisions li'), /merging now would be overtaken/);
      await page.getByRole('combobox', { name: 'Kind' }).selectOption('');
      await page.waitForFunction(() => [...document.querySelectorAll('.kind')].some((k) => k.textContent === 'run'));
    });
  },

  async requests_page() {
    await looks(`requests?table=${encodeURIComponent('lake/sales.orders')}`, 'requests', async (page) => {
      const before = await page.locator('tbody tr').count();
      await page.getByLabel('What').selectOption('rewrite-deletes');
      await page.getByLabel('Priority').fill('5');
      await page.getByLabel('Partitions').fill('day=2026-01-01/region=eu\n\nday=2026-01-02/region=eu\n');
      await page.getByRole('button', { name: 'Send the request' }).press('Enter');
      await page.waitForFunction((n) => document.querySelectorAll('tbody tr').length === n + 1, before);
      assert.match(await text(page, 'tbody tr'), /lake\/sales\.orders\s*rewrite-deletes/);
      await page.getByText(/was taken/).waitFor();
    });
    const page = await open('requests', { allowed: ['404'] });
    await page.getByLabel('Table').fill('lake/none');
    await page.getByRole('button', { name: 'Send the request' }).click();
    await page.getByRole('alert').getByText('no table `lake/none`').waitFor();
    await close(page);
    const rows = await (await fetch(`${fleet.url}/api/v1/requests`)).json();
    assert.deepEqual(rows.items[0].partitions, ['day=2026-01-01/region=eu', 'day=2026-01-02/region=eu']);
  },

  async policies_page() {
    await looks('policies', 'policies', async (page) => {
      const all = await text(page, 'main');
      assert.match(all, /lake\/sales\.\*/);
      assert.match(all, /firn\.target-file-size-bytes\s+512 MiB/);
      assert.match(all, /firn\.serve\.token[\s\S]*\(hidden\)/);
      assert.ok(!(await page.content()).includes('s3cret-token-of-the-fixture'));
      assert.ok(!(await page.content()).includes('pass-of-the-fixture'));
    });
  },

  async pause_and_resume() {
    const page = await open(TABLE);
    await page.getByRole('button', { name: 'Pause this table' }).click();
    await page.getByRole('button', { name: 'Resume this table' }).click();
    await page.getByRole('button', { name: 'Pause this table' }).waitFor();
    await page.getByRole('button', { name: 'Pause all' }).click();
    await page.getByText('Everything is paused').waitFor();
    assert.equal((await (await fetch(`${fleet.url}/api/v1/fleet`)).json()).paused, true);
    await page.getByRole('button', { name: 'Resume all' }).click();
    await page.getByText('Everything is paused').waitFor({ state: 'detached' });
    await close(page);
  },

  async keyboard() {
    const page = await open('');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the content');
    await page.keyboard.press('/');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'search');
    await page.keyboard.type('clicks');
    await page.waitForFunction(() => [...document.querySelectorAll('tbody th a')].every((a) => a.textContent.includes('clicks')));
    // search, state, order, then the first table.
    for (let i = 0; i < 3; ++i) await page.keyboard.press('Tab');
    const name = await page.evaluate(() => document.activeElement.textContent);
    const ring = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(ring, 'solid', 'the focus is seen');
    await page.keyboard.press('Enter');
    await page.waitForFunction((n) => document.querySelector('h1')?.textContent === n, name);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main', 'the focus follows to the new page');
    await page.goBack();
    await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Fleet');
    assert.equal(await page.getByRole('searchbox').inputValue(), 'clicks', 'and the way back keeps the search');
    await close(page);
  },

  async live(figures) {
    const page = await open(TABLE);
    await page.locator('.live.on').waitFor();
    const start = performance.now();
    await fleet.tell('touch lake/sales.orders 4321');
    await page.locator('.figures', { hasText: '4,321' }).first().waitFor();
    figures.change_to_screen_ms = Math.round(performance.now() - start);
    await close(page);
    // A list that is drawn again leaves the keyboard where it is.
    const list = await open('');
    const link = list.locator('tbody th a').nth(3);
    const id = await link.innerText();
    await link.focus();
    await fleet.tell(`touch ${id} 7654321`);
    await list.locator('tbody td', { hasText: '7,654,321' }).waitFor();
    assert.equal(await list.evaluate(() => document.activeElement.textContent), id);
    await close(list);
  },

  async hostile_names() {
    const name = 'lake/<img src=x onerror=document.title=1>.%2F"\'&amp;?#';
    const service = await Service.start(3);
    await service.tell(`add ${name}`);
    const page = await open('', { service });
    await page.getByRole('link', { name }).click();
    await page.waitForFunction((n) => document.querySelector('h1')?.textContent === n, name);
    assert.equal(await page.title(), `${name} · firn`);
    assert.equal(await page.locator('main img').count(), 0);
    await close(page);
    await service.stop();
  },

  async trouble_in_words() {
    const service = await Service.start(10);
    await service.tell('fail the state file is locked by another process');
    const page = await open('', { service, allowed: ['503', 'ERR_', 'network'] });
    await page.getByRole('alert').getByText('The state file is locked').first().waitFor();
    await decent(page);
    await shot(page, 'trouble');
    await service.tell('heal');
    await go(page, page.url());
    await page.reload();
    await page.locator('table.grid tbody tr').first().waitFor();
    await service.stop();
    await page.getByText('The service is not heard').waitFor();
    assert.equal(await page.locator('table.grid tbody tr').count(), 10, 'what was shown stays');
    await close(page);
    const lost = await open('tables/none', { allowed: ['404'] });
    await lost.getByRole('alert').first().getByText('No table `none`').waitFor();
    await close(lost);
  },

  async empty_fleet() {
    const service = await Service.start(0);
    for (const [path, words] of [['', 'No table is known yet'], ['queue', 'Nothing waits'], ['jobs', 'No job has run yet'], ['decisions', 'Nothing was decided yet'], ['requests', 'Nobody has asked']]) {
      const page = await open(path, { service });
      await page.getByText(words).waitFor();
      if (!path) { await decent(page); await shot(page, 'empty'); }
      await close(page);
    }
    await service.stop();
  },

  async token() {
    const service = await Service.start(10, 'open-sesame-123');
    const page = await open(null, { allowed: ['401'] });
    await page.goto(`${service.url}/#/queue`);
    const field = page.getByLabel('Token');
    await field.waitFor();
    await decent(page);
    await shot(page, 'sign-in');
    await field.fill('wrong');
    await field.press('Enter');
    await page.getByLabel('Token').waitFor();
    assert.equal(await page.locator('tbody tr').count(), 0);
    await page.getByLabel('Token').fill('open-sesame-123');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('tbody tr').first().waitFor();
    await page.locator('.live.on').waitFor();
    assert.ok(!(await page.content()).includes('open-sesame-123'));
    await page.getByRole('button', { name: 'Pause all' }).click();
    await page.getByText('Everything is paused').waitFor();
    await close(page);
    await service.stop();
  },

  async nothing_of_others() {
    const page = await open(null);
    const hosts = new Set();
    page.on('request', (request) => hosts.add(new URL(request.url()).origin));
    await go(page, `${fleet.url}/#/`);
    for (const path of ['queue', 'jobs', 'decisions', 'requests', 'policies', TABLE]) {
      await page.evaluate((p) => { location.hash = `#/${p}`; }, path);
      await page.waitForTimeout(150);
    }
    assert.deepEqual([...hosts], [fleet.url], 'the dashboard asks nobody but its own service');
    await close(page);
  },
};

for (const [scenario, run] of Object.entries(scenarios)) {
  if (process.argv[4] && process.argv[4] !== scenario) continue;
  const figures = {};
  let error = '';
  try {
    await run(figures);
  } catch (fault) {
    error = String(fault.stack ?? fault).slice(0, 3000);
  }
  console.log(JSON.stringify({ scenario, ok: !error, error, figures }));
}
await browser.close();
await Promise.all([fleet.stop(), big.stop()]);
