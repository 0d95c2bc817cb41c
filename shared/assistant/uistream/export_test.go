package uistream

// Begun reports whether anything was sent.
func (w *Writer) Begun() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hasSent
}
