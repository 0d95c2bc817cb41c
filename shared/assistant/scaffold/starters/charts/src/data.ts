export type Range = 'Week' | 'Month' | 'Year'

export interface Day {
  label: string
  revenue: number
  before: number
  visitors: number
  orders: number
}

// Returns sample data. The same labels always have the same values.
const series = (labels: string[], scale: number): Day[] =>
  labels.map((label, index) => {
    const wave = (speed: number, height: number) => height * Math.sin(index * speed)
    const visitors = Math.round(scale * (420 + index * (60 / labels.length) + wave(0.9, 70) + wave(2.3, 35)))
    const orders = Math.round(visitors * (0.034 + wave(1.3, 0.005)))
    return { label, visitors, orders, revenue: Math.round(orders * (58 + wave(0.7, 9))), before: Math.round(scale * (690 + wave(1.1, 160))) }
  })

export const days: Record<Range, Day[]> = {
  Week: series(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'], 1),
  Month: series(Array.from({ length: 30 }, (_, day) => String(day + 1)), 1),
  Year: series(['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'], 30),
}

export const sources = [
  { name: 'Search', share: 41, color: '#0f766e' },
  { name: 'Newsletter', share: 27, color: '#f59e0b' },
  { name: 'Friends', share: 18, color: '#6366f1' },
  { name: 'Direct', share: 14, color: '#cbd5e1' },
]

export const products = [
  { name: 'Harbour lamp', sold: 148, revenue: 13172, stock: 36 },
  { name: 'Felt slippers', sold: 121, revenue: 5929, stock: 8 },
  { name: 'Oak tray', sold: 96, revenue: 4704, stock: 51 },
  { name: 'Linen throw', sold: 74, revenue: 6586, stock: 0 },
  { name: 'Coffee tin', sold: 63, revenue: 1197, stock: 120 },
]

export const ratings = { labels: ['Quality', 'Price', 'Delivery', 'Packing', 'Service'], now: [9, 7, 8, 6, 9], before: [8, 7, 6, 6, 7] }

export const money = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 })
