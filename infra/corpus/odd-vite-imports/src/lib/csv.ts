/** Splits CSV text with quoted fields, and turns each row into a value. */
export function parseCsv<T>(text: string, map: (row: Record<string, string>) => T): T[] {
  const [head, ...rows] = text.trim().split(/\r?\n/).map(fields)
  return rows.map((row) => map(Object.fromEntries(head.map((name, i) => [name, row[i] ?? '']))))
}

function fields(line: string): string[] {
  return [...line.matchAll(/("([^"]|"")*"|[^,]*)(,|$)/g)]
    .filter((match) => match[0] !== '')
    .map((match) => match[1].replace(/^"|"$/g, '').replaceAll('""', '"'))
}
