/**
 * @typedef {{ colour: string, width: number, points: [number, number][] }} Stroke
 */

/** @returns {Stroke} */
export const line = (colour, from, to) => ({ colour, width: 5, points: [from, to] })

/** @returns {Stroke} */
export function wave(colour, y) {
  const points = Array.from({ length: 60 }, (_, i) => /** @type {[number, number]} */ ([40 + i * 9, y + Math.sin(i / 3) * 12]))
  return { colour, width: 4, points }
}
