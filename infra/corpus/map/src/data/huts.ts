import type { LatLngTuple } from 'leaflet';

export interface Hut {
  id: string;
  name: string;
  height: number;
  beds: number;
  open: boolean;
  at: LatLngTuple;
}

export const huts: Hut[] = [
  { id: 'larch', name: 'Larch hut', height: 1840, beds: 24, open: true, at: [46.612, 10.702] },
  { id: 'spring', name: 'Spring hut', height: 2105, beds: 16, open: true, at: [46.641, 10.758] },
  { id: 'notch', name: 'Hut at the Notch', height: 2560, beds: 40, open: false, at: [46.671, 10.719] },
  { id: 'lake', name: 'Black lake hut', height: 2210, beds: 12, open: true, at: [46.598, 10.792] },
];

export const trail: LatLngTuple[] = [
  [46.612, 10.702], [46.622, 10.72], [46.628, 10.741], [46.641, 10.758], [46.655, 10.744], [46.671, 10.719],
];
export const lake: LatLngTuple[] = [
  [46.601, 10.784], [46.606, 10.791], [46.604, 10.802], [46.597, 10.804], [46.594, 10.794],
];
export const contours = [0.052, 0.04, 0.028, 0.016].map((radius) =>
  Array.from({ length: 40 }, (_, index): LatLngTuple => {
    const angle = (index / 40) * Math.PI * 2;
    const wobble = 1 + 0.18 * Math.sin(angle * 3) + 0.08 * Math.cos(angle * 5);
    return [46.645 + Math.sin(angle) * radius * 0.7 * wobble, 10.74 + Math.cos(angle) * radius * wobble];
  }),
);
