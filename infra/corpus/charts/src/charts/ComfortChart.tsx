import { Radar } from 'react-chartjs-2'
import { comfort } from '../data'

export function ComfortChart() {
  return (
    <Radar
      data={{
        labels: comfort.labels,
        datasets: [
          { label: 'Before', data: comfort.before, borderColor: '#a8a29e', backgroundColor: '#a8a29e33' },
          { label: 'Now', data: comfort.now, borderColor: '#0f766e', backgroundColor: '#0f766e33' },
        ],
      }}
      options={{ scales: { r: { min: 0, max: 10, ticks: { display: false } } } }}
    />
  )
}
