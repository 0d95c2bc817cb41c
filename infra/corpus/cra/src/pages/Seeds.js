import { useMemo, useState } from 'react';
import SeedCard from 'components/SeedCard';
import { useBasket } from 'context/BasketContext';
import seeds from 'data/seeds.json';
import styles from './Seeds.module.css';

export default function Seeds() {
  const { ids, toggle } = useBasket();
  const [query, setQuery] = useState('');
  const shown = useMemo(() => seeds.filter(({ name }) => name.toLowerCase().includes(query.toLowerCase())), [query]);
  return (
    <>
      <input className={styles.search} placeholder="Find a seed" value={query} onChange={(e) => setQuery(e.target.value)} />
      <ul className={styles.list}>
        {shown.map((seed) => (
          <SeedCard key={seed.id} seed={seed} chosen={ids.includes(seed.id)} onToggle={toggle} />
        ))}
      </ul>
      {shown.length === 0 && <p>We do not have this one.</p>}
    </>
  );
}
