import { defineConfig } from 'vite'
import react from '@vitejs/plugin-react'
import { VitePWA } from 'vite-plugin-pwa'

// https://vite.dev/config/
export default defineConfig({
  plugins: [
    react(),
    VitePWA({
      // The manifest and the worker are files of our own in public/.
      strategies: 'injectManifest',
      srcDir: 'public',
      filename: 'sw.js',
      injectManifest: { injectionPoint: undefined },
      injectRegister: false,
      manifest: false,
    }),
  ],
  define: {
    __APP_VERSION__: JSON.stringify('1.4.0'),
  },
})
