export type Range = 'Week' | 'Month' | 'Year'

export interface Reading {
  label: string
  solar: number
  used: number
}

const series = (labels: string[], scale: number): Reading[] =>
  labels.map((label, index) => ({
    label,
    solar: Math.round(scale * (6 + 5 * Math.sin((index / labels.length) * Math.PI))),
    used: Math.round(scale * (8 + 2 * Math.cos(index * 1.7))),
  }))

export const readings: Record<Range, Reading[]> = {
  Week: series(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'], 1),
  Month: series(Array.from({ length: 30 }, (_, day) => String(day + 1)), 1.1),
  Year: series(['J', 'F', 'M', 'A', 'M', 'J', 'J', 'A', 'S', 'O', 'N', 'D'], 31),
}

export const devices = [
  { name: 'Heat pump', share: 41, color: '#0f766e' },
  { name: 'Car', share: 27, color: '#f59e0b' },
  { name: 'Kitchen', share: 18, color: '#64748b' },
  { name: 'Lights and rest', share: 14, color: '#a8a29e' },
]

export const comfort = { labels: ['Warmth', 'Air', 'Light', 'Noise', 'Cost'], now: [8, 6, 9, 7, 5], before: [6, 6, 7, 5, 8] }
