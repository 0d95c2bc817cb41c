export interface Dish {
  id: string
  name: string
  price: number
}

export const menu: Dish[] = [
  { id: 'shak', name: 'Shakshuka', price: 9.5 },
  { id: 'soup', name: 'Carrot soup', price: 6.2 },
  { id: 'cake', name: 'Almond cake', price: 4.8 },
]
