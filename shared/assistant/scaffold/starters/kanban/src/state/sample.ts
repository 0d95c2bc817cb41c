import { BoardState, Card } from '../types';

const cards: Card[] = [
  { id: 'k1', title: 'Choose the launch date', note: 'Not in the week of the trade fair.', tag: 'text', owner: 'NK' },
  { id: 'k2', title: 'Draw empty states', tag: 'design', owner: 'AL' },
  { id: 'k3', title: 'Import contacts from CSV', note: 'Columns may come in any order.', tag: 'code', owner: 'JO' },
  { id: 'k4', title: 'Write the onboarding mails', note: 'Three mails: day 0, day 2 and day 7.', tag: 'text', owner: 'NK' },
  { id: 'k5', title: 'Keyboard shortcuts', tag: 'code', owner: 'JO' },
  { id: 'k6', title: 'Price page for phones', tag: 'design', owner: 'AL' },
  { id: 'k7', title: 'Faster search', note: 'Under 100 ms for 10,000 contacts.', tag: 'code', owner: 'PB' },
  { id: 'k8', title: 'Interview five customers', tag: 'text', owner: 'PB' },
];

export const sampleBoard: BoardState = {
  cards: Object.fromEntries(cards.map((card) => [card.id, card])),
  columns: { next: ['k1', 'k2', 'k3'], doing: ['k4', 'k5'], review: ['k6'], done: ['k7', 'k8'] },
};
