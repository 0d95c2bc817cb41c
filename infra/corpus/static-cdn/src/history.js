import { html } from 'html';
import { signal } from 'signals';

export function History(current) {
  const lines = signal([]);
  return {
    remember() {
      lines.value = [current(), ...lines.peek()].slice(0, 5);
    },
    view: html`<ul class="history">${() => lines.value.map((line) => html`<li>${line}</li>`)}</ul>`,
  };
}
