import clsx from 'clsx'
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react'
import { RevenueChart } from './charts/RevenueChart'
import { Figure } from './components/Figure'
import { Products } from './components/Products'
import { Sidebar } from './components/Sidebar'
import { type Day, days, money, type Range, sources } from './data'

const SourceChart = lazy(() => import('./charts/SourceChart').then((module) => ({ default: module.SourceChart })))
const RatingChart = lazy(() => import('./charts/RatingChart').then((module) => ({ default: module.RatingChart })))

const sum = (data: Day[], key: 'revenue' | 'before' | 'visitors' | 'orders') => data.reduce((total, day) => total + day[key], 0)

function Panel({ id, title, className, children }: { id?: string; title: string; className?: string; children: ReactNode }) {
  return (
    <section id={id} className={clsx('card scroll-mt-6', className)}>
      <h2 className="mb-4 font-semibold">{title}</h2>
      <Suspense fallback={<p>Loading</p>}>{children}</Suspense>
    </section>
  )
}

export default function App() {
  const [range, setRange] = useState<Range>('Week')
  const data = days[range]
  const totals = useMemo(
    () => ({ revenue: sum(data, 'revenue'), before: sum(data, 'before'), visitors: sum(data, 'visitors'), orders: sum(data, 'orders') }),
    [data],
  )

  return (
    <div className="min-h-screen lg:grid lg:grid-cols-[15rem_1fr]">
      <Sidebar />
      <main id="overview" className="mx-auto w-full max-w-6xl space-y-6 p-5 lg:p-8">
        <header className="flex flex-wrap items-end justify-between gap-4">
          <div>
            <h1 className="text-3xl font-semibold tracking-tight">Overview</h1>
            <p className="mt-1 text-stone-500">Sales and visitors of the shop</p>
          </div>
          <div className="flex gap-1 rounded-full bg-white p-1 shadow-card">
            {(Object.keys(days) as Range[]).map((name) => (
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
        <div className="grid gap-6 sm:grid-cols-2 xl:grid-cols-4">
          <Figure
            label="Revenue"
            value={money.format(totals.revenue)}
            change={Math.round((100 * totals.revenue) / totals.before - 100)}
            trend={data.map(({ revenue }) => revenue)}
          />
          <Figure label="Visitors" value={totals.visitors.toLocaleString('en')} change={8} trend={data.map(({ visitors }) => visitors)} />
          <Figure label="Orders" value={totals.orders.toLocaleString('en')} change={5} trend={data.map(({ orders }) => orders)} />
          <Figure
            label="Orders per visitor"
            value={`${((100 * totals.orders) / totals.visitors).toFixed(1)} %`}
            change={-2}
            trend={data.map(({ orders, visitors }) => orders / visitors)}
          />
        </div>
        <Panel id="revenue" title="Revenue">
          <RevenueChart data={data} />
        </Panel>
        <div className="grid gap-6 xl:grid-cols-2">
          <Panel id="visitors" title="Where visitors come from">
            <div className="grid items-center gap-6 sm:grid-cols-2">
              <SourceChart />
              <ul className="text-sm">
                {sources.map(({ name, share, color }) => (
                  <li key={name} className="flex items-center gap-2 border-b border-stone-100 py-2 last:border-0">
                    <span className="size-2.5 rounded-full" style={{ background: color }} />
                    {name}
                    <span className="ml-auto tabular-nums">{share} %</span>
                  </li>
                ))}
              </ul>
            </div>
          </Panel>
          <Panel title="What customers say">
            <RatingChart />
          </Panel>
        </div>
        <Panel id="products" title="Best sellers">
          <Products />
        </Panel>
      </main>
    </div>
  )
}
