import type { Bike, Limits } from '../lib/types'
import { metresPerTurn } from './metres'

self.onmessage = ({ data }: MessageEvent<{ bikes: Bike[]; limits: Limits }>) => {
  const { front, rear } = data.limits
  const good = data.bikes.filter(
    (bike) =>
      bike.front >= front.min &&
      bike.front <= front.max &&
      bike.rear.every((teeth) => teeth >= rear.min && teeth <= rear.max) &&
      metresPerTurn(bike.front, bike.rear[0], 2) > 0,
  )
  self.postMessage(good.length)
}
