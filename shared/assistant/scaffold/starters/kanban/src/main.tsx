import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Board } from './components/Board';
import { BoardProvider } from './state/BoardContext';
import './index.css';

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <BoardProvider>
      <Board />
    </BoardProvider>
  </StrictMode>,
);
