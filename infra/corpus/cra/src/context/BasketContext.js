import { createContext, useContext, useEffect, useState } from 'react';
import PropTypes from 'prop-types';

const BasketContext = createContext(null);

export const useBasket = () => useContext(BasketContext);

export default function BasketProvider({ children }) {
  const [ids, setIds] = useState(() => JSON.parse(localStorage.getItem('seed-basket') || '[]'));

  useEffect(() => {
    localStorage.setItem('seed-basket', JSON.stringify(ids));
  }, [ids]);

  const toggle = (id) => setIds(ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id]);

  return <BasketContext.Provider value={{ ids, toggle }}>{children}</BasketContext.Provider>;
}

BasketProvider.propTypes = {
  children: PropTypes.node.isRequired,
};
