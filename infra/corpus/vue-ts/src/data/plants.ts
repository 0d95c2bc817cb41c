import type { Plant } from '../types'

export const samplePlants: readonly Plant[] = [
  { id: 'p1', name: 'Monstera', species: 'Monstera deliciosa', room: 'Living room', light: 'indirect', interval: 7, wateredDaysAgo: 8, tags: ['big', 'climber'] },
  { id: 'p2', name: 'Basil', species: 'Ocimum basilicum', room: 'Kitchen', light: 'bright', interval: 2, wateredDaysAgo: 2, tags: ['herb'] },
  { id: 'p3', name: 'Snake plant', species: 'Dracaena trifasciata', room: 'Bedroom', light: 'low', interval: 21, wateredDaysAgo: 5, tags: ['easy'] },
  { id: 'p4', name: 'String of pearls', species: 'Curio rowleyanus', room: 'Study', light: 'bright', interval: 12, wateredDaysAgo: 10, tags: ['hanging', 'succulent'] },
  { id: 'p5', name: 'Calathea', species: 'Goeppertia orbifolia', room: 'Bathroom', light: 'low', interval: 5, wateredDaysAgo: 1, tags: ['humid'] },
  { id: 'p6', name: 'Mint', species: 'Mentha spicata', room: 'Kitchen', light: 'indirect', interval: 3, wateredDaysAgo: 1, tags: ['herb', 'easy'] },
]

export const rooms = ['Living room', 'Kitchen', 'Bedroom', 'Study', 'Bathroom'] as const
