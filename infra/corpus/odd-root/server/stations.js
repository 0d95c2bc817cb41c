const base = [
  { id: 'fish', name: 'Fish Market', docks: 24 },
  { id: 'crane', name: 'Old Crane', docks: 16 },
]

export const stations = () => base.map((station) => ({ ...station, bikes: Math.floor(Math.random() * station.docks) }))
