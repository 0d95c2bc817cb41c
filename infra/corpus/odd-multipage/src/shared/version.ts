export function showVersion() {
  document.querySelector('.badge')!.textContent = `v${__VERSION__}, ${import.meta.env.MODE}`
}
