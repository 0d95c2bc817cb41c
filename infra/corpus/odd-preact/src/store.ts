import { create } from 'zustand'
import { persist } from 'zustand/middleware'

export interface Offer {
  id: number
  name: string
  family: 'root' | 'leaf' | 'fruit'
  packets: number
}

interface Swap {
  offers: Offer[]
  basket: number[]
  offer: (seed: Omit<Offer, 'id'>) => void
  take: (id: number) => void
}

export const useSwap = create<Swap>()(
  persist(
    (set) => ({
      offers: [
        { id: 1, name: 'Striped beetroot', family: 'root', packets: 3 },
        { id: 2, name: 'Winter purslane', family: 'leaf', packets: 5 },
        { id: 3, name: 'Yellow currant tomato', family: 'fruit', packets: 1 },
      ],
      basket: [],
      offer: (seed) => set((s) => ({ offers: [...s.offers, { ...seed, id: Date.now() }] })),
      take: (id) =>
        set((s) => ({
          basket: [...s.basket, id],
          offers: s.offers.map((o) => (o.id === id ? { ...o, packets: o.packets - 1 } : o)),
        })),
    }),
    { name: 'seed-swap' },
  ),
)
