export type ColumnId = 'next' | 'doing' | 'review' | 'done';
export type Tag = 'design' | 'code' | 'text';

export interface Card {
  id: string;
  title: string;
  note?: string;
  tag: Tag;
  owner: string;
}

export interface BoardState {
  cards: Record<string, Card>;
  columns: Record<ColumnId, string[]>;
}

export const columnOrder: ColumnId[] = ['next', 'doing', 'review', 'done'];

export const columnNames: Record<ColumnId, { name: string; dot: string; empty: string }> = {
  next: { name: 'Next', dot: 'bg-sky-500', empty: 'Nothing planned.' },
  doing: { name: 'In progress', dot: 'bg-amber-500', empty: 'Pull a card from the left.' },
  review: { name: 'Review', dot: 'bg-violet-500', empty: 'Nobody waits for you.' },
  done: { name: 'Done', dot: 'bg-emerald-500', empty: 'The first one is the hardest.' },
};

export const tagStyles: Record<Tag, string> = {
  design: 'bg-pink-100 text-pink-800 dark:bg-pink-400/15 dark:text-pink-300',
  code: 'bg-sky-100 text-sky-800 dark:bg-sky-400/15 dark:text-sky-300',
  text: 'bg-lime-100 text-lime-800 dark:bg-lime-400/15 dark:text-lime-300',
};
