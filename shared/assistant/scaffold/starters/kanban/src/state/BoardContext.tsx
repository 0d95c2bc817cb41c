import { createContext, Dispatch, ReactNode, useContext, useEffect, useReducer } from 'react';
import { BoardState } from '../types';
import { Action, reducer } from './reducer';
import { sampleBoard } from './sample';

const key = 'sluice-board';
const BoardContext = createContext<{ state: BoardState; dispatch: Dispatch<Action> } | null>(null);

function load(): BoardState {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '') as BoardState;
  } catch {
    return sampleBoard;
  }
}

export function BoardProvider({ children }: { children: ReactNode }) {
  const [state, dispatch] = useReducer(reducer, undefined, load);
  useEffect(() => localStorage.setItem(key, JSON.stringify(state)), [state]);
  return <BoardContext.Provider value={{ state, dispatch }}>{children}</BoardContext.Provider>;
}

export function useBoard() {
  const board = useContext(BoardContext);
  if (!board) throw new Error('useBoard needs a BoardProvider.');
  return board;
}
