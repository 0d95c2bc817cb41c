import { Doughnut } from 'react-chartjs-2'
import { devices } from '../data'

export function DeviceChart() {
  return (
    <div className="mx-auto max-w-60">
      <Doughnut
        data={{
          labels: devices.map(({ name }) => name),
          datasets: [{ data: devices.map(({ share }) => share), backgroundColor: devices.map(({ color }) => color), borderWidth: 0 }],
        }}
        options={{ cutout: '68%', plugins: { legend: { display: false } } }}
      />
    </div>
  )
}
