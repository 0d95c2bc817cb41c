import { useEffect, useState } from "react"

// useStored is useState with a value that the browser keeps. Without storage, it works until the page is closed.
export function useStored(key, initial) {
  const [value, setValue] = useState(() => {
    try {
      return JSON.parse(localStorage.getItem(key)) ?? initial
    } catch {
      return initial
    }
  })
  useEffect(() => {
    try {
      localStorage.setItem(key, JSON.stringify(value))
    } catch {
      // The value is only kept in memory.
    }
  }, [key, value])
  return [value, setValue]
}
