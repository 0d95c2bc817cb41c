import { ref, watchEffect } from 'vue'

const dark = ref(window.matchMedia('(prefers-color-scheme: dark)').matches)

watchEffect(() => document.documentElement.classList.toggle('dark', dark.value))

export const useTheme = () => ({ dark })
