export interface Order {
  id: number
  table: string
  dishes: string[]
  state: 'new' | 'cooking' | 'ready'
}

const KEY = 'corner.orders'
const samples: Order[] = [
  { id: 1, table: 'Table 2', dishes: ['Shakshuka', 'Carrot soup'], state: 'new' },
  { id: 2, table: 'Table 7', dishes: ['Almond cake'], state: 'cooking' },
]
let list: Order[] = JSON.parse(localStorage.getItem(KEY) ?? 'null') ?? samples
const listeners = new Set<() => void>()

function store(next: Order[]) {
  list = next
  localStorage.setItem(KEY, JSON.stringify(next))
  for (const listener of listeners) listener()
}

export const orders = () => list
export const subscribe = (listener: () => void) => listeners.add(listener)

export function place(table: string, dishes: string[]) {
  store([...list, { id: Date.now(), table, dishes, state: 'new' }])
}

export function advance(id: number) {
  const next = { new: 'cooking', cooking: 'ready' } as const
  store(
    list.flatMap((order) => {
      if (order.id !== id) return [order]
      return order.state === 'ready' ? [] : [{ ...order, state: next[order.state] }]
    }),
  )
}

// Another tab may have changed the orders.
addEventListener('storage', (event) => {
  if (event.key === KEY) store(JSON.parse(event.newValue ?? '[]'))
})
