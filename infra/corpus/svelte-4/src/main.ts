import './app.css'
import App from './App.svelte'

const app = new App({
  target: document.getElementById('app') as HTMLElement,
  props: { title: 'Round Table Quiz' },
})

export default app
