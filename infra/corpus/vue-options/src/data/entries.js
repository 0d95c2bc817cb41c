export const entries = [
  { id: 1, name: 'Salary', amount: 2650, category: 'income', date: '2026-05-01' },
  { id: 2, name: 'Rent', amount: 980, category: 'home', date: '2026-05-02' },
  { id: 3, name: 'Groceries', amount: 214.35, category: 'food', date: '2026-05-09' },
  { id: 4, name: 'Electricity', amount: 71.2, category: 'home', date: '2026-05-11' },
  { id: 5, name: 'Concert', amount: 48, category: 'fun', date: '2026-05-16' },
  { id: 6, name: 'Bakery', amount: 23.9, category: 'food', date: '2026-05-18' },
]
