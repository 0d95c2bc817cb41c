import { Leva, useControls } from 'leva'
import { lazy, Suspense, useState } from 'react'
import { planets } from './planets'

const System = lazy(() => import('./scene/System'))

export default function App() {
  const [selected, setSelected] = useState('Earth')
  const { speed } = useControls({ speed: { value: 1, min: 0, max: 10 } })
  const planet = planets.find(({ name }) => name === selected)!
  return (
    <>
      <Leva collapsed />
      <Suspense fallback={null}>
        <System selected={selected} speed={speed} onSelect={setSelected} />
      </Suspense>
      <div className="overlay">
        <h1>Orrery</h1>
        <p className="fact">
          {planet.name} needs {planet.days} days for one turn.
        </p>
        <nav>
          {planets.map(({ name }) => (
            <button key={name} aria-current={name === selected} onClick={() => setSelected(name)}>
              {name}
            </button>
          ))}
        </nav>
      </div>
    </>
  )
}
