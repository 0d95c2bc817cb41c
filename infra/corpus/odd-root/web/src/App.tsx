import { useMemo, useState } from 'react'
import styles from './App.module.css'
import { StationCard } from './components/StationCard'
import { useStations } from './useStations'

const filters = {
  all: { label: 'All stations', test: () => true },
  low: { label: 'Almost empty', test: (share: number) => share < 0.2 },
  high: { label: 'Almost full', test: (share: number) => share > 0.9 },
}
type Filter = keyof typeof filters

export default function App() {
  const state = useStations()
  const [filter, setFilter] = useState<Filter>('all')
  const shown = useMemo(
    () => (state.kind === 'loaded' ? state.stations.filter((s) => filters[filter].test(s.bikes / s.docks)) : []),
    [state, filter],
  )

  return (
    <>
      <header className={styles.header}>
        <h1>Dockside</h1>
        <p role="status">
          {state.kind === 'loading' && 'Asking the harbour…'}
          {state.kind === 'failed' && state.message}
          {state.kind === 'loaded' && (state.live ? 'live' : 'sample data')}
        </p>
      </header>
      <div className={styles.filters}>
        {Object.entries(filters).map(([id, { label }]) => (
          <button key={id} className={`filter ${styles.filter}`} aria-pressed={id === filter} onClick={() => setFilter(id as Filter)}>
            {label}
          </button>
        ))}
      </div>
      <section className={styles.grid}>
        {shown.map((station) => (
          <StationCard key={station.id} {...station} />
        ))}
        {state.kind === 'loaded' && shown.length === 0 && <p>No station is like that now.</p>}
      </section>
    </>
  )
}
