package prompt

// Looked is how many bytes of quoted text are looked at to find the names in a message.
func Looked(message string) (bytes int) {
	quotesIn(message, func(text string, _ bool) bool {
		bytes += len(text)
		return false
	})
	return bytes
}
