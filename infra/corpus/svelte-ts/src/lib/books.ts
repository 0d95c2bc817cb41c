import type { Book } from './types'

export const samples: Book[] = [
  { id: 1, title: 'The Salt Path Atlas', author: 'R. Winterbourne', pages: 312, page: 140, stage: 'reading' },
  { id: 2, title: 'A Grammar of Tides', author: 'Leila Haddad', pages: 208, page: 0, stage: 'wanted' },
  { id: 3, title: 'Small Engines, Big Rivers', author: 'Tom Achterberg', pages: 421, page: 421, stage: 'read', rating: 4 },
  { id: 4, title: 'Bread Without Clocks', author: 'Agnes Okoro', pages: 176, page: 33, stage: 'reading' },
  { id: 5, title: 'Letters to a Night Train', author: 'Mirko Zelenka', pages: 264, page: 0, stage: 'wanted' },
]

export function load(key: string): Book[] {
  const saved = localStorage.getItem(key)
  return saved ? (JSON.parse(saved) as Book[]) : samples
}
