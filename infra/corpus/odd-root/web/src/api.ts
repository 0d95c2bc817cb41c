export interface Station {
  id: string
  name: string
  docks: number
  bikes: number
}

const samples: Station[] = [
  { id: 'fish', name: 'Fish Market', docks: 24, bikes: 17 },
  { id: 'crane', name: 'Old Crane', docks: 16, bikes: 2 },
  { id: 'ferry', name: 'Ferry Pier', docks: 30, bikes: 29 },
  { id: 'silo', name: 'Grain Silo', docks: 12, bikes: 0 },
]

export async function fetchStations(signal: AbortSignal): Promise<{ stations: Station[]; live: boolean }> {
  const base = import.meta.env.VITE_API_URL
  if (!base) return { stations: samples, live: false }
  const response = await fetch(`${base}/api/stations`, { signal })
  if (!response.ok) throw new Error(`The server answered ${response.status}.`)
  return { stations: await response.json(), live: true }
}
