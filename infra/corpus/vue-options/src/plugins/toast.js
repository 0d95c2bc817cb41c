import { reactive } from 'vue'

export default {
  install(app, { timeout = 3000 } = {}) {
    const state = reactive({ text: '' })
    let timer
    const show = (text) => {
      state.text = text
      clearTimeout(timer)
      timer = setTimeout(() => (state.text = ''), timeout)
    }
    app.config.globalProperties.$toast = show
    app.provide('toastState', state)
  },
}
