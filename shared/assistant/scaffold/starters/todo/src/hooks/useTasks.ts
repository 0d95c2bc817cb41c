import { ListId, Task } from '../types';
import { useLocalStorage } from './useLocalStorage';

const first: Task[] = [
  { id: 'a', title: 'Water the ferns', list: 'home', done: false, starred: false },
  { id: 'b', title: 'Send the invoice to Marta', list: 'work', done: false, starred: true },
  { id: 'c', title: 'Sketch a logo for the choir', list: 'ideas', done: false, starred: false },
  { id: 'd', title: 'Fix the squeaking door', list: 'home', done: false, starred: false },
  { id: 'e', title: 'Book the meeting room', list: 'work', done: true, starred: false },
];

export function useTasks() {
  const [tasks, setTasks] = useLocalStorage<Task[]>('plum-tasks', first);

  const change = (id: string, values: Partial<Task>) =>
    setTasks((all) => all.map((task) => (task.id === id ? { ...task, ...values } : task)));

  return {
    tasks,
    change,
    add: (title: string, list: ListId) =>
      setTasks((all) => [{ id: crypto.randomUUID(), title, list, done: false, starred: false }, ...all]),
    remove: (id: string) => setTasks((all) => all.filter((task) => task.id !== id)),
    clearDone: () => setTasks((all) => all.filter((task) => !task.done)),
  };
}
