export interface Planet {
  name: string
  color: string
  size: number
  orbit: number
  days: number
  ring?: boolean
}

export const planets: Planet[] = [
  { name: 'Mercury', color: '#b1a597', size: 0.18, orbit: 1.7, days: 88 },
  { name: 'Venus', color: '#e6c07b', size: 0.3, orbit: 2.4, days: 225 },
  { name: 'Earth', color: '#5fa8d3', size: 0.32, orbit: 3.3, days: 365 },
  { name: 'Mars', color: '#d0643e', size: 0.24, orbit: 4.2, days: 687 },
  { name: 'Jupiter', color: '#d8b08c', size: 0.75, orbit: 5.8, days: 4333 },
  { name: 'Saturn', color: '#ead6a6', size: 0.62, orbit: 7.6, days: 10759, ring: true },
]
