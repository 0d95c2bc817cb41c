import { LitElement, css, html } from 'lit'
import { customElement } from 'lit/decorators.js'

// A second spelling of styles: an array with a shared part.
const shared = css`
  :host {
    display: block;
    margin-top: 1.5rem;
    font-size: 0.9rem;
    opacity: 0.8;
  }
`

@customElement('tide-note')
export class TideNote extends LitElement {
  static styles = [shared, css`::slotted(p) { margin: 0; }`]

  render() {
    return html`<slot></slot>`
  }
}
