export const stages = ['wanted', 'reading', 'read'] as const
export type Stage = (typeof stages)[number]

export interface Book {
  id: number
  title: string
  author: string
  pages: number
  page: number
  stage: Stage
  rating?: 1 | 2 | 3 | 4 | 5
}

export const stageNames: Record<Stage, string> = { wanted: 'Wanted', reading: 'Reading', read: 'Read' }
