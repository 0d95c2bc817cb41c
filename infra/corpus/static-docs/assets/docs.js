import { search } from './search.js';

const toc = document.querySelector('.toc');
for (const heading of document.querySelectorAll('main h2[id]')) {
  const link = document.createElement('a');
  link.href = `#${heading.id}`;
  link.textContent = heading.textContent;
  toc.append(link);
}

// On a phone, the list of pages is closed at first.
const side = document.querySelector('.side');
const wide = matchMedia('(min-width: 901px)');
side.open = wide.matches;
wide.addEventListener('change', () => (side.open = wide.matches));

for (const block of document.querySelectorAll('pre')) {
  block.tabIndex = 0;
}

search(document.querySelector('.search input'), document.querySelector('.hits'));
