type Theme = 'light' | 'dark'

let theme = $state<Theme>('light')

export function getTheme() {
  return theme
}

export function flipTheme() {
  theme = theme === 'light' ? 'dark' : 'light'
}

$effect.root(() => {
  $effect(() => {
    document.documentElement.dataset.theme = theme
  })
})
