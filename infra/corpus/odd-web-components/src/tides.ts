export interface Tide {
  kind: 'high' | 'low'
  /** Minutes after midnight. */
  at: number
  metres: number
}

const HALF = 372.6

/** Returns the tides of a day. They come 50 minutes later each day, and are higher at full and new moon. */
export function tidesOf(day: number): Tide[] {
  const result: Tide[] = []
  const spring = Math.cos((day / 14.77) * 2 * Math.PI)
  let index = Math.ceil((day * 1440 - 95) / HALF)
  for (let at = index * HALF + 95 - day * 1440; at < 1440; at += HALF, index++) {
    const high = index % 2 === 0
    result.push({ kind: high ? 'high' : 'low', at: Math.round(at), metres: high ? 3.4 + spring * 0.4 : 0.5 - spring * 0.3 })
  }
  return result
}

export const clock = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
