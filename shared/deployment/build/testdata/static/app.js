const storageKey = "tasks"
const form = document.querySelector(".add")
const list = document.querySelector(".tasks")
const filters = document.querySelectorAll("[data-filter]")
let tasks = load()
let filter = "all"

// load returns the stored tasks, or none if the browser does not allow storage.
function load() {
  try {
    return JSON.parse(localStorage.getItem(storageKey)) ?? []
  } catch {
    return []
  }
}

// change sets the tasks, stores them and shows them.
function change(next) {
  tasks = next
  try {
    localStorage.setItem(storageKey, JSON.stringify(tasks))
  } catch {
    // Without storage, the tasks are lost when the page is closed.
  }
  show()
}

function show() {
  const open = tasks.filter((task) => !task.done).length
  const shown = tasks.filter((task) => filter === "all" || task.done === (filter === "done"))
  document.querySelector(".count").textContent = `${open} open of ${tasks.length}`
  document.querySelector(".empty").hidden = shown.length > 0
  list.replaceChildren(...shown.map(line))
  for (const button of filters) {
    button.setAttribute("aria-pressed", String(button.dataset.filter === filter))
  }
}

// line returns the element of a task.
function line(task) {
  const element = document.createElement("li")
  element.className = task.done ? "task done" : "task"
  element.innerHTML = `<label><input type="checkbox"><span></span></label><button>Delete</button>`
  element.querySelector("span").textContent = task.text
  const box = element.querySelector("input")
  box.checked = task.done
  box.addEventListener("change", () => {
    change(tasks.map((other) => (other.id === task.id ? { ...other, done: box.checked } : other)))
  })
  const button = element.querySelector("button")
  button.setAttribute("aria-label", `Delete ${task.text}`)
  button.addEventListener("click", () => change(tasks.filter((other) => other.id !== task.id)))
  return element
}

form.addEventListener("submit", (event) => {
  event.preventDefault()
  const text = form.elements.text.value.trim()
  if (!text) return
  form.reset()
  change([...tasks, { id: Date.now(), text, done: false }])
})

for (const button of filters) {
  button.addEventListener("click", () => {
    filter = button.dataset.filter
    show()
  })
}

show()
