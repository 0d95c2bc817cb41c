import {
  ArcElement,
  CategoryScale,
  Chart,
  Filler,
  Legend,
  LineElement,
  PointElement,
  RadialLinearScale,
  Tooltip,
} from 'chart.js'

Chart.register(ArcElement, CategoryScale, Filler, Legend, LineElement, PointElement, RadialLinearScale, Tooltip)
Chart.defaults.font.family = 'system-ui, sans-serif'
Chart.defaults.animation = false
