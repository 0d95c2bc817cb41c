import { Radar } from 'react-chartjs-2'
import { ratings } from '../data'

export function RatingChart() {
  return (
    <div className="mx-auto max-w-72">
      <Radar
        data={{
          labels: ratings.labels,
          datasets: [
            { label: 'Last year', data: ratings.before, borderColor: '#a8a29e', backgroundColor: '#a8a29e33' },
            { label: 'Now', data: ratings.now, borderColor: '#0f766e', backgroundColor: '#0f766e33' },
          ],
        }}
        options={{ scales: { r: { min: 0, max: 10, ticks: { display: false } } } }}
      />
    </div>
  )
}
