import type { ReactiveController, ReactiveControllerHost } from 'lit'

export class Shortcuts implements ReactiveController {
  private keys: Record<string, () => void>

  constructor(host: ReactiveControllerHost, keys: Record<string, () => void>) {
    this.keys = keys
    host.addController(this)
  }

  get names() {
    return Object.keys(this.keys)
  }

  hostConnected() {
    addEventListener('keydown', this.press)
  }

  hostDisconnected() {
    removeEventListener('keydown', this.press)
  }

  private press = (event: KeyboardEvent) => this.keys[event.key]?.()
}
