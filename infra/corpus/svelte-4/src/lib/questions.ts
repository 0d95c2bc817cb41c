export interface Question {
  text: string
  answers: string[]
  right: number
  note?: string
}

export const questions: Question[] = [
  { text: 'Which is the longest river of the European Union?', answers: ['Rhine', 'Danube', 'Elbe', 'Loire'], right: 1, note: 'It flows through or along ten countries.' },
  { text: 'How many strings does a standard violin have?', answers: ['Three', 'Six', 'Four', 'Five'], right: 2 },
  { text: 'Which planet has the shortest day?', answers: ['Jupiter', 'Mars', 'Venus', 'Neptune'], right: 0, note: 'A bit less than ten hours.' },
  { text: 'What does a hygrometer measure?', answers: ['Pressure', 'Wind', 'Salt', 'Humidity'], right: 3 },
  { text: 'Which metal is liquid at room temperature?', answers: ['Mercury', 'Tin', 'Zinc', 'Lead'], right: 0 },
]
