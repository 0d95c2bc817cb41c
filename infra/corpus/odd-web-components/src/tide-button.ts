import { LitElement, css, html } from 'lit'
import { customElement, property } from 'lit/decorators.js'

@customElement('tide-button')
export class TideButton extends LitElement {
  @property({ type: Boolean, reflect: true }) quiet = false

  render() {
    return html`<button part="button"><slot></slot></button>`
  }

  static styles = css`
    :host {
      display: inline-block;
      color: white;
      background-color: #155e75;
      border-radius: 8px;
    }

    :host([quiet]) {
      color: inherit;
      background-color: #cffafe;
    }

    button {
      padding: 0.5rem 1.1rem;
      font: inherit;
      color: inherit;
      background: none;
      border: 0;
      cursor: pointer;
    }
  `
}

declare global {
  interface HTMLElementTagNameMap {
    'tide-button': TideButton
  }
}
