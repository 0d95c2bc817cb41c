import { LitElement, css, html } from 'lit'
import { customElement, property, query, state } from 'lit/decorators.js'
import { cache } from 'lit/directives/cache.js'
import { Shortcuts } from './controllers/shortcuts'
import { tidesOf } from './tides'
import './tide-button'
import './tide-chart'
import './tide-list'
import './tide-note'
import type { TideChart } from './tide-chart'

@customElement('tide-app')
export class TideApp extends LitElement {
  /** The name of the port. */
  @property() port = 'Somewhere'
  @property({ type: Number, reflect: true }) day = 0

  @state() private view: 'list' | 'chart' = 'list'
  @query('tide-chart') private chart?: TideChart

  private shortcuts = new Shortcuts(this, {
    ArrowRight: () => this.day++,
    ArrowLeft: () => this.day--,
    v: () => (this.view = this.view === 'list' ? 'chart' : 'list'),
  })

  render() {
    const tides = tidesOf(this.day)
    return html`
      <slot name="title"></slot>
      <p>${this.port}, ${this.day === 0 ? 'today' : `day ${this.day}`}</p>
      <div class="row">
        <slot name="buttons"></slot>
        <span class="hint">${this.shortcuts.names.join(' ')}</span>
      </div>
      ${cache(
        this.view === 'list'
          ? html`<slot name="list"></slot>`
          : html`<tide-chart .tides=${tides} @tide-picked=${(e: CustomEvent<number>) => this.announce(e.detail)}></tide-chart>`,
      )}
      <slot name="note"></slot>
    `
  }

  protected firstUpdated() {
    const next = document.createElement('tide-button')
    next.slot = 'buttons'
    next.textContent = 'Next day'
    next.addEventListener('click', () => this.day++)
    const toggle = document.createElement('tide-button')
    toggle.slot = 'buttons'
    toggle.quiet = true
    toggle.textContent = 'List or chart'
    toggle.addEventListener('click', () => (this.view = this.view === 'list' ? 'chart' : 'list'))
    const list = document.createElement('tide-list')
    list.slot = 'list'
    this.append(next, toggle, list)
    list.tides = tidesOf(this.day)
  }

  protected updated(changed: Map<PropertyKey, unknown>) {
    if (!changed.has('day')) return
    const list = this.querySelector('tide-list')
    if (list) list.tides = tidesOf(this.day)
    this.chart?.requestUpdate()
  }

  private announce(index: number) {
    this.title = `Tide ${index + 1} of the day`
  }

  static styles = css`
    :host {
      display: block;
    }

    .row {
      display: flex;
      gap: 0.5rem;
      align-items: center;
    }

    .hint {
      margin-left: auto;
      font-size: 0.8rem;
      opacity: 0.6;
    }

    ::slotted(h1) {
      margin: 0;
      font-size: 2.5rem;
    }
  `
}

declare global {
  interface HTMLElementTagNameMap {
    'tide-app': TideApp
  }
}
