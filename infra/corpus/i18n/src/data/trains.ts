export const trains = [
  { id: 1, from: 'Vienna', to: 'Paris', leaves: '19:42', nights: 3, price: 79 },
  { id: 2, from: 'Stockholm', to: 'Berlin', leaves: '17:30', nights: 7, price: 64 },
  { id: 3, from: 'Brussels', to: 'Prague', leaves: '19:22', nights: 3, price: 59 },
  { id: 4, from: 'Zurich', to: 'Zagreb', leaves: '20:40', nights: 1, price: 49 },
];
