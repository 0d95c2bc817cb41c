import React, { lazy, memo, Suspense, useState, useTransition } from 'react'
import { createPortal } from 'react-dom'
import { OfferForm } from '~/components/OfferForm'
import { OfferCard } from '~/components/OfferCard'
import { useSwap } from '~/store'

const Calendar = lazy(() => import('~/components/Calendar'))
const Card = memo(OfferCard)

export function App() {
  const offers = useSwap((s) => s.offers)
  const basket = useSwap((s) => s.basket)
  const [month, setMonth] = useState(false)
  const [waiting, start] = useTransition()

  return (
    <>
      <header>
        <h1>Seed swap</h1>
        <small data-runtime>{React.version} on {'createElement' in React ? 'preact' : 'nothing'}</small>
        <span className="basket">{basket.length} in the basket</span>
        <button onClick={() => start(() => setMonth(true))} disabled={waiting}>When to sow</button>
      </header>
      <div className="columns">
        <section>
          {offers.map((offer) => (
            <Card key={offer.id} {...offer} />
          ))}
        </section>
        <OfferForm />
      </div>
      {month &&
        createPortal(
          <Suspense fallback={<p>Looking it up…</p>}>
            <Calendar onClose={() => setMonth(false)} />
          </Suspense>,
          document.body,
        )}
    </>
  )
}
