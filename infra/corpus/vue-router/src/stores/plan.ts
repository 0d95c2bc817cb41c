import { defineStore } from 'pinia'
import type { Talk } from '@/data/talks'
import { useProgrammeStore } from './programme'

interface PlanState {
  slugs: string[]
  notes: Record<string, string>
}

export const usePlanStore = defineStore('plan', {
  state: (): PlanState => ({ slugs: [], notes: {} }),
  getters: {
    count: (state) => state.slugs.length,
    talks(state): Talk[] {
      const programme = useProgrammeStore()
      return state.slugs
        .map((slug) => programme.bySlug(slug))
        .filter((talk): talk is Talk => talk !== undefined)
        .sort((a, b) => a.start.localeCompare(b.start))
    },
    minutes(): number {
      return this.talks.reduce((sum, talk) => sum + talk.minutes, 0)
    },
  },
  actions: {
    toggle(slug: string) {
      const index = this.slugs.indexOf(slug)
      if (index < 0) this.slugs.push(slug)
      else this.slugs.splice(index, 1)
    },
    note(slug: string, text: string) {
      this.$patch((state) => {
        state.notes[slug] = text
      })
    },
  },
})
