import { Check } from 'lucide-react'
import { useState } from 'react'

const included = ['All alarms and channels', 'Unlimited schedules', 'Phone calls to 90 countries', 'Export of everything, always']

export function Pricing() {
  const [people, setPeople] = useState(6)
  return (
    <section id="pricing" className="wrap py-24">
      <div className="grid items-center gap-12 md:grid-cols-2">
        <div>
          <h2 className="text-3xl font-bold tracking-tight text-balance sm:text-4xl">One price for the whole team</h2>
          <p className="lead mt-4">Free for three people. After that, everybody who carries a phone costs the same.</p>
          <ul className="mt-8 space-y-3">
            {included.map((item) => (
              <li key={item} className="flex items-center gap-3">
                <Check className="size-5 text-lime-600 dark:text-glow" /> {item}
              </li>
            ))}
          </ul>
        </div>
        <div className="rounded-3xl bg-night-900 p-8 text-white ring-1 ring-white/10">
          <label className="flex items-baseline justify-between text-night-300" htmlFor="people">
            People on call <span className="text-2xl font-semibold text-white">{people}</span>
          </label>
          <input
            id="people"
            type="range"
            min={1}
            max={40}
            value={people}
            onChange={(event) => setPeople(event.target.valueAsNumber)}
            className="mt-5 w-full accent-glow"
          />
          <p className="mt-8 text-5xl font-bold tracking-tight">
            {people <= 3 ? 'Free' : `$${people * 9}`}
            {people > 3 && <span className="text-base font-normal text-night-300"> a month</span>}
          </p>
          <a href="#waitlist" className="button mt-8 w-full justify-center py-3">
            {people <= 3 ? 'Start now' : 'Try it for 30 days'}
          </a>
        </div>
      </div>
    </section>
  )
}
