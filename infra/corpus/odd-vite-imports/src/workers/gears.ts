import type { Bike, GearReport } from '../lib/types'
import { metresPerTurn } from './metres'

self.onmessage = ({ data }: MessageEvent<{ bike: Bike; circumference: number }>) => {
  const gears = data.bike.rear.map((rear) => metresPerTurn(data.bike.front, rear, data.circumference)).sort((a, b) => a - b)
  self.postMessage({ gears } satisfies GearReport)
}
