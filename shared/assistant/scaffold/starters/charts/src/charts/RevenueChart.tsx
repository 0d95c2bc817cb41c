import { Area, CartesianGrid, ComposedChart, Legend, Line, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import { type Day, money } from '../data'

export function RevenueChart({ data }: { data: Day[] }) {
  return (
    <ResponsiveContainer width="100%" height={300}>
      <ComposedChart data={data} margin={{ left: 0, top: 8, right: 8 }}>
        <defs>
          <linearGradient id="revenue-fill" x1="0" y1="0" x2="0" y2="1">
            <stop offset="0" stopColor="#0f766e" stopOpacity={0.28} />
            <stop offset="1" stopColor="#0f766e" stopOpacity={0} />
          </linearGradient>
        </defs>
        <CartesianGrid vertical={false} stroke="#e7e5e4" />
        <XAxis dataKey="label" tickLine={false} axisLine={false} fontSize={12} minTickGap={16} />
        <YAxis tickLine={false} axisLine={false} fontSize={12} width={64} tickFormatter={(value) => money.format(value)} />
        <Tooltip formatter={(value) => money.format(Number(value))} />
        <Legend iconType="plainline" />
        <Area dataKey="revenue" name="Revenue" stroke="#0f766e" strokeWidth={2.5} fill="url(#revenue-fill)" isAnimationActive={false} />
        <Line dataKey="before" name="One period before" stroke="#a8a29e" strokeDasharray="4 4" dot={false} isAnimationActive={false} />
      </ComposedChart>
    </ResponsiveContainer>
  )
}
