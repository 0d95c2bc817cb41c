export function registerServiceWorker() {
  if (!('serviceWorker' in navigator) || !import.meta.env.PROD) return
  window.addEventListener('load', () => {
    navigator.serviceWorker
      .register(`${import.meta.env.BASE_URL}sw.js`)
      .then((registration) => {
        registration.addEventListener('updatefound', () => window.dispatchEvent(new Event('waterglass:update')))
      })
      .catch((error: unknown) => console.warn('The service worker was not registered.', error))
  })
}
