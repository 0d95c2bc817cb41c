import { computed, ref, toValue, watch, type MaybeRefOrGetter } from 'vue'
import type { Due, Plant, PlantDraft } from '../types'
import { samplePlants } from '../data/plants'

const KEY = 'windowsill.plants'

function load(): Plant[] {
  try {
    const saved: unknown = JSON.parse(localStorage.getItem(KEY) ?? 'null')
    if (Array.isArray(saved)) return saved as Plant[]
  } catch {
    // A broken entry is replaced by the samples.
  }
  return structuredClone(samplePlants) as Plant[]
}

export function daysLeft(plant: Plant): number {
  return plant.interval - plant.wateredDaysAgo
}

export function dueOf(plant: Plant): Due {
  const left = daysLeft(plant)
  if (left < 0) return 'overdue'
  if (left === 0) return 'today'
  return left <= 2 ? 'soon' : 'later'
}

const plants = ref<Plant[]>(load())
watch(plants, (list) => localStorage.setItem(KEY, JSON.stringify(list)), { deep: true })

export function usePlants(filter: MaybeRefOrGetter<{ room: string; text: string }>) {
  const visible = computed(() => {
    const { room, text } = toValue(filter)
    const needle = text.trim().toLowerCase()
    return plants.value
      .filter((p) => !room || p.room === room)
      .filter((p) => !needle || `${p.name} ${p.species} ${p.tags.join(' ')}`.toLowerCase().includes(needle))
      .sort((a, b) => daysLeft(a) - daysLeft(b))
  })
  const thirsty = computed(() => plants.value.filter((p) => daysLeft(p) <= 0).length)

  function water(id: string) {
    const plant = plants.value.find((p) => p.id === id)
    if (plant) plant.wateredDaysAgo = 0
  }
  function add(draft: PlantDraft) {
    plants.value.push({ ...draft, id: crypto.randomUUID(), wateredDaysAgo: 0 })
  }
  function remove(id: string) {
    plants.value = plants.value.filter((p) => p.id !== id)
  }
  return { plants, visible, thirsty, water, add, remove }
}
