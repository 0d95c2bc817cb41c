const fractions = new Map([[0.25, '¼'], [0.5, '½'], [0.75, '¾']])

export function formatAmount(value) {
  const whole = Math.floor(value)
  const rest = fractions.get(Math.round((value - whole) * 4) / 4)
  if (rest && value < 20) return `${whole || ''}${rest}`
  return String(value < 20 ? Math.round(value) : Math.round(value / 5) * 5)
}
