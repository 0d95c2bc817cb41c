import './admin.css'
import { showVersion } from '../src/shared/version'
import { advance, orders, subscribe, type Order } from '../src/shared/orders'

const board = document.querySelector<HTMLDivElement>('#board')!
board.style.setProperty('--columns', String(__BOARD_COLUMNS__))
const names = { new: 'New', cooking: 'On the stove', ready: 'Ready' } as const

function ticket(order: Order) {
  const button = document.createElement('button')
  button.className = `ticket ${order.state}`
  button.textContent = `${order.table}: ${order.dishes.join(', ')}`
  button.onclick = () => advance(order.id)
  return button
}

function draw() {
  board.replaceChildren(
    ...(Object.keys(names) as Order['state'][]).map((state) => {
      const column = document.createElement('section')
      const title = document.createElement('h2')
      title.textContent = names[state]
      column.append(title, ...orders().filter((o) => o.state === state).map(ticket))
      return column
    }),
  )
}

subscribe(draw)
draw()
showVersion()
