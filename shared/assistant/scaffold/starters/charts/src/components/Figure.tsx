import clsx from 'clsx'
import { Area, AreaChart, ResponsiveContainer } from 'recharts'

interface FigureProps {
  label: string
  value: string
  /** The change since the period before, in per cent. */
  change: number
  trend: number[]
}

export function Figure({ label, value, change, trend }: FigureProps) {
  const data = trend.map((value) => ({ value }))
  return (
    <article className="card">
      <div className="flex items-center justify-between text-sm">
        <h2 className="text-stone-500">{label}</h2>
        <span
          className={clsx('rounded-full px-2 py-0.5 text-xs font-medium', change < 0 ? 'bg-rose-50 text-rose-700' : 'bg-teal-50 text-teal-700')}
        >
          {change < 0 ? '▼' : '▲'} {Math.abs(change)} %
        </span>
      </div>
      <p className="mt-2 text-3xl font-semibold tracking-tight tabular-nums">{value}</p>
      <div className="mt-3" aria-hidden="true">
        <ResponsiveContainer width="100%" height={36}>
          <AreaChart data={data} margin={{ top: 2, right: 0, bottom: 0, left: 0 }}>
            <Area dataKey="value" stroke="#0f766e" strokeWidth={1.5} fill="#0f766e" fillOpacity={0.08} isAnimationActive={false} />
          </AreaChart>
        </ResponsiveContainer>
      </div>
    </article>
  )
}
