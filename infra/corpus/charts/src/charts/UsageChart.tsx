import { Bar, CartesianGrid, ComposedChart, Legend, Line, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import type { Reading } from '../data'

export function UsageChart({ data }: { data: Reading[] }) {
  return (
    <ResponsiveContainer width="100%" height={300}>
      <ComposedChart data={data} margin={{ left: -16, top: 8 }}>
        <CartesianGrid vertical={false} stroke="#e7e5e4" />
        <XAxis dataKey="label" tickLine={false} axisLine={false} fontSize={12} />
        <YAxis tickLine={false} axisLine={false} fontSize={12} unit=" kWh" width={80} />
        <Tooltip cursor={{ fill: '#f5f5f4' }} />
        <Legend />
        <Bar dataKey="used" name="Used" fill="#0f766e" radius={[4, 4, 0, 0]} isAnimationActive={false} />
        <Line dataKey="solar" name="From the roof" stroke="#f59e0b" strokeWidth={3} dot={false} isAnimationActive={false} />
      </ComposedChart>
    </ResponsiveContainer>
  )
}
