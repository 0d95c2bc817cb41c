export type Light = 'low' | 'indirect' | 'bright'

export interface Plant {
  id: string
  name: string
  species: string
  room: string
  light: Light
  /** Days between two waterings. */
  interval: number
  /** The day of the last watering as a number of days before today. */
  wateredDaysAgo: number
  tags: string[]
}

export type PlantDraft = Omit<Plant, 'id' | 'wateredDaysAgo'>

export type Due = 'overdue' | 'today' | 'soon' | 'later'

export interface CardProps {
  plant: Plant
  compact?: boolean
}

export interface CardEmits {
  water: [id: string]
  remove: [id: string, name: string]
}
