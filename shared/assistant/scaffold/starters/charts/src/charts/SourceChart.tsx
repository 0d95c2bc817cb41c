import { Doughnut } from 'react-chartjs-2'
import { sources } from '../data'

export function SourceChart() {
  return (
    <div className="mx-auto max-w-44">
      <Doughnut
        data={{
          labels: sources.map(({ name }) => name),
          datasets: [{ data: sources.map(({ share }) => share), backgroundColor: sources.map(({ color }) => color), borderWidth: 0 }],
        }}
        options={{ cutout: '70%', plugins: { legend: { display: false } } }}
      />
    </div>
  )
}
