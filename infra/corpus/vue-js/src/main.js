import { createApp } from 'vue'
import './style.css'
import App from './App.vue'
import { longPress } from './directives/longPress'

const app = createApp(App)
app.directive('long-press', longPress)
app.config.errorHandler = (error) => console.error('Supper:', error)
app.mount('#app')
