export interface Hour {
  hour: number
  made: number
  used: number
}

export interface Device {
  name: string
  watts: number
  minutes: number
  flexible: boolean
}

const curve = [0, 0, 0, 0, 0, 0.1, 0.4, 1.1, 2, 2.9, 3.6, 4.1, 4.3, 4.2, 3.8, 3.1, 2.3, 1.4, 0.6, 0.2, 0, 0, 0, 0]
const habit = [0.3, 0.3, 0.2, 0.2, 0.3, 0.4, 0.9, 1.4, 1.1, 0.8, 0.7, 0.8, 1.3, 1, 0.7, 0.7, 0.9, 1.5, 2.1, 2.4, 1.9, 1.2, 0.7, 0.4]

export const hours: Hour[] = curve.map((made, hour) => ({ hour, made, used: habit[hour] }))

export const devices: Device[] = [
  { name: 'Dishwasher', watts: 1200, minutes: 95, flexible: true },
  { name: 'Washing machine', watts: 900, minutes: 70, flexible: true },
  { name: 'Heat pump', watts: 1500, minutes: 240, flexible: false },
  { name: 'Car charger', watts: 3600, minutes: 60, flexible: true },
]
