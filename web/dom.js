// SPDX-License-Identifier: Apache-2.0
// Builds elements. Text is always set as text, never as markup: names of tables come from strangers.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'vars') for (const [key, v] of Object.entries(value)) element.style.setProperty(key, v);
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(4)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
export const $ = (selector, root = document) => root.querySelector(selector);

/** Puts `children` into `element` in place of what is there. */
export function put(element, ...children) {
  element.replaceChildren();
  return fill(element, {}, children);
}

const keyOf = (e) => e.getAttribute('href') ?? e.dataset.index ?? e.closest('[data-decision]')?.dataset.decision ?? e.textContent;

/** As put(), and who had the focus has it again: what changes by itself must not throw the keyboard out. */
export function redraw(element, ...children) {
  const active = element.contains(document.activeElement) ? document.activeElement : null;
  const key = active && keyOf(active);
  put(element, children);
  if (active) [...element.querySelectorAll(active.tagName)].find((e) => keyOf(e) === key)?.focus({ preventScroll: true });
}

/** Calls `action` once, `wait` ms after the last of many calls, at the latest after `most` ms. */
export function calm(action, wait, most) {
  let timer = 0;
  let first = 0;
  return () => {
    const now = Date.now();
    if (!timer) first = now;
    clearTimeout(timer);
    timer = setTimeout(() => { timer = 0; action(); }, Math.max(0, Math.min(wait, first + most - now)));
  };
}
