import { useState } from "react"
import { useStored } from "./useStored.js"

const filters = {
  All: () => true,
  Open: (task) => !task.done,
  Done: (task) => task.done,
}

export default function App() {
  const [tasks, setTasks] = useStored("tasks", [])
  const [filter, setFilter] = useState("All")
  const shown = tasks.filter(filters[filter])

  function add(event) {
    event.preventDefault()
    const form = event.currentTarget
    const text = form.elements.text.value.trim()
    if (!text) return
    setTasks([...tasks, { id: Date.now(), text, done: false }])
    form.reset()
  }

  function complete(id, done) {
    setTasks(tasks.map((task) => (task.id === id ? { ...task, done } : task)))
  }

  return (
    <main>
      <h1>Tasks</h1>
      <p className="count" role="status">{tasks.filter(filters.Open).length} open of {tasks.length}</p>
      <form className="add" onSubmit={add}>
        <input name="text" aria-label="New task" placeholder="What needs to be done?" autoComplete="off" required />
        <button className="primary">Add</button>
      </form>
      <div className="filters" role="group" aria-label="Filter">
        {Object.keys(filters).map((name) => (
          <button key={name} aria-pressed={name === filter} onClick={() => setFilter(name)}>{name}</button>
        ))}
      </div>
      <ul className="tasks">
        {shown.map((task) => (
          <Task key={task.id} task={task} onComplete={(done) => complete(task.id, done)}
            onDelete={() => setTasks(tasks.filter((other) => other.id !== task.id))} />
        ))}
      </ul>
      {shown.length === 0 && <p className="empty">No tasks here.</p>}
    </main>
  )
}

function Task({ task, onComplete, onDelete }) {
  return (
    <li className={task.done ? "task done" : "task"}>
      <label>
        <input type="checkbox" checked={task.done} onChange={(event) => onComplete(event.target.checked)} />
        <span>{task.text}</span>
      </label>
      <button aria-label={`Delete ${task.text}`} onClick={onDelete}>Delete</button>
    </li>
  )
}
