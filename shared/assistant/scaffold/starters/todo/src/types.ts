export type ListId = 'home' | 'work' | 'ideas';
export type Filter = 'all' | ListId;

export interface Task {
  id: string;
  title: string;
  list: ListId;
  done: boolean;
  starred: boolean;
}

export const lists: Record<ListId, { name: string; dot: string }> = {
  home: { name: 'Home', dot: 'bg-emerald-400' },
  work: { name: 'Work', dot: 'bg-sky-400' },
  ideas: { name: 'Ideas', dot: 'bg-amber-400' },
};
