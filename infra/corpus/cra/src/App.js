import { Link, Route, Routes } from 'react-router-dom';
import { ReactComponent as Sprout } from './assets/sprout.svg';
import BasketProvider, { useBasket } from 'context/BasketContext';
import Basket from 'pages/Basket';
import Seeds from 'pages/Seeds';
import styles from './App.module.css';

const Header = () => {
  const { ids } = useBasket();
  return (
    <header className={styles.header}>
      <Sprout className={styles.logo} title="A sprout" />
      <h1>{process.env.REACT_APP_TITLE}</h1>
      <nav className={styles.nav}>
        <Link to="/">Seeds</Link>
        <Link to="/basket">Basket ({ids.length})</Link>
      </nav>
    </header>
  );
};

function App() {
  return (
    <BasketProvider>
      <Header />
      <main className={styles.main}>
        <Routes>
          <Route path="/" element={<Seeds />} />
          <Route path="/basket" element={<Basket />} />
        </Routes>
      </main>
      <footer className={styles.footer}>
        Season {process.env.REACT_APP_SEASON}
        {process.env.NODE_ENV !== 'production' && ', development'}
      </footer>
    </BasketProvider>
  );
}

export default App;
