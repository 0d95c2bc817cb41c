import { computed, reactive, readonly } from 'vue'

const state = reactive({ lines: [] })

export function useShopping() {
  const open = computed(() => state.lines.filter((line) => !line.done).length)

  function addAll(recipe, factor) {
    for (const { name, amount, unit } of recipe.ingredients) {
      const line = state.lines.find((l) => l.name === name && l.unit === unit)
      if (line) line.amount += amount * factor
      else state.lines.push({ id: `${recipe.id}-${name}`, name, unit, amount: amount * factor, done: false })
    }
  }
  function toggle(id) {
    const line = state.lines.find((l) => l.id === id)
    if (line) line.done = !line.done
  }
  function clear() {
    state.lines = state.lines.filter((l) => !l.done)
  }
  return { lines: readonly(state).lines, state, open, addAll, toggle, clear }
}
