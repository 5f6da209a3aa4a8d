// SPDX-License-Identifier: Apache-2.0
// Talks to /api/v1: reads, asks, and listens to the stream. The token stays in this tab.

const BASE = '/api/v1';
let token = sessionStorage.getItem('firn-token') ?? '';

export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function setToken(text) {
  token = text;
  if (text) sessionStorage.setItem('firn-token', text);
  else sessionStorage.removeItem('firn-token');
}

const headers = (more) => ({ ...(token ? { Authorization: `Bearer ${token}` } : {}), ...more });

async function send(path, options) {
  let response;
  try {
    response = await fetch(BASE + path, options);
  } catch (fault) {
    if (fault.name === 'AbortError') throw fault;
    throw new ApiError(0, 'unavailable', 'The service does not answer.');
  }
  const body = await response.json().catch(() => null);
  if (!response.ok) {
    const error = body?.error ?? {};
    throw new ApiError(response.status, error.code ?? '', error.message ?? `The service answered ${response.status}.`);
  }
  return body;
}

const queryOf = (parameters) => {
  const given = Object.entries(parameters ?? {}).filter(([, v]) => v !== '' && v !== null && v !== undefined);
  return given.length ? `?${new URLSearchParams(given)}` : '';
};

export const get = (path, parameters, signal) => send(path + queryOf(parameters), { headers: headers(), signal });
export const post = (path, body) =>
  send(path, { method: 'POST', headers: headers({ 'Content-Type': 'application/json' }), body: JSON.stringify(body ?? {}) });
export const tablePath = (id) => `/tables/${encodeURIComponent(id)}`;

/** Calls `heard(kind, data)` for what changes, and `state(open)` when the stream opens or breaks; for ever. */
export async function listen(heard, state) {
  for (let wait = 500; ; wait = Math.min(wait * 2, 15_000)) {
    try {
      const response = await fetch(`${BASE}/stream`, { headers: headers() });
      if (response.status === 401) await new Promise((go) => addEventListener('firn-token', go, { once: true }));
      if (response.ok) {
        await read(response.body.getReader(), (kind, data) => {
          if (kind === 'hello') { wait = 500; state(true); }
          heard(kind, data);
        });
      }
    } catch { /* said by state() */ }
    state(false);
    await new Promise((go) => setTimeout(go, wait));
  }
}

async function read(reader, event) {
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split('\n').filter((l) => l.includes(': ')).map((l) => {
        const at = l.indexOf(': ');
        return [l.slice(0, at), l.slice(at + 2)];
      }));
      if (fields.event) event(fields.event, JSON.parse(fields.data ?? '{}'));
    }
  }
}
