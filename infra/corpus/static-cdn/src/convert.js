export function convert({ units, offset = {} }, amount, from, to) {
  const base = amount * units[from] + (offset[from] ?? 0);
  return (base - (offset[to] ?? 0)) / units[to];
}

export function format(value, unit) {
  return `${Number(value.toFixed(2)).toLocaleString('en')} ${unit}`;
}
