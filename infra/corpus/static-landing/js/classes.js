import { classes, levels } from './data/classes.js';

const filters = document.querySelector('.filters');
const list = document.querySelector('.class-list');

function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function row({ name, when, level, price, places, text }) {
  const article = element('article', 'class-row');
  const free = places > 0 ? `${places} ${places === 1 ? 'place' : 'places'} left` : 'full, waiting list';
  article.append(
    element('time', '', when),
    element('h3', '', name),
    element('strong', '', `€${price}`),
    element('p', '', `${levels[level]}. ${text}`),
    element('span', places > 0 ? 'places' : 'places full', free),
  );
  return article;
}

function show(level) {
  list.replaceChildren(...classes.filter((entry) => level === 'all' || entry.level === level).map(row));
  for (const button of filters.children) {
    button.setAttribute('aria-pressed', String(button.dataset.level === level));
  }
  history.replaceState(null, '', level === 'all' ? location.pathname : `#${level}`);
}

for (const [level, label] of Object.entries({ all: 'All levels', ...levels })) {
  const button = element('button', 'button', label);
  button.type = 'button';
  button.dataset.level = level;
  button.addEventListener('click', () => show(level));
  filters.append(button);
}
const wanted = location.hash.slice(1);
show(wanted in levels ? wanted : 'all');
