import { Link } from 'react-router-dom';
import { useBasket } from 'context/BasketContext';
import seeds from 'data/seeds.json';

export default function Basket() {
  const { ids, toggle } = useBasket();
  if (ids.length === 0) {
    return (
      <p>
        Your basket is empty. <Link to="/">Choose some seeds.</Link>
      </p>
    );
  }
  return (
    <ul>
      {seeds
        .filter(({ id }) => ids.includes(id))
        .map(({ id, name }) => (
          <li key={id}>
            {name} <button onClick={() => toggle(id)}>Put back</button>
          </li>
        ))}
    </ul>
  );
}
