import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter, Route, Routes } from 'react-router-dom';
import { Layout } from './components/Layout';
import { BookPage } from './pages/BookPage';
import { VisitsPage } from './pages/VisitsPage';
import './index.css';

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
