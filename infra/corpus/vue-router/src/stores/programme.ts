import { computed, ref } from 'vue'
import { defineStore } from 'pinia'
import { talks, type Talk } from '@/data/talks'

export const useProgrammeStore = defineStore('programme', () => {
  const all = ref<Talk[]>(talks)
  const track = ref<Talk['track'] | 'All'>('All')
  const filtered = computed(() => all.value.filter((talk) => track.value === 'All' || talk.track === track.value))
  const tracks = computed(() => ['All' as const, ...new Set(all.value.map((talk) => talk.track))])

  function bySlug(slug: string) {
    return all.value.find((talk) => talk.slug === slug)
  }

  return { all, track, tracks, filtered, bySlug }
})
