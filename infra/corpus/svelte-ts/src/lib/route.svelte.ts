export type Route = { view: 'board' } | { view: 'book'; id: number } | { view: 'numbers' }

function parse(hash: string): Route {
  const [, view, id] = hash.split('/')
  if (view === 'book' && Number(id)) return { view, id: Number(id) }
  return view === 'numbers' ? { view } : { view: 'board' }
}

let current = $state<Route>(parse(location.hash))

addEventListener('hashchange', () => {
  current = parse(location.hash)
})

export const route = {
  get current() {
    return current
  },
}
