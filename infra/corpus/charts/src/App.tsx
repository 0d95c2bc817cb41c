import clsx from 'clsx'
import { lazy, Suspense, useMemo, useState } from 'react'
import { UsageChart } from './charts/UsageChart'
import { devices, type Range, readings } from './data'

const DeviceChart = lazy(() => import('./charts/DeviceChart').then((module) => ({ default: module.DeviceChart })))
const ComfortChart = lazy(() => import('./charts/ComfortChart').then((module) => ({ default: module.ComfortChart })))

export default function App() {
  const [range, setRange] = useState<Range>('Week')
  const data = readings[range]
  const sums = useMemo(
    () => data.reduce((sum, { solar, used }) => ({ solar: sum.solar + solar, used: sum.used + used }), { solar: 0, used: 0 }),
    [data],
  )

  return (
    <main className="mx-auto max-w-6xl space-y-6 p-6">
      <header className="flex flex-wrap items-end justify-between gap-4">
        <div>
          <h1 className="text-3xl font-semibold tracking-tight">Energy of the house</h1>
          <p className="text-stone-500">
            {sums.used} kWh used, {sums.solar} kWh from the roof
          </p>
        </div>
        <div className="flex gap-1 rounded-full bg-white p-1 shadow-card">
          {(Object.keys(readings) as Range[]).map((name) => (
            <button
              key={name}
              aria-pressed={name === range}
              onClick={() => setRange(name)}
              className={clsx('rounded-full px-4 py-1.5 text-sm', name === range ? 'bg-teal-700 text-white' : 'text-stone-500')}
            >
              {name}
            </button>
          ))}
        </div>
      </header>
      <section className="card">
        <UsageChart data={data} />
      </section>
      <div className="grid gap-6 md:grid-cols-2">
        <section className="card grid content-center items-center gap-6 sm:grid-cols-2">
          <Suspense fallback={<p>Loading</p>}>
            <DeviceChart />
          </Suspense>
          <table className="w-full text-sm">
            <tbody>
              {devices.map(({ name, share, color }) => (
                <tr key={name} className="border-b border-stone-100 last:border-0">
                  <td className="py-2">
                    <span className="mr-2 inline-block size-2.5 rounded-full" style={{ background: color }} />
                    {name}
                  </td>
                  <td className="text-right tabular-nums">{share} %</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
        <section className="card">
          <Suspense fallback={<p>Loading</p>}>
            <ComfortChart />
          </Suspense>
        </section>
      </div>
    </main>
  )
}
