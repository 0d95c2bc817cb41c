import { effect } from 'signals';

const marker = '\u0001';

// html`<p onclick=${f}>${() => text.value}</p>` returns a DocumentFragment. Functions as children are kept up to date.
export function html(strings, ...values) {
  const template = document.createElement('template');
  template.innerHTML = strings.reduce((all, part, i) => all + part + (i < values.length ? `${marker}${i}${marker}` : ''), '');
  const pattern = new RegExp(`${marker}(\\d+)${marker}`);

  for (const element of template.content.querySelectorAll('*')) {
    for (const { name, value } of [...element.attributes]) {
      const found = pattern.exec(value);
      if (!found) continue;
      element.removeAttribute(name);
      bind(element, name, values[found[1]]);
    }
  }
  const walker = document.createTreeWalker(template.content, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) if (pattern.test(walker.currentNode.data)) texts.push(walker.currentNode);
  for (const text of texts) {
    const parts = text.data.split(new RegExp(`${marker}(\\d+)${marker}`));
    text.replaceWith(...parts.map((part, i) => (i % 2 ? child(values[part]) : part)));
  }
  return template.content;
}

function bind(element, name, value) {
  if (name.startsWith('on')) return element.addEventListener(name.slice(2), value);
  const set = (v) => (name in element ? (element[name] = v) : element.setAttribute(name, v));
  if (typeof value === 'function') effect(() => set(value()));
  else set(value);
}

function child(value) {
  if (typeof value !== 'function') return value instanceof Node ? value : document.createTextNode(value ?? '');
  const box = document.createElement('span');
  box.style.display = 'contents';
  effect(() => {
    const next = value();
    box.replaceChildren(...(Array.isArray(next) ? next : [next]).map((v) => (v instanceof Node ? v : String(v ?? ''))));
  });
  return box;
}

export function mount(root, component) {
  root.replaceChildren(component());
}
