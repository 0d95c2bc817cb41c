import type { Station } from '../api'
import styles from './StationCard.module.css'

export function StationCard({ name, bikes, docks }: Station) {
  const share = bikes / docks
  const tone = share < 0.2 ? styles.low : share > 0.9 ? styles.high : styles.fine
  return (
    <article className={`station ${styles.card} ${tone}`}>
      <h3>{name}</h3>
      <p>
        <strong>{bikes}</strong> of {docks} bicycles
      </p>
      <div className={styles.bar} style={{ '--share': share } as React.CSSProperties} />
    </article>
  )
}
