import { createApp } from 'vue'
import App from './App.vue'
import i18n from './i18n'
import toast from './plugins/toast'
import './assets/main.scss'

const app = createApp(App)
app.use(i18n)
app.use(toast, { timeout: 2500 })
app.config.globalProperties.$version = __APP_VERSION__
app.mount('#app')
