const key = 'lanternfly-best'

export function best(): number {
  try {
    return Number(localStorage.getItem(key)) || 0
  } catch {
    return 0
  }
}

export function saveBest(score: number): boolean {
  if (score <= best()) return false
  try {
    localStorage.setItem(key, String(score))
  } catch {
    // A private window may have no storage. The game works without it.
  }
  return true
}
