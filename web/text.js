// SPDX-License-Identifier: Apache-2.0
// Numbers, sizes and times as people read them.

import { h } from './dom.js';

const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const dates = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const days = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' });

export const count = (n) => (n === null || n === undefined ? '–' : numbers.format(n));
export const brief = (n) => (Math.abs(n) < 10_000 ? numbers.format(n) : short.format(n));
export const files = (n) => `${count(n)} ${n === 1 ? 'file' : 'files'}`;
export const plural = (n, noun) => `${count(n)} ${noun}${n === 1 ? '' : 's'}`;

export function bytes(n) {
  if (n === null || n === undefined) return '–';
  let value = n;
  for (const unit of ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']) {
    if (Math.abs(value) < 1000 || unit === 'PiB') {
      return `${unit === 'B' ? value : value.toPrecision(3).replace(/\.0+$|(\.\d*?)0+$/, '$1')} ${unit}`;
    }
    value /= 1024;
  }
  return '';
}

export function seconds(value) {
  if (value === null || value === undefined) return '–';
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 10) return `${value.toFixed(1)} s`;
  if (value < 60) return `${Math.round(value)} s`;
  if (value < 3600) return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`.replace(' 0 s', '');
  if (value < 86_400) return `${Math.floor(value / 3600)} h ${Math.round((value % 3600) / 60)} min`.replace(' 0 min', '');
  return `${Math.floor(value / 86_400)} d ${Math.round((value % 86_400) / 3600)} h`.replace(' 0 h', '');
}

export const percent = (ratio) => (ratio === null || ratio === undefined ? '–' : `${Math.round(ratio * 100)} %`);
export const entropy = (value) => (value === null || value === undefined ? '–' : value.toFixed(2));
export const score = (value) => (value === null || value === undefined ? '–' : Math.round(value).toString());

function agoText(ms) {
  const passed = (Date.now() - ms) / 1000;
  if (Math.abs(passed) < 5) return 'now';
  const step = Math.abs(passed);
  const size = step < 90 ? `${Math.round(step)} s` : step < 5400 ? `${Math.round(step / 60)} min`
    : step < 129_600 ? `${Math.round(step / 3600)} h` : `${Math.round(step / 86_400)} d`;
  return passed > 0 ? `${size} ago` : `in ${size}`;
}

/** A time beside now, with the exact one as its title; kept up to date by refreshTimes(). */
export function ago(ms, never = 'never') {
  if (!ms) return h('span', { class: 'quiet' }, never);
  return h('time', { datetime: new Date(ms).toISOString(), title: dates.format(ms), 'data-ms': ms }, agoText(ms));
}

export function refreshTimes(root) {
  for (const element of root.querySelectorAll('time[data-ms]')) element.textContent = agoText(Number(element.dataset.ms));
}

export const exact = (ms) => (ms ? dates.format(ms) : '–');
export const tick = (ms, span) => (span > 172_800_000 ? days.format(ms) : clock.format(ms));
