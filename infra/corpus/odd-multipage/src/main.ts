import { showVersion } from './shared/version'
import { place } from './shared/orders'
import { menu } from './shared/menu'

const form = document.querySelector<HTMLFormElement>('#order')!
const sum = document.querySelector<HTMLParagraphElement>('#sum')!
const money = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' })

form.innerHTML = `
  ${menu.map((dish) => `<label><input type="checkbox" name="dish" value="${dish.id}"> ${dish.name} <b>${money.format(dish.price)}</b></label>`).join('')}
  <label>Table <input name="table" value="4" size="3" required></label>
  <button>Order</button>`

const chosen = () => new FormData(form).getAll('dish').map((id) => menu.find((dish) => dish.id === id)!)

form.addEventListener('input', () => {
  sum.textContent = money.format(chosen().reduce((total, dish) => total + dish.price, 0))
})
form.addEventListener('submit', (event) => {
  event.preventDefault()
  const dishes = chosen().map((dish) => dish.name)
  if (dishes.length === 0) return
  place(`Table ${new FormData(form).get('table')}`, dishes)
  sum.textContent = 'Thank you. The kitchen has your order.'
  form.reset()
})
showVersion()
