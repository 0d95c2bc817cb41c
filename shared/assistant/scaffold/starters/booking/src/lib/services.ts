export interface Service {
  id: string;
  name: string;
  minutes: number;
  price: number;
  text: string;
}

export const services: Service[] = [
  { id: 'deep', name: 'Deep tissue massage', minutes: 60, price: 78, text: 'For shoulders that sit at a desk.' },
  { id: 'facial', name: 'Rose facial', minutes: 45, price: 64, text: 'Cleansing, steam and a cool mask.' },
  { id: 'hands', name: 'Hands and nails', minutes: 40, price: 38, text: 'Care without colour, or with.' },
];

/** Returns the free times of a day. The same day always has the same times. */
export function freeTimes(date: Date, minutes: number): string[] {
  const seed = date.getDate() * 7 + date.getMonth() * 3;
  return Array.from({ length: 16 }, (_, index) => 9 * 60 + index * 30)
    .filter((start, index) => (seed + index * 5) % 3 !== 0 && start + minutes <= 17 * 60 + 30)
    .map((start) => `${String(Math.floor(start / 60)).padStart(2, '0')}:${String(start % 60).padStart(2, '0')}`);
}
