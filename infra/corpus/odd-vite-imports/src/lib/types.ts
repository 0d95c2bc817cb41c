export interface Bike {
  name: string
  front: number
  rear: number[]
  wheel: string
}

export interface GearReport {
  gears: number[]
}

export type Limits = Record<'front' | 'rear', { min: number; max: number }>
