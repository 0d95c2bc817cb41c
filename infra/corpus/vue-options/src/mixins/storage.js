// Keeps the fields that a component names in its option "stored" in localStorage.
export default {
  created() {
    for (const field of this.$options.stored ?? []) {
      const key = `household.${field}`
      try {
        const saved = JSON.parse(localStorage.getItem(key))
        if (saved !== null) this[field] = saved
      } catch {
        localStorage.removeItem(key)
      }
      this.$watch(field, (value) => localStorage.setItem(key, JSON.stringify(value)), { deep: true })
    }
  },
}
