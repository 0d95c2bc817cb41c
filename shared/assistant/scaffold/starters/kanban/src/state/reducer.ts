import { arrayMove } from '@dnd-kit/sortable';
import { BoardState, Card, ColumnId, columnOrder } from '../types';

export type Action =
  | { type: 'add'; column: ColumnId; card: Card }
  | { type: 'remove'; id: string }
  | { type: 'move'; id: string; column: ColumnId; before?: string };

export const columnOf = (state: BoardState, id: string) => columnOrder.find((column) => state.columns[column].includes(id));

export function reducer(state: BoardState, action: Action): BoardState {
  switch (action.type) {
    case 'add':
      return {
        cards: { ...state.cards, [action.card.id]: action.card },
        columns: { ...state.columns, [action.column]: [...state.columns[action.column], action.card.id] },
      };
    case 'remove': {
      const column = columnOf(state, action.id);
      if (!column) return state;
      const cards = { ...state.cards };
      delete cards[action.id];
      return { cards, columns: { ...state.columns, [column]: state.columns[column].filter((id) => id !== action.id) } };
    }
    case 'move': {
      const from = columnOf(state, action.id);
      if (!from) return state;
      const target = state.columns[action.column];
      if (from === action.column) {
        if (!action.before) return state;
        const order = arrayMove(target, target.indexOf(action.id), target.indexOf(action.before));
        return { ...state, columns: { ...state.columns, [from]: order } };
      }
      const at = action.before ? target.indexOf(action.before) : target.length;
      return {
        ...state,
        columns: {
          ...state.columns,
          [from]: state.columns[from].filter((id) => id !== action.id),
          [action.column]: [...target.slice(0, at), action.id, ...target.slice(at)],
        },
      };
    }
  }
}
