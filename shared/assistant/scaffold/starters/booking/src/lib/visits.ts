import { formatISO, parseISO } from 'date-fns';
import type { Booking } from './schema';

const key = 'salle-rose-visits';

export interface Visit {
  id: string;
  service: string;
  date: Date;
  time: string;
  name: string;
}

export function loadVisits(): Visit[] {
  try {
    const stored = JSON.parse(localStorage.getItem(key) ?? '[]') as (Omit<Visit, 'date'> & { date: string })[];
    return stored.map((visit) => ({ ...visit, date: parseISO(visit.date) }));
  } catch {
    return [];
  }
}

function save(visits: Visit[]) {
  localStorage.setItem(
    key,
    JSON.stringify(visits.map((visit) => ({ ...visit, date: formatISO(visit.date, { representation: 'date' }) }))),
  );
}

export function addVisit({ service, date, time, name }: Booking): Visit {
  const visit = { id: crypto.randomUUID(), service, date, time, name };
  save([...loadVisits(), visit]);
  return visit;
}

export function cancelVisit(id: string): Visit[] {
  const left = loadVisits().filter((visit) => visit.id !== id);
  save(left);
  return left;
}
