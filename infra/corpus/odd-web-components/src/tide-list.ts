import { LitElement, html } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { classMap } from 'lit/directives/class-map.js'
import { repeat } from 'lit/directives/repeat.js'
import { clock, type Tide } from './tides'

@customElement('tide-list')
export class TideList extends LitElement {
  @property({ attribute: false }) tides: Tide[] = []

  protected createRenderRoot() {
    return this
  }

  render() {
    return html`<ul>
      ${repeat(
        this.tides,
        (tide) => tide.at,
        (tide) => html`<li class=${classMap({ high: tide.kind === 'high' })}>
          <span>${tide.kind === 'high' ? 'High water' : 'Low water'}</span>
          <span>${clock(tide.at)} · ${tide.metres.toFixed(1)} m</span>
        </li>`,
      )}
    </ul>`
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'tide-list': TideList
  }
}
