import { Component } from 'react'

const months: [string, string][] = [
  ['March', 'Purslane, under glass'],
  ['April', 'Beetroot, outside'],
  ['May', 'Tomatoes, after the last frost'],
]

export default class Calendar extends Component<{ onClose: () => void }> {
  componentDidMount() {
    document.addEventListener('keydown', this.key)
  }

  componentWillUnmount() {
    document.removeEventListener('keydown', this.key)
  }

  key = (event: KeyboardEvent) => {
    if (event.key === 'Escape') this.props.onClose()
  }

  render() {
    return (
      <dialog open>
        <ul>
          {months.map(([month, text]) => (
            <li key={month}>
              <b>{month}</b>: {text}
            </li>
          ))}
        </ul>
        <button onClick={this.props.onClose}>Close</button>
      </dialog>
    )
  }
}
