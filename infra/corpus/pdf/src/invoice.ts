export interface Line {
  text: string
  count: number
  price: number
}

export interface Invoice {
  number: string
  customer: string
  lines: Line[]
}

export const invoice: Invoice = {
  number: '2026-118',
  customer: 'Bakery Sunday, 4 Mill Lane',
  lines: [
    { text: 'Oak shelf, 90 cm', count: 3, price: 190 },
    { text: 'Brackets, black', count: 6, price: 14.5 },
    { text: 'Mounting, hours', count: 4, price: 70 },
  ],
}

export const tax = 0.08
export const net = ({ lines }: Invoice) => lines.reduce((sum, { count, price }) => sum + count * price, 0)
export const total = (value: Invoice) => Math.round(net(value) * (1 + tax) * 100) / 100
export const euro = (value: number) => `€ ${value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
