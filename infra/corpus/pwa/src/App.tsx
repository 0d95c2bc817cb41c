import dayjs from 'dayjs'
import relativeTime from 'dayjs/plugin/relativeTime'
import { useCallback, useEffect, useState } from 'react'
import { add, drinksOf, today, undo } from './store'
import { useOnline } from './useOnline'

dayjs.extend(relativeTime)

const goal = 2000
const amounts = [150, 250, 500]

export default function App() {
  const [drinks, setDrinks] = useState<Awaited<ReturnType<typeof drinksOf>>>([])
  const online = useOnline()
  const load = useCallback(() => void drinksOf(today()).then(setDrinks), [])
  useEffect(load, [load])

  const sum = drinks.reduce((total, { amount }) => total + amount, 0)
  const last = drinks.at(-1)

  return (
    <main>
      <h1>Waterglass</h1>
      <div className="glass" role="img" aria-label={`${sum} of ${goal} ml`}>
        <div className="water" style={{ height: `${Math.min(100, (sum / goal) * 100)}%` }} />
        <span>{sum} ml</span>
      </div>
      <p>{last ? `Last glass ${dayjs(last.at).fromNow()}` : 'Nothing yet today. A glass is a good beginning.'}</p>
      <div className="amounts">
        {amounts.map((amount) => (
          <button key={amount} onClick={() => void add(amount).then(load)}>
            {amount} ml
          </button>
        ))}
      </div>
      {last && (
        <button className="undo" onClick={() => void undo().then(load)}>
          Undo
        </button>
      )}
      <footer>
        Version {__APP_VERSION__}, {online ? 'online' : 'offline, and that is fine'}
      </footer>
    </main>
  )
}
