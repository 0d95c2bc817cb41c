import { html } from 'html';
import { computed, signal } from 'signals';
import { kinds } from 'units/index.js';
import { convert, format } from './convert.js';
import { History } from './history.js';

const kind = signal('kitchen');
const amount = signal(1);
const from = signal('cup');
const to = signal('ml');

const units = computed(() => kinds[kind.value].units);
const result = computed(() => format(convert(kinds[kind.value], amount.value, from.value, to.value), to.value));

function choose(next) {
  const [first, second] = Object.keys(kinds[next].units);
  from.value = first;
  to.value = second;
  kind.value = next;
}

function picker(label, target) {
  const options = () =>
    Object.keys(units.value).map((unit) => html`<option value=${unit} selected=${unit === target.value}>${unit}</option>`);
  return html`<select aria-label=${label} onchange=${(e) => (target.value = e.target.value)}>${options}</select>`;
}

export function App() {
  const { view, remember } = History(() => `${format(amount.value, from.value)} = ${result.value}`);
  remember();
  return html`
    <h1>Measure</h1>
    <div role="tablist">
      ${() => Object.entries(kinds).map(([id, { label }]) => html`
        <button role="tab" aria-selected=${() => String(kind.value === id)} onclick=${() => choose(id)}>${label}</button>
      `)}
    </div>
    <div class="card">
      <div class="row">
        <input type="number" value="1" step="any" aria-label="Amount" oninput=${(e) => (amount.value = Number(e.target.value))}>
        ${() => picker('From', from)}
        ${() => picker('To', to)}
        <button onclick=${remember}>Keep</button>
      </div>
      <output>${() => result.value}</output>
    </div>
    ${view}
  `;
}
