export interface Vector {
  x: number
  y: number
}

export const distance = (a: Vector, b: Vector) => Math.hypot(a.x - b.x, a.y - b.y)
export const clamp = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value))
export const between = (low: number, high: number) => low + Math.random() * (high - low)
