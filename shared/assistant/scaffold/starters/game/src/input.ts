import type { Vector } from './vector'

const keys: Record<string, Vector> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
  a: { x: -1, y: 0 },
  d: { x: 1, y: 0 },
  w: { x: 0, y: -1 },
  s: { x: 0, y: 1 },
}

/** Joins the keyboard and the pointer to one direction. */
export class Input {
  private readonly held = new Set<string>()
  private target: Vector | null = null

  constructor(canvas: HTMLCanvasElement) {
    addEventListener('keydown', (event) => keys[event.key] && this.held.add(event.key))
    addEventListener('keyup', (event) => this.held.delete(event.key))
    addEventListener('blur', () => this.held.clear())
    const aim = (event: PointerEvent) => (this.target = { x: event.offsetX, y: event.offsetY })
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId)
      aim(event)
    })
    canvas.addEventListener('pointermove', (event) => event.buttons && aim(event))
    canvas.addEventListener('pointerup', () => (this.target = null))
  }

  direction(from: Vector): Vector {
    let x = 0
    let y = 0
    for (const key of this.held) {
      x += keys[key].x
      y += keys[key].y
    }
    if (this.target) {
      x = this.target.x - from.x
      y = this.target.y - from.y
      if (Math.hypot(x, y) < 8) return { x: 0, y: 0 }
    }
    const length = Math.hypot(x, y)
    return length === 0 ? { x: 0, y: 0 } : { x: x / length, y: y / length }
  }
}
