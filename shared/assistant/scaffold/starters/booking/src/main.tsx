import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter, NavLink, Outlet, Route, Routes } from 'react-router-dom';
import { BookPage } from './pages/BookPage';
import { VisitsPage } from './pages/VisitsPage';
import './index.css';

function Layout() {
  return (
    <div className="mx-auto max-w-5xl px-4 pb-16 sm:px-8">
      <header className="flex items-center justify-between py-6">
        <NavLink to="/" className="flex items-center gap-3 text-lg font-semibold tracking-tight">
          <img src="/petal.svg" alt="" className="h-9 w-9" /> Salle Rose
        </NavLink>
        <nav className="flex gap-1 text-sm">
          {[
            ['/', 'Book'],
            ['/visits', 'My visits'],
          ].map(([to, label]) => (
            <NavLink
              key={to}
              to={to}
              className={({ isActive }) =>
                `rounded-full px-4 py-2 ${isActive ? 'bg-white font-medium dark:bg-stone-800' : 'text-stone-500 dark:text-stone-400'}`
              }
            >
              {label}
            </NavLink>
          ))}
        </nav>
      </header>
      <Outlet />
    </div>
  );
}

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <BrowserRouter>
      <Routes>
        <Route element={<Layout />}>
          <Route index element={<BookPage />} />
          <Route path="visits" element={<VisitsPage />} />
        </Route>
      </Routes>
    </BrowserRouter>
  </StrictMode>,
);
