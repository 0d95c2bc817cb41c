import { NavLink, Route, Routes } from 'react-router-dom';
import { useTranslation } from 'react-i18next';
import { LanguageSelect } from './components/LanguageSelect';
import { Packing } from './pages/Packing';
import { Trains } from './pages/Trains';

function App() {
  const { t } = useTranslation();
  const link = ({ isActive }: { isActive: boolean }) => `border-b-2 pb-1 ${isActive ? 'border-amber-300' : 'border-transparent'}`;
  return (
    <>
      <header className="bg-indigo-950 text-indigo-50">
        <div className="mx-auto flex max-w-4xl flex-wrap items-center gap-x-6 gap-y-3 p-5">
          <nav className="flex gap-5">
            <NavLink to="/" className={link} end>
              {t('trains')}
            </NavLink>
            <NavLink to="/packing" className={link}>
              {t('packing')}
            </NavLink>
          </nav>
          <LanguageSelect />
        </div>
      </header>
      <main className="mx-auto max-w-4xl p-5">
        <Routes>
          <Route path="/" element={<Trains />} />
          <Route path="/packing" element={<Packing />} />
        </Routes>
      </main>
    </>
  );
}

export default App;
