import { type FC } from 'react'
import { useSwap, type Offer } from '~/store'

export const OfferCard: FC<Offer> = ({ id, name, family, packets }) => {
  const take = useSwap((s) => s.take)
  return (
    <article className="offer" style={{ marginBottom: 12 }}>
      <h2>{name}</h2>
      <p>
        {family}, {packets} {packets === 1 ? 'packet' : 'packets'} left
      </p>
      <button disabled={packets === 0} onClick={() => take(id)}>
        Take one
      </button>
    </article>
  )
}
