import { LitElement, css, svg, html } from 'lit'
import { customElement, eventOptions, property } from 'lit/decorators.js'
import { styleMap } from 'lit/directives/style-map.js'
import { clock, type Tide } from './tides'

@customElement('tide-chart')
export class TideChart extends LitElement {
  @property({ attribute: false }) tides: Tide[] = []

  render() {
    const points = this.tides.map((t) => ({ x: (t.at / 1440) * 600, y: 160 - t.metres * 36, tide: t }))
    return html`<svg viewBox="0 0 600 200" @click=${this.pick}>
      <polyline points=${points.map(({ x, y }) => `${x},${y}`).join(' ')} />
      ${points.map(
        ({ x, y, tide }, i) => svg`<g data-index=${i}>
          <circle cx=${x} cy=${y} r="7" style=${styleMap({ fill: tide.kind === 'high' ? '#155e75' : '#67e8f9' })} />
          <text x=${x} y=${y - 12}>${clock(tide.at)}</text>
        </g>`,
      )}
    </svg>`
  }

  @eventOptions({ passive: true })
  private pick(event: Event) {
    const group = (event.target as Element).closest<SVGGElement>('g[data-index]')
    if (group) this.dispatchEvent(new CustomEvent('tide-picked', { detail: Number(group.dataset.index), bubbles: true, composed: true }))
  }

  static styles = css`
    svg {
      width: 100%;
      overflow: visible;
    }

    polyline {
      fill: none;
      stroke: #0e7490;
      stroke-width: 3;
    }

    text {
      font-size: 13px;
      text-anchor: middle;
    }
  `
}

declare global {
  interface HTMLElementTagNameMap {
    'tide-chart': TideChart
  }
}
